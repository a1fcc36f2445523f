// SPDX-License-Identifier: Apache-2.0
#include "recipe/group/roster.h"

#include "recipe/group/group.h"
#include "recipe/line.h"
#include "recipe/use.h"
#include "zk/path.h"
#include "zk/session.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace zklock::recipe {

using zk::Answer;
using zk::Code;

namespace {

constexpr Duration kRestForNode = std::chrono::microseconds(100);
constexpr Duration kLongestRest = std::chrono::seconds(1);

// How much is known of the names that a list has.
enum class Known {
  all,
  numbered,  // a name without the server's number may be another node's by now
  none,      // the group was deleted and made again
};

// `before` is an earlier list, and both have their names in order. If more children were made and deleted than the
// names show, one was replaced.
Known known_of(const Answer& before, const Answer& now) {
  if (before.stat.created != now.stat.created) return Known::none;
  std::vector<std::string> changed;
  std::ranges::set_symmetric_difference(before.names, now.names, std::back_inserter(changed));
  const auto changes = static_cast<uint32_t>(now.stat.child_version) - static_cast<uint32_t>(before.stat.child_version);
  return changes == changed.size() ? Known::all : Known::numbered;
}

// True if none of `members` is that node. A node of the same name may be another one.
bool is_missing(const Members& members, const std::string& name, const Member& member) {
  const auto found = members.find(name);
  return found == members.end() || found->second.stat.created != member.stat.created;
}

}  // namespace

std::vector<MemberChange> changes_between(const Members& before, const Members& now) {
  std::vector<MemberChange> changes;
  for (const auto& [name, member] : before) {
    if (is_missing(now, name, member)) changes.push_back({false, name});
  }
  for (const auto& [name, member] : now) {
    if (is_missing(before, name, member)) changes.push_back({true, name});
  }
  return changes;
}

Duration rest_after(size_t nodes) {
  return std::min(kLongestRest, kRestForNode * static_cast<int64_t>(nodes));
}

void GroupRoster::look() {
  if (!unchecked_.empty()) check_is_group(session_, group_, unchecked_);
  unchecked_.clear();
  node_.look();
  take_in(node_.found());
  rested_ = deadline_in(rest_after(node_.found().names.size()));
}

Deadline GroupRoster::due() const {
  return node_.is_stale() && !session_.expired() ? rested_ : node_.due();
}

// Takes over what is still known. Returns the names to look at.
std::vector<std::string> GroupRoster::take_known(const Answer& list, Members& members,
                                                 std::set<std::string>& others) const {
  const Known still = known_of(list_, list);
  std::vector<std::string> unknown;
  for (const std::string& name : list.names) {
    const auto known = members_.find(name);
    const bool sure = still == Known::all || (still == Known::numbered && has_number(name));
    if (is_lock_name(name) || (sure && others_.contains(name))) {
      others.insert(name);
    } else if (sure && known != members_.end()) {
      members.insert(*known);
    } else {
      unknown.push_back(name);
    }
  }
  return unknown;
}

void GroupRoster::take_in(Answer list) {
  std::ranges::sort(list.names);
  Members members;
  std::set<std::string> others;
  const std::vector<std::string> looked_at = take_known(list, members, others);
  const std::vector<Answer> stats = zk::stat_all(session_, zk::paths_below(group_, looked_at));
  std::vector<std::string> joined;
  for (size_t i = 0; i < looked_at.size(); ++i) {
    const std::string& name = looked_at[i];
    const zk::Stat& stat = stats[i].stat;
    // The member is gone again, and the watch has fired.
    if (stats[i].code != Code::ok) continue;
    const auto known = members_.find(name);
    if (!is_ephemeral(stat)) {
      others.insert(name);
      if (is_left_member(name, stat)) left_.insert(name);
    } else if (known != members_.end() && known->second.stat.created == stat.created) {
      members.insert(*known);
    } else {
      members[name].stat = stat;
      joined.push_back(name);
    }
  }
  if (with_data_) {
    const std::vector<Answer> contents = zk::read_all(session_, zk::paths_below(group_, joined));
    for (size_t i = 0; i < joined.size(); ++i) members[joined[i]].data = contents[i].data;
  }
  std::erase_if(left_, [&](const std::string& name) { return !others.contains(name); });
  list_ = std::move(list);
  members_ = std::move(members);
  others_ = std::move(others);
}

}  // namespace zklock::recipe
