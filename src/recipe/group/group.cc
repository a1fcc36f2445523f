// SPDX-License-Identifier: Apache-2.0
#include "recipe/group/group.h"

#include "base/rounds.h"
#include "base/text.h"
#include "recipe/line.h"
#include "recipe/use.h"
#include "zk/path.h"
#include "zk/session.h"

#include <vector>

#include <fmt/format.h>

namespace zklock::recipe {

using zk::Answer;
using zk::Code;
using zk::CreateMode;
using zk::Step;

namespace {

constexpr size_t kNumberDigits = 10;
constexpr size_t kMostInOneStep = 1000;  // members; any more are deleted before
constexpr int kMostRounds = 20;          // while others join

zk::Call send_group(zk::Session& session, const std::string& group, const Site& site, std::string_view mark,
                    CreateMode mode) {
  for (const std::string& node : site.missing) session.client().create(node, "", CreateMode::persistent);
  return session.client().create(group, std::string(mark), mode);
}

// Returns false if the caller must look again.
bool mark_as_kept(zk::Session& session, const std::string& group, const zk::Stat& stat, std::string_view tried) {
  session.ready();
  const Answer marked = session.await(session.client().write(group, std::string(kKeptGroup), stat.version));
  const bool again = marked.code == Code::bad_version || marked.code == Code::no_node || marked.code == Code::unknown;
  if (marked.code != Code::ok && !again) throw zk::failure_of(tried, marked);
  return marked.code == Code::ok;
}

// Lists a group that may be removed; the code is `no_node` if it is absent.
Answer list_to_remove(zk::Session& session, const std::string& group, std::string_view tried) {
  std::vector<Answer> answers = zk::ask_together(session, {[&](zk::Client& client) { return client.sync(group); },
                                                           [&](zk::Client& client) { return client.read(group); },
                                                           [&](zk::Client& client) { return client.children(group); }});
  const Answer& node = answers[1];
  check_is_group(node, answers[2], tried);
  if (node.code == Code::no_node) return node;
  if (mark_of(node.data) == PathMark::none && node.stat.data_length > 0) {
    throw Failure(ExitStatus::bad_data,
                  fmt::format("{}: it has data, which no group of zklock's has; it is left alone", tried));
  }
  return std::move(answers[2]);
}

// Adds up what is in the group, and returns the paths of the members and of what members have left.
std::vector<std::string> count_members(zk::Session& session, const std::vector<std::string>& paths,
                                       GroupRemoval& count) {
  const std::vector<Answer> stats = zk::stat_all(session, paths);
  std::vector<std::string> members;
  for (size_t i = 0; i < paths.size(); ++i) {
    if (stats[i].code != Code::ok) continue;
    const std::string name = zk::name_of(paths[i]);
    const bool left = is_left_member(name, stats[i].stat);
    if (left || is_ephemeral(stats[i].stat)) {
      ++(left ? count.left : count.members);
      members.push_back(paths[i]);
    } else if (count.others++ == 0) {
      count.other = name;
    }
  }
  return members;
}

// Returns the answer to the last transaction, which removes the group too.
Answer remove_with(zk::Session& session, const std::string& group, std::vector<std::string> members) {
  std::vector<std::string> surplus;
  for (; members.size() > kMostInOneStep; members.pop_back()) surplus.push_back(members.back());
  zk::remove_all(session, surplus);
  members.push_back(group);
  std::vector<Step> steps;
  for (const std::string& path : members) steps.push_back({Step::Kind::remove, path});
  return session.transact(steps);
}

}  // namespace

std::optional<std::string> member_name_error(std::string_view group, std::string_view name) {
  if (name.empty()) return "it is empty";
  if (name.find('/') != std::string_view::npos) return "it has a slash";
  if (is_lock_name(name)) return "locks use names of that form";
  return zk::path_error(zk::child_of(group, name));
}

bool is_numbered(std::string_view name, std::string_view stem) {
  if (!name.starts_with(stem)) return false;
  return name.size() == stem.size() + kNumberDigits && parse_number(name.substr(stem.size()));
}

bool has_number(std::string_view name) {
  const size_t dash = name.rfind('-');
  return dash != std::string_view::npos && is_numbered(name, name.substr(0, dash + 1));
}

bool is_left_member(std::string_view name, const zk::Stat& stat) {
  const bool named = has_number(name) && name.rfind('-') > 0;
  return named && stat.children == 0 && !is_ephemeral(stat) && !is_lock_name(name);
}

void check_is_group(const Answer& node, const Answer& list, std::string_view tried) {
  if (node.code == Code::no_node) return;
  if (node.code != Code::ok) throw zk::failure_of(tried, node);
  const PathMark mark = mark_of(node.data);
  check_mark(mark, PathUse::group, tried);
  if (mark != PathMark::none || list.code == Code::no_node) return;
  if (list.code != Code::ok) throw zk::failure_of(tried, list);
  check_names_of_group(list.names, tried);
}

FoundGroup find_group(zk::Session& session, const std::string& group, std::string_view tried) {
  check_site_by_name(session, group, tried);
  std::vector<zk::Session::Send> requests{[&](zk::Client& client) { return client.sync(group); },
                                          [&](zk::Client& client) { return client.read(group); }};
  for (const std::string& above : nodes_above(group)) {
    requests.emplace_back([above](zk::Client& client) { return client.read(above); });
  }
  std::vector<Answer> answers = zk::ask_together(session, requests);
  const Answer node = std::move(answers[1]);
  answers.erase(answers.begin(), answers.begin() + 2);
  const PathMark mark = mark_of(node.data);
  const bool is_unmarked = node.code == Code::ok && mark == PathMark::none;
  const Answer list = is_unmarked ? session.children(group) : Answer();
  check_is_group(node, list, tried);
  if (node.code == Code::ok && list.code == Code::ok) return {true, mark, node.stat};
  return {false, PathMark::none, {}, check_site(session, group, answers, tried)};
}

zk::Call send_passing_group(zk::Session& session, const std::string& group, const Site& site) {
  return send_group(session, group, site, kPassingGroup, CreateMode::container);
}

// There is no node if what went ahead of the create was refused, or the chroot may be missing.
bool check_made(zk::Session& session, const std::string& group, const Answer& made, std::string_view tried) {
  if (made.code == Code::ok) return true;
  if (made.code == Code::no_node) {
    session.make_parents(group);
  } else if (made.code != Code::unknown && made.code != Code::node_exists) {
    throw zk::failure_of(tried, made);
  }
  return false;
}

void make_kept_group(zk::Session& session, const std::string& group, std::string_view tried) {
  for (Rounds rounds(tried);; rounds.next()) {
    const FoundGroup found = find_group(session, group, tried);
    if (found.mark == PathMark::kept_group) return;
    if (!found.exists) {
      session.ready();
      const zk::Call making = send_group(session, group, found.site, kKeptGroup, CreateMode::persistent);
      if (check_made(session, group, session.await(making), tried)) return;
      continue;
    }
    if (found.mark == PathMark::passing_group) {
      throw Failure(ExitStatus::busy, fmt::format("{}: it is there already, made by its first member, and goes with "
                                                  "its last; create it when nobody is in it",
                                                  tried));
    }
    // It is another program's group. Its data stays.
    if (found.stat.data_length > 0 || mark_as_kept(session, group, found.stat, tried)) return;
  }
}

GroupRemoval remove_group(zk::Session& session, const std::string& group, bool force, std::string_view tried) {
  using End = RemovalEnd;
  for (int round = 0;; ++round) {
    const Answer list = list_to_remove(session, group, tried);
    if (list.code == Code::no_node) return {round == 0 ? End::absent : End::done};
    GroupRemoval count{End::not_empty};
    std::vector<std::string> members = count_members(session, zk::paths_below(group, list.names), count);
    const bool full = count.others > 0 || (!force && !members.empty());
    if (full || round == kMostRounds) return count;
    const Answer removed = remove_with(session, group, std::move(members));
    if (removed.code == Code::ok) return {End::done};
    if (removed.code == Code::no_auth) throw zk::failure_of(tried, removed);
    // A member has come or gone meanwhile, or the answer was lost.
  }
}

}  // namespace zklock::recipe
