// SPDX-License-Identifier: Apache-2.0
#include "recipe/group/node.h"

#include "recipe/group/group.h"
#include "recipe/use.h"
#include "zk/batch.h"
#include "zk/path.h"

#include <fmt/format.h>

namespace zklock::recipe {

using zk::Answer;
using zk::Code;
using zk::CreateMode;
using zk::Step;

namespace {

constexpr size_t kMostInOneStep = 1000;  // members; the rest is deleted before
constexpr int kMostRounds = 20;          // while others come

// Data and Stat of the path's node; one that was made through another server is not missed.
Answer read_synced(zk::Session& session, const std::string& path, Deadline until) {
  for (;;) {
    session.ready(until);
    const zk::Call synced = session.client().sync(path);
    const zk::Call read = session.client().read(path);
    const Code sync = session.await(synced, until).code;
    const Answer answer = session.await(read, until);
    if (sync != Code::unknown && answer.code != Code::unknown) return answer;
  }
}

Failure in_use(std::string_view tried, std::string_view how) {
  return {ExitStatus::bad_data, fmt::format("{}: the path is in use {}, not as a group; choose another", tried, how)};
}

void check_mark(GroupMark mark, std::string_view tried) {
  switch (mark) {
    case GroupMark::newer:
      throw Failure(
          ExitStatus::bad_data,
          fmt::format("{}: the group was made by another version of zklock, which keeps it differently", tried));
    case GroupMark::queue:
      throw in_use(tried, "as a queue (zklock queue)");
    case GroupMark::none:
    case GroupMark::kept:
    case GroupMark::passing:
      break;
  }
}

struct Look {
  GroupState state;
  GroupMark mark = GroupMark::none;
  zk::Stat stat = {};
};

Look look(zk::Session& session, const std::string& group, std::string_view tried, Deadline until) {
  const Answer node = read_synced(session, group, until);
  if (node.code == Code::expired) return {GroupState::expired};
  if (node.code == Code::no_node) return {GroupState::absent};
  if (node.code != Code::ok) throw zk::failure_of(tried, node);
  const GroupMark mark = group_mark_of(node.data);
  check_mark(mark, tried);
  if (mark != GroupMark::none) return {GroupState::there, mark, node.stat};
  const Answer list = session.children(group, until);
  if (list.code == Code::expired) return {GroupState::expired};
  if (list.code == Code::no_node) return {GroupState::absent};
  if (list.code != Code::ok) throw zk::failure_of(tried, list);
  if (const auto use = other_use(list.names)) throw in_use(tried, *use);
  return {GroupState::there, mark, node.stat};
}

// `unknown` where it has to be looked at again.
Code make(zk::Session& session, const std::string& group, CreateMode mode, std::string_view tried, Deadline until) {
  session.ready(until);
  const bool passing = mode == CreateMode::container;
  const std::string mark(passing ? kPassingGroup : kKeptGroup);
  const Answer made = session.await(session.client().create(group, mark, mode), until);
  switch (made.code) {
    case Code::ok:
    case Code::expired:
      return made.code;
    case Code::unknown:
    case Code::node_exists:
      return Code::unknown;
    case Code::no_node:
      session.make_parents(group, until);
      return Code::unknown;
    case Code::unsupported:
      if (passing) return make(session, group, CreateMode::persistent, tried, until);
      [[fallthrough]];
    case Code::not_empty:
    case Code::bad_version:
    case Code::childless:
    case Code::no_auth:
    case Code::other:
      break;
  }
  throw zk::failure_of(tried, made);
}

Look look_or_make(zk::Session& session, const std::string& group, CreateMode mode, std::string_view tried,
                  Deadline until) {
  check_names(session, group, tried, until);
  for (;;) {
    const Look found = look(session, group, tried, until);
    if (found.state != GroupState::absent) return found;
    check_site(session, group, tried, until);
    const Code made = make(session, group, mode, tried, until);
    if (made == Code::expired) return {GroupState::expired};
    if (made == Code::ok) return {GroupState::there, GroupMark::kept};
  }
}

struct Children {
  std::vector<Step> members;  // that remove them
  size_t others = 0;
};

Children children_of(zk::Session& session, const std::string& group, Deadline until) {
  Children found;
  std::vector<std::string> paths;
  for (const std::string& name : session.synced_children(group, until).names) {
    paths.push_back(zk::child_of(group, name));
  }
  const std::vector<Answer> stats = zk::stat_all(session, paths, until);
  for (size_t i = 0; i < paths.size(); ++i) {
    if (stats[i].code != Code::ok) continue;
    if (is_ephemeral(stats[i].stat)) {
      found.members.push_back({Step::Kind::remove, paths[i]});
    } else {
      ++found.others;
    }
  }
  return found;
}

void remove_surplus(zk::Session& session, std::vector<Step>& members, Deadline until) {
  std::vector<std::string> paths;
  while (members.size() > kMostInOneStep) {
    paths.push_back(members.back().path);
    members.pop_back();
  }
  zk::remove_all(session, paths, until);
}

}  // namespace

GroupState look_at_group(zk::Session& session, const std::string& group, std::string_view tried, Deadline until) {
  return look(session, group, tried, until).state;
}

GroupState make_passing_group(zk::Session& session, const std::string& group, std::string_view tried, Deadline until) {
  return look_or_make(session, group, CreateMode::container, tried, until).state;
}

GroupState make_kept_group(zk::Session& session, const std::string& group, std::string_view tried, Deadline until) {
  for (;;) {
    const Look found = look_or_make(session, group, CreateMode::persistent, tried, until);
    if (found.state == GroupState::expired || found.mark == GroupMark::kept) return found.state;
    if (found.mark == GroupMark::passing) {
      throw Failure(ExitStatus::busy, fmt::format("{}: it is there already, made by its first member, and goes with "
                                                  "its last; create it when nobody is in it",
                                                  tried));
    }
    // Somebody else's. What stands on it stays.
    if (found.stat.data_length > 0) return found.state;
    session.ready(until);
    const zk::Call marked = session.client().write(group, std::string(kKeptGroup), found.stat.version);
    const Answer answer = session.await(marked, until);
    if (answer.code == Code::no_auth) throw zk::failure_of(tried, answer);
  }
}

GroupRemoval remove_group(zk::Session& session, const std::string& group, bool force, std::string_view tried,
                          Deadline until) {
  using End = GroupRemoval::End;
  for (int round = 0;; ++round) {
    const Look found = look(session, group, tried, until);
    if (found.state == GroupState::expired) return {End::expired};
    if (found.state == GroupState::absent) return {round == 0 ? End::absent : End::done};
    if (found.mark == GroupMark::none && found.stat.data_length > 0) {
      throw Failure(ExitStatus::bad_data,
                    fmt::format("{}: it has data, which no group of zklock's has; it is left alone", tried));
    }
    Children children = children_of(session, group, until);
    const size_t members = children.members.size();
    const bool full = children.others > 0 || (!force && members > 0);
    if (full || round == kMostRounds) return {End::not_empty, members, children.others};
    remove_surplus(session, children.members, until);
    children.members.push_back({Step::Kind::remove, group});
    session.ready(until);
    const Answer removed = session.await(session.client().transact(children.members), until);
    if (removed.code == Code::ok) return {End::done};
    if (removed.code == Code::no_auth) throw zk::failure_of(tried, removed);
    // Else somebody has come or gone meanwhile, or the answer was lost.
  }
}

}  // namespace zklock::recipe
