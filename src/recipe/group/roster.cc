// SPDX-License-Identifier: Apache-2.0
#include "recipe/group/roster.h"

#include "recipe/group/group.h"
#include "recipe/line.h"
#include "recipe/use.h"
#include "zk/path.h"
#include "zk/session.h"

#include <algorithm>

namespace zklock::recipe {

using zk::Answer;
using zk::Code;

namespace {

constexpr Duration kRestForNode = std::chrono::microseconds(100);
constexpr Duration kLongestRest = std::chrono::seconds(1);

}  // namespace

std::vector<MemberChange> changes_between(const Members& before, const Members& now) {
  std::vector<MemberChange> changes;
  for (const auto& [name, member] : before) {
    if (!now.contains(name)) changes.push_back({MemberChange::Kind::left, name});
  }
  for (const auto& [name, member] : now) {
    if (!before.contains(name)) changes.push_back({MemberChange::Kind::joined, name});
  }
  return changes;
}

Duration rest_after(size_t nodes) {
  return std::min(kLongestRest, kRestForNode * static_cast<int64_t>(nodes));
}

void GroupRoster::look() {
  node_.look();
  take_in(node_.found().names);
  rested_ = deadline_in(rest_after(node_.found().names.size()));
}

Deadline GroupRoster::due() const {
  return node_.is_stale() && !session_.expired() ? rested_ : node_.due();
}

void GroupRoster::take_in(const std::vector<std::string>& names) {
  Members members;
  std::set<std::string> others;
  std::vector<std::string> unknown;
  for (const std::string& name : names) {
    if (const auto known = members_.find(name); known != members_.end()) {
      members.insert(*known);
    } else if (others_.contains(name) || is_lock_name(name)) {
      others.insert(name);
    } else {
      unknown.push_back(name);
    }
  }
  std::vector<std::string> paths;
  for (const std::string& name : unknown) paths.push_back(zk::child_of(group_, name));
  const std::vector<Answer> stats = zk::stat_all(session_, paths);
  const std::vector<Answer> contents = with_data_ ? zk::read_all(session_, paths) : std::vector<Answer>(paths.size());
  for (size_t i = 0; i < paths.size(); ++i) {
    // The member is gone again, and the watch has fired.
    if (stats[i].code != Code::ok) continue;
    if (is_ephemeral(stats[i].stat)) {
      members[unknown[i]] = {contents[i].data, stats[i].stat};
    } else {
      others.insert(unknown[i]);
      if (is_left_member(unknown[i], stats[i].stat)) left_.insert(unknown[i]);
    }
  }
  std::erase_if(left_, [&](const std::string& name) { return !others.contains(name); });
  members_ = std::move(members);
  others_ = std::move(others);
}

}  // namespace zklock::recipe
