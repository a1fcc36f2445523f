// SPDX-License-Identifier: Apache-2.0
// The nodes of a group, and what they say. Pure: it asks nobody.
//
//   <group>                     kKeptGroup or kPassingGroup, if zklock made it; other programs write what they like
//   <group>/<name>-NNNNNNNNNN   ephemeral: a member, its data raw
//   <group>/<name>              likewise, under a name that one can have at a time (Curator's GroupMember)
//
// What a member is called is its node's name, number and all: two of the same name are told apart, and so is one that
// was started again from what is left of it until its old session ends.
#pragma once

#include "zk/answer.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::recipe {

inline constexpr std::string_view kKeptGroup = "zklock group 1";
// A container: the server removes it some time after its last member has left.
inline constexpr std::string_view kPassingGroup = "zklock group 1, until its last member leaves";

enum class GroupMark {
  none,  // nothing of zklock's
  kept,
  passing,
  newer,  // a group, in a form that this version does not know
  queue,  // a queue of zklock's
};

// Of the data on a path's node.
GroupMark group_mark_of(std::string_view data);

// Of zklock's, in whatever form.
bool is_group(GroupMark mark);

// Whether the data may be the mark of a group, from its length alone.
bool may_be_group(const zk::Stat& stat);

// Why a node of that name is no member, although it is ephemeral: it stands in line for a lock or a slot.
bool is_lock_name(std::string_view name);

// What the children of a path with GroupMark::none show that it is used for, in words; nothing if it can be a group.
std::optional<std::string> other_use(const std::vector<std::string>& names);

// What is wrong with `name` as that of a member of `group`, in words; nothing if it is good.
std::optional<std::string> member_name_error(std::string_view group, std::string_view name);

// Whether `name` is `stem`, "web1-", and a number of the server's.
bool is_numbered(std::string_view name, std::string_view stem);

// Whether a node with this Stat is somebody's as long as he lives.
bool is_ephemeral(const zk::Stat& stat);

}  // namespace zklock::recipe
