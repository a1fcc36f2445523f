// SPDX-License-Identifier: Apache-2.0
#include "recipe/group/roster.h"

#include "recipe/line.h"
#include "recipe/use.h"
#include "zk/path.h"
#include "zk/session.h"

#include <fmt/format.h>

namespace zklock::recipe {

using zk::Answer;
using zk::Code;

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

GroupRoster::State GroupRoster::look(Deadline until) {
  const Answer answer = list(until);
  if (answer.code == Code::expired) return State::expired;
  if (answer.code == Code::no_node) {
    members_.clear();
    others_.clear();
    return State::absent;
  }
  if (answer.code != Code::ok) throw zk::failure_of(fmt::format("cannot list {}", group_), answer);
  take_in(answer.names, until);
  return session_.expired() ? State::expired : State::there;
}

// With a watch on what it has found. A session never sees an older state than it has seen before, whichever server it
// moves to; a new one may, and what was printed must not be taken back: hence its sync.
Answer GroupRoster::list(Deadline until) {
  for (;;) {
    watch_ = std::make_shared<zk::WatchState>();
    const bool again = synced_ == session_.id();
    Answer answer = again ? session_.children(group_, until, watch_) : session_.synced_children(group_, until, watch_);
    if (answer.code != Code::expired) synced_ = session_.id();
    if (answer.code != Code::no_node) return answer;
    answer = session_.await(session_.client().exists(group_, watch_), until);
    if (answer.code == Code::no_node || answer.code == Code::expired) return answer;
  }
}

void GroupRoster::take_in(const std::vector<std::string>& names, Deadline until) {
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
  const std::vector<Answer> stats = zk::stat_all(session_, paths, until);
  const std::vector<Answer> contents =
      with_data_ ? zk::read_all(session_, paths, until) : std::vector<Answer>(paths.size());
  if (session_.expired()) return;
  for (size_t i = 0; i < paths.size(); ++i) {
    // Gone again: the watch has fired.
    if (stats[i].code != Code::ok) continue;
    if (is_ephemeral(stats[i].stat)) {
      members[unknown[i]] = {contents[i].data, stats[i].stat};
    } else {
      others.insert(unknown[i]);
    }
  }
  members_ = std::move(members);
  others_ = std::move(others);
}

}  // namespace zklock::recipe
