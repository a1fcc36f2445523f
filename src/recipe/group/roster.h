// SPDX-License-Identifier: Apache-2.0
// Who is in a group: looked at, and watched until that changes.
#pragma once

#include "recipe/watched_node.h"
#include "zk/session.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace zklock::recipe {

struct Member {
  std::string data;  // if that was asked for and may be read
  zk::Stat stat;
};

using Members = std::map<std::string, Member>;  // by name

enum class MemberEvent { left, joined };

struct MemberChange {
  using Kind = MemberEvent;
  Kind kind;
  std::string name;

  bool operator==(const MemberChange&) const = default;
};

// From `before` to `now`: who has left, and then who has joined, in the order of their names. Pure.
std::vector<MemberChange> changes_between(const Members& before, const Members& now);

// How long those who have listed that many nodes leave the next change alone, so that many changes in a row cost a list
// each time only where that is short. Pure.
Duration rest_after(size_t nodes);

class GroupRoster {
 public:
  // `with_data`: as it was when the member was seen first.
  GroupRoster(zk::Session& session, std::string group, bool with_data)
      : session_(session),
        group_(std::move(group)),
        with_data_(with_data),
        node_(session, group_, Aspect::children, "cannot list " + group_) {}

  // From when it returns on, no change is missed. False when the session has expired: members() is as before; open
  // another one and look again. Throws what the session throws, and a Failure (77) for a group that may not be listed.
  bool look(Deadline until);
  // The next look() reads the data of all members anew.
  void forget() { members_.clear(); }
  // After look(): when the next one is due, as there may be a change, or the session is over; else kNever.
  Deadline due() const;
  bool exists() const { return node_.exists(); }
  // Those that are ephemeral, but not what stands in line for a lock.
  const Members& members() const { return members_; }
  // The names of nodes that members have left: see is_left_member().
  const std::set<std::string>& left() const { return left_; }

 private:
  void take_in(const std::vector<std::string>& names, Deadline until);

  zk::Session& session_;
  std::string group_;
  bool with_data_;
  WatchedNode node_;
  Members members_;
  std::set<std::string> others_;  // nodes that are no members
  std::set<std::string> left_;    // of them
  Deadline rested_ = kAtOnce;
};

}  // namespace zklock::recipe
