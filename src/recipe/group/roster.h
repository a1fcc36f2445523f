// SPDX-License-Identifier: Apache-2.0
// Lists the members of a group, and watches the list until it changes.
#pragma once

#include "recipe/watched_node.h"
#include "zk/session.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace zklock::recipe {

struct Member {
  std::string data;  // if it was asked for and may be read
  zk::Stat stat;
};

using Members = std::map<std::string, Member>;  // by name

struct MemberChange {
  bool joined;  // false: it has left
  std::string name;

  bool operator==(const MemberChange&) const = default;
};

// Returns the changes from `before` to `now`: the members that have left, then those that have joined, both in the
// order of their names. A member that has another's name has joined when that one had left. Pure.
std::vector<MemberChange> changes_between(const Members& before, const Members& now);

// Returns how long to wait before the next list, after a list with that many nodes. So only small groups are listed for
// each of many changes in a row. Pure.
Duration rest_after(size_t nodes);

class GroupRoster {
 public:
  // If `with_data`, each member's data is read when the member is first seen. If `tried` is given, the first look()
  // checks that the path is not used for something else; see check_is_group().
  GroupRoster(zk::Session& session, std::string group, bool with_data, std::string tried = "")
      : session_(session),
        group_(std::move(group)),
        with_data_(with_data),
        unchecked_(std::move(tried)),
        node_(session, group_, Aspect::children, "cannot list " + group_) {}

  // Lists the group. No change after its return is missed. Throws what the session throws, and a Failure (77) if the
  // group may not be listed. members() is then as before. `last`: see zk::read_and_end().
  void look(bool last = false);
  // Lets the next look() read the data of all members again.
  void forget() { members_.clear(); }
  // After look(): returns when the next one is due, because there may be a change or the session is over; else kNever.
  Deadline due() const;
  // See WatchedNode::again().
  Deadline again() const { return node_.again(); }
  bool exists() const { return node_.exists(); }
  // Returns the ephemeral nodes of the group, except for contenders for a lock.
  const Members& members() const { return members_; }
  // Returns the names of nodes that members have left: see is_left_member().
  const std::set<std::string>& left() const { return left_; }

 private:
  void look_first();
  bool is_read_first(const std::string& name) const;
  bool is_new_member(const std::string& name, const zk::Answer& node) const;
  std::vector<zk::Answer> ask_about(const std::vector<std::string>& names);
  std::vector<std::string> take_known(const zk::Answer& list, Members& members, std::set<std::string>& others) const;
  void take_in(zk::Answer list);

  zk::Session& session_;
  std::string group_;
  bool with_data_;
  std::string unchecked_;  // what is tried, until the path was checked; "": it need not be checked
  WatchedNode node_;
  zk::Answer list_;  // the last one, its names in order
  Members members_;
  std::set<std::string> others_;  // nodes that are no members
  std::set<std::string> left_;    // those of them that members have left
  Deadline rested_ = kAtOnce;
};

}  // namespace zklock::recipe
