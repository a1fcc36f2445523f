// SPDX-License-Identifier: Apache-2.0
// Makes, checks and deletes groups. Groups of other programs, which have no mark, are groups too.
//
//   <group>                     kKeptGroup or kPassingGroup, if zklock made it; other programs write what they like
//   <group>/<name>-NNNNNNNNNN   ephemeral: a member, its data raw
//   <group>/<name>              the same, under a name that one member can have at a time (Curator's GroupMember)
//
// A member is called by its node's name, including the number. So two members of the same name are told apart. So are a
// member that was killed and started again, and what is left of it until its old session ends.
#pragma once

#include "recipe/use.h"
#include "zk/session.h"

#include <optional>
#include <string>
#include <string_view>

namespace zklock::recipe {

// Returns in words what is wrong with `name` as the name of a member of `group`; nothing if it is valid.
std::optional<std::string> member_name_error(std::string_view group, std::string_view name);

// True if `name` consists of `stem`, "web1-", and a number that the server gave.
bool is_numbered(std::string_view name, std::string_view stem);

// True if `name` ends in "-" and such a number.
bool has_number(std::string_view name);

// True for a node, as it was read, that a member has left in the group. It has a member's numbered name, but it is in
// no session, because a backup was restored, and it has no children.
bool is_left_member(std::string_view name, const zk::Stat& stat);

// Throws a Failure if the path is used for something else (65) or may not be read (77), judging by the answers to a
// read of its node and to a list. The list may be left out if the node has a mark. The path may be absent. `tried` is
// for messages: "cannot join /g".
void check_is_group(const zk::Answer& node, const zk::Answer& list, std::string_view tried);

// A group as it was found, or where it is to be made.
struct FoundGroup {
  bool exists = false;
  PathMark mark = PathMark::none;
  zk::Stat stat = {};
  Site site = {};  // only if it does not exist
};

// Looks for the group, and in the same round trip at what is above it. Throws as check_is_group() does, and a
// Failure (65) if the group is absent and must not be made there. This function and those below also throw what the
// session throws.
FoundGroup find_group(zk::Session& session, const std::string& group, std::string_view tried);

// Sends what makes an absent group for a member that is about to join. It is a container if the server has containers,
// so that it goes when its last member has left. Call ready() before. check_made() judges the answer: it throws a
// Failure if the group cannot be made, and makes what is missing above. If it returns false, call find_group() again.
zk::Call send_passing_group(zk::Session& session, const std::string& group, const Site& site);
bool check_made(zk::Session& session, const std::string& group, const zk::Answer& made, std::string_view tried);

// Makes a group that stays when it is empty. Throws a Failure (75) if a passing group is there already.
void make_kept_group(zk::Session& session, const std::string& group, std::string_view tried);

enum class RemovalEnd {
  done,
  absent,
  not_empty,  // because of what GroupRemoval counts, or because others keep joining
};

struct GroupRemoval {
  RemovalEnd end = RemovalEnd::done;
  size_t members = 0;
  size_t left = 0;         // nodes that members have left, see is_left_member()
  size_t others = 0;       // other nodes below it, which are no members
  std::string other = {};  // the name of one of these
};

// Deletes the group if it is empty. With `force`, also deletes the members, and nodes that former members have left
// behind. The members are not told, and do not join again. Throws a Failure (65) also if its data is not a mark of
// zklock's. If the result is `not_empty`, some members may be deleted already.
GroupRemoval remove_group(zk::Session& session, const std::string& group, bool force, std::string_view tried);

}  // namespace zklock::recipe
