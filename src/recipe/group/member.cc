// SPDX-License-Identifier: Apache-2.0
#include "recipe/group/member.h"

#include "base/rounds.h"
#include "host/trace.h"
#include "recipe/group/group.h"
#include "recipe/lock/protected_node.h"
#include "recipe/use.h"
#include "zk/path.h"
#include "zk/session.h"
#include "zk/timing.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace zklock::recipe {

using zk::Answer;
using zk::Code;

namespace {

constexpr size_t kMostSkipped = 400;                // numbers, in one transaction
constexpr const char* kFirstNumber = "0000000000";  // that a server gives below a node

}  // namespace

GroupMember::GroupMember(zk::Session& session, Membership membership)
    : session_(session), membership_(std::move(membership)), tried_("cannot join " + membership_.group) {}

// Returns the node's path up to the number.
std::string GroupMember::stem() const {
  return zk::child_of(membership_.group, membership_.name) + (membership_.unique ? "" : "-");
}

GroupMember::State GroupMember::join() {
  size_t skipped = 0;
  bool together = true;
  for (Rounds rounds(tried_);; rounds.next()) {
    const FoundGroup group = find_group(session_, membership_.group, tried_);
    // Our node was there before we knew that this is a group.
    if (!path_.empty()) return State::in;
    const Code made = group.exists || together ? enter(group, skipped) : make_group(group);
    if (made == Code::ok) return State::in;
    if (made == Code::no_node) continue;
    // If an answer was lost, it must show which of the requests the servers do not answer.
    together = made != Code::unknown;
    if (find() == State::taken) return State::taken;
    if (path_.empty() && made == Code::node_exists && !membership_.unique) skipped = taken_numbers();
  }
}

// Returns `no_node`: the caller must look again.
Code GroupMember::make_group(const FoundGroup& group) {
  session_.ready();
  const zk::Call making = send_passing_group(session_, membership_.group, group.site);
  check_made(session_, membership_.group, session_.await(making), tried_);
  return Code::no_node;
}

// Creates our node, and in the same round trip the group if it is absent. Returns `ok` if we are in; `no_node`,
// `unknown` or `node_exists` if the caller must look again.
Code GroupMember::enter(const FoundGroup& group, size_t skipped) {
  session_.ready();
  host::trace("joining", {{"member", stem()}});
  const zk::Call making = group.exists ? nullptr : send_passing_group(session_, membership_.group, group.site);
  entering_ = send_entry(!group.exists, skipped);
  const Answer made = session_.await(entering_);
  path_ = entered_path();
  if (making) {
    const Answer made_group = session_.await(making);
    // Another client may have made that node, for something else.
    if (!path_.empty()) return made_group.code == Code::ok ? Code::ok : Code::no_node;
    const bool is_made = check_made(session_, membership_.group, made_group, tried_);
    if (!is_made && made.code != Code::unknown) return Code::no_node;
  }
  const bool again = made.code == Code::no_node || made.code == Code::node_exists || made.code == Code::unknown;
  if (made.code != Code::ok && !again) throw zk::failure_of(tried_, made);
  return made.code;
}

// Creates our node. If there are numbers to skip, each node that comes and goes before it in the same transaction takes
// one, and no other client sees it. `first`: only if nothing was ever made below the group, which the number of another
// such node tells. So it does not come into a queue, or into the line of a lock, that was made at the path meanwhile.
zk::Call GroupMember::send_entry(bool first, size_t skipped) {
  using zk::CreateMode;
  const CreateMode mode = membership_.unique ? CreateMode::ephemeral : CreateMode::ephemeral_sequential;
  if (!first && skipped == 0) return session_.client().create(stem(), membership_.data, mode);
  std::vector<zk::Step> steps;
  const std::string skip = zk::child_of(membership_.group, "skip-" + make_uuid());
  if (first) {
    steps.push_back({zk::Step::Kind::create, skip + "-", "", -1, CreateMode::ephemeral_sequential});
    steps.push_back({zk::Step::Kind::remove, skip + "-" + kFirstNumber});
  }
  for (size_t i = 0; i < skipped; ++i) {
    steps.push_back({zk::Step::Kind::create, skip, "", -1, CreateMode::ephemeral});
    steps.push_back({zk::Step::Kind::remove, skip});
  }
  steps.push_back({zk::Step::Kind::create, stem(), membership_.data, -1, mode});
  return session_.client().transact(steps);
}

// Returns "" if the answer is not that our node was created.
std::string GroupMember::entered_path() const {
  const Answer& made = entering_->answer;
  if (made.code != Code::ok) return "";
  return membership_.unique ? stem() : made.path;
}

// Returns how many numbers to skip, because persistent nodes have the names that the server would give next. The server
// numbers by how many children were created below the group, and in a copied tree those are fewer.
size_t GroupMember::taken_numbers() {
  const Answer list = session_.synced_children(membership_.group);
  const std::set<std::string> names(list.names.begin(), list.names.end());
  const int64_t next = (int64_t{list.stat.child_version} + list.stat.children) / 2;
  const auto is_taken = [&](size_t skipped) {
    return names.contains(fmt::format("{}-{:010}", membership_.name, next + static_cast<int64_t>(skipped)));
  };
  size_t skipped = 0;
  while (is_taken(skipped)) {
    if (++skipped <= kMostSkipped) continue;
    throw Failure(ExitStatus::bad_data,
                  fmt::format("{}: nodes that stay have the next {} names, from {}{:010} on; delete them, or choose "
                              "another name",
                              tried_, kMostSkipped, stem(), next));
  }
  return skipped;
}

// The create's answer was lost, or the name exists. Only a list after a barrier shows whether there is a node of our
// session, which is then at path(). Returns `removed` if there is none.
GroupMember::State GroupMember::find() {
  if (membership_.unique) return look_at_name();
  const Answer list = session_.settled_children(membership_.group);
  if (list.code != Code::ok && list.code != Code::no_node) {
    throw zk::failure_of(fmt::format("{}: cannot list {}", tried_, membership_.group), list);
  }
  std::vector<std::string> paths;
  for (const std::string& name : list.names) {
    if (is_numbered(name, membership_.name + "-")) paths.push_back(zk::child_of(membership_.group, name));
  }
  const std::vector<Answer> stats = zk::stat_all(session_, paths);
  for (size_t i = 0; i < paths.size(); ++i) {
    if (stats[i].code != Code::ok || stats[i].stat.ephemeral_owner != session_.id()) continue;
    path_ = paths[i];
    return State::in;
  }
  return State::removed;
}

// Checks which session has the name that we want. Returns `removed` if the name is free.
GroupMember::State GroupMember::look_at_name() {
  const Answer found = zk::settled_stat_all(session_, {stem()}).front();
  if (found.code != Code::ok) return State::removed;
  if (found.stat.ephemeral_owner == session_.id()) {
    path_ = stem();
    return State::in;
  }
  if (!is_ephemeral(found.stat)) {
    throw Failure(ExitStatus::bad_data,
                  fmt::format("{}: {} is not a member, but stays for ever; delete it (zklock value delete), or choose "
                              "another name",
                              tried_, stem()));
  }
  taken_by_ = found.stat;
  return State::taken;
}

bool GroupMember::wait_for_name() {
  for (;;) {
    const auto watch = std::make_shared<zk::WatchState>();
    // The watch does not fire if we may not read that node: see WatchedNode::again().
    Deadline again = deadline_in(zk::beat_of(session_.timeout()));
    if (session_.exists(stem(), watch).code != Code::ok) return true;
    if (left_until(again) + 2 * session_.round_trip() >= left_until(session_.until())) again = session_.until();
    while (left_until(again) > Duration::zero()) {
      if (watch->fired || session_.expired()) return true;
      session_.turn(again);
    }
    if (left_until(session_.until()) == Duration::zero()) return false;
  }
}

// The check is a transaction. So if the servers have ended our session and we do not know it yet, SessionOver is
// thrown, and not reported that there is no node.
GroupMember::State GroupMember::look() {
  const auto watch = std::make_shared<zk::WatchState>();
  const auto [check, node] = session_.ask_both([this](zk::Client& client) { return client.check({path_}); },
                                               [&](zk::Client& client) { return client.exists(path_, watch); });
  watch_ = watch;
  const bool in = node.code == Code::ok && node.stat.ephemeral_owner == session_.id();
  host::trace(in ? "joined" : "removed", {{"member", path_}});
  return in ? State::in : State::removed;
}

GroupMember::State GroupMember::set_data(std::string data) {
  membership_.data = std::move(data);
  if (membership_.unique && look() == State::removed) return State::removed;
  for (;;) {
    session_.ready();
    const Answer written = session_.await(session_.client().write(path_, membership_.data));
    if (written.code == Code::ok) return State::in;
    if (written.code != Code::no_node && written.code != Code::unknown) {
      throw zk::failure_of("cannot write " + path_, written);
    }
    // By the time that we are connected again, another client may have the name.
    if (look() == State::removed) return State::removed;
  }
}

// Asks after a barrier, so a removal whose answer was lost is done by then, or never will be. Returns false also if
// there is no answer: then the node goes with the session.
bool GroupMember::still_ours(Deadline until) {
  while (session_.settle_connection(until)) {
    const zk::Call barrier = session_.client().barrier();
    const zk::Call node = session_.client().exists(path_);
    if (!session_.settle(barrier, until) || !session_.settle(node, until)) return false;
    if (barrier->answer.code == Code::unknown || node->answer.code == Code::unknown) continue;
    return node->answer.code == Code::ok && node->answer.stat.ephemeral_owner == session_.id();
  }
  return false;
}

void GroupMember::leave(Duration budget) {
  if (path_.empty() && !entering_) return;
  const Deadline until = std::min(BootClock::now(), session_.unconnected_since()) + budget;
  // Another client may have the name by now, unless it has a number: our server may be behind, or the answer to a
  // removal was lost.
  bool doubtful = membership_.unique;
  while (left_until(until) > Duration::zero() && session_.settle_connection(until)) {
    // We were interrupted while we created it: the answer may still come.
    if (path_.empty() && session_.settle(entering_, until)) path_ = entered_path();
    if (path_.empty()) break;
    if (doubtful && !still_ours(until)) break;
    doubtful = true;
    host::trace("leaving", {{"member", path_}});
    const zk::Call removing = session_.client().remove(path_);
    session_.end_behind();
    const bool left = session_.settle(removing, until) && removing->answer.code != Code::unknown;
    host::trace(left ? "left" : "leave unknown", {{"member", path_}});
    if (left) break;
  }
  forget();
}

void GroupMember::forget() {
  path_.clear();
  entering_.reset();
  watch_.reset();
}

}  // namespace zklock::recipe
