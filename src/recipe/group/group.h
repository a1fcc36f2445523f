// SPDX-License-Identifier: Apache-2.0
// A group: its nodes, and what becomes of its own. Groups of other programs, which have no mark, are groups too.
//
//   <group>                     kKeptGroup or kPassingGroup, if zklock made it; other programs write what they like
//   <group>/<name>-NNNNNNNNNN   ephemeral: a member, its data raw
//   <group>/<name>              likewise, under a name that one can have at a time (Curator's GroupMember)
//
// What a member is called is its node's name, number and all: two of the same name are told apart, and so is one that
// was started again from what is left of it until its old session ends.
#pragma once

#include "zk/session.h"

#include <optional>
#include <string>
#include <string_view>

namespace zklock::recipe {

// What is wrong with `name` as that of a member of `group`, in words; nothing if it is good.
std::optional<std::string> member_name_error(std::string_view group, std::string_view name);

// Whether `name` is `stem`, "web1-", and a number of the server's.
bool is_numbered(std::string_view name, std::string_view stem);

// True for a node, as it was seen, that a member has left in the group: it has a member's numbered name, but it is in
// no session, because a backup was restored, and nothing is below it.
bool is_left_member(std::string_view name, const zk::Stat& stat);

enum class GroupState {
  there,
  absent,
  expired,  // nothing is known: the session is over
};

// From here on all throw what the session throws, a Failure (65) where the path is used for something else, and one
// (77) where it may not be read; `tried` is for messages: "cannot join /g".
GroupState look_at_group(zk::Session& session, const std::string& group, std::string_view tried, Deadline until);

// For a member that comes: makes it where it is absent, as a container where the server has them, so that it goes when
// nobody is in it any more.
GroupState make_passing_group(zk::Session& session, const std::string& group, std::string_view tried, Deadline until);

// One that stays when it is empty. Throws a Failure (75) where a passing one is in the way.
GroupState make_kept_group(zk::Session& session, const std::string& group, std::string_view tried, Deadline until);

enum class RemovalEnd {
  done,
  absent,
  not_empty,  // by what follows
  expired,
};

struct GroupRemoval {
  using End = RemovalEnd;
  End end = End::done;
  size_t members = 0;
  size_t left = 0;         // nodes that members have left
  size_t others = 0;       // other nodes below it that are no members
  std::string other = {};  // the name of one of these
};

// Deletes it if it is empty. With `force`, its members too, which are not told and do not join again, and what
// members have left. Throws a Failure
// (65) also for a node whose data is nobody's mark.
GroupRemoval remove_group(zk::Session& session, const std::string& group, bool force, std::string_view tried,
                          Deadline until);

}  // namespace zklock::recipe
