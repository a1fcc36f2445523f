// SPDX-License-Identifier: Apache-2.0
#include "recipe/value/subtree.h"

#include "base/text.h"
#include "recipe/line.h"
#include "recipe/use.h"
#include "zk/path.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace zklock::recipe {

namespace {

using zk::Answer;
using zk::Code;
using zk::Step;
using Paths = std::vector<std::string>;
using Lists = std::map<std::string, Answer>;  // of children, by path

constexpr size_t kMostInOneStep = 500;          // nodes
constexpr size_t kMostBytes = size_t{1} << 18;  // of the nodes' paths
constexpr int kMostRounds = 20;                 // while others add nodes

void check_listed(const std::string& path, const Answer& list, const std::string& tried) {
  if (list.code == Code::ok || list.code == Code::no_node) return;
  throw zk::failure_of(fmt::format("{}: cannot list {}", tried, printable(path)), list);
}

// Returns the nodes below those of `level`, which are moved to `found` with their `lists`. Adds the length of their
// names to `bytes`.
Paths take_level(const Paths& level, std::vector<Answer>& lists, Lists& found, size_t& bytes,
                 const std::string& tried) {
  Paths next;
  for (size_t i = 0; i < level.size(); ++i) {
    check_listed(level[i], lists[i], tried);
    if (lists[i].code == Code::no_node) continue;
    for (const std::string& name : lists[i].names) {
      next.push_back(zk::child_of(level[i], name));
      bytes += name.size();
    }
    found.emplace(level[i], std::move(lists[i]));
  }
  return next;
}

// Lists level by level, so that a level costs few round trips. A level's lists are probably about as long as those
// above them.
Lists list_all(zk::Session& session, const std::string& path, const std::string& tried) {
  Lists found;
  Paths level{path};
  std::vector<Answer> lists{session.synced_children(path)};
  while (!level.empty()) {
    size_t bytes = 0;
    Paths next = take_level(level, lists, found, bytes, tried);
    lists = zk::children_all(session, next, bytes / level.size() * next.size());
    level = std::move(next);
  }
  return found;
}

Paths paths_in(const Lists& lists) {
  Paths paths;
  for (const auto& [path, list] : lists) paths.push_back(path);
  return paths;
}

Failure not_a_value(const std::string& tried, const std::string& path, std::string_view what, size_t removed) {
  return {ExitStatus::bad_data,
          fmt::format("{}: {} is {}{}", tried, printable(path), what, removed == 0 ? "; nothing was removed" : "")};
}

void check_all(zk::Session& session, const Lists& lists, const std::string& tried, size_t removed) {
  Paths paths;
  std::vector<Answer> answers;
  for (const auto& [path, list] : lists) {
    if (is_ephemeral(list.stat)) throw not_a_value(tried, path, "ephemeral: it belongs to a session", removed);
    if (is_lock_name(zk::name_of(path))) throw not_a_value(tried, path, "a contender for a lock", removed);
    paths.push_back(path);
    answers.push_back(list);
  }
  const std::vector<PathUse> uses = uses_of(session, paths, answers);
  for (size_t i = 0; i < paths.size(); ++i) {
    const bool queue = uses[i] == PathUse::queue;
    if (!queue && uses[i] != PathUse::group) continue;
    throw not_a_value(tried, paths[i],
                      queue ? "a queue (zklock queue delete removes it)" : "a group (zklock group delete removes it)",
                      removed);
  }
}

// Takes the nodes of the next transaction off the end of `paths`, where the deepest ones are.
std::vector<Step> next_steps(const ValueChange& change, Paths& paths) {
  std::vector<Step> steps;
  for (const std::string& node : change.held) steps.push_back({Step::Kind::check, node});
  size_t bytes = 0;
  for (size_t n = 0; n < kMostInOneStep && bytes < kMostBytes && !paths.empty(); ++n) {
    const bool is_root = paths.back() == change.path;
    bytes += paths.back().size();
    steps.push_back({Step::Kind::remove, std::move(paths.back()), "", is_root ? change.version : -1});
    paths.pop_back();
  }
  // The removal of the root checks the version itself.
  if (change.version >= 0 && !paths.empty()) {
    steps.push_back({Step::Kind::check, change.path, "", change.version});
  }
  return steps;
}

// The answer to these steps was lost. Returns whether all their nodes are gone, after a barrier behind which the steps
// are done or never will be.
bool is_done(zk::Session& session, const std::vector<Step>& steps) {
  Paths paths;
  for (const Step& step : steps) {
    if (step.kind == Step::Kind::remove) paths.push_back(step.path);
  }
  const std::vector<Answer> looks = zk::settled_stat_all(session, paths);
  return std::ranges::all_of(looks, [](const Answer& look) { return look.code == Code::no_node; });
}

// Returns the answer to the first transaction that failed, or to the last one.
Answer remove_all_of(zk::Session& session, const ValueChange& change, Paths paths, size_t& removed) {
  Answer answer;
  while (!paths.empty() && answer.code == Code::ok) {
    const size_t before = paths.size();
    const std::vector<Step> steps = next_steps(change, paths);
    answer = session.transact(steps);
    const bool lost = answer.code == Code::unknown;
    if (answer.code == Code::ok || (lost && is_done(session, steps))) removed += before - paths.size();
  }
  return answer;
}

}  // namespace

std::vector<std::string> list_subtree(zk::Session& session, const std::string& path, const std::string& tried) {
  return paths_in(list_all(session, path, tried));
}

std::vector<std::string> list_removable(zk::Session& session, const std::string& path, const std::string& tried) {
  const Lists lists = list_all(session, path, tried);
  if (!lists.empty()) check_site_by_name(session, path, tried);
  check_all(session, lists, tried, 0);
  return paths_in(lists);
}

ChangeResult remove_subtree(zk::Session& session, const ValueChange& change, const std::string& tried,
                            size_t& removed) {
  bool begun = false;  // some of it may be removed
  for (int round = 0;; ++round) {
    if (!is_held(session, change, tried)) return {ChangeEnd::unheld};
    const Lists lists = list_all(session, change.path, tried);
    const bool at_any_version = change.kind == ChangeKind::remove;
    // We or others have removed it. Others may have written a new version before that.
    if (lists.empty() && begun) return {at_any_version ? ChangeEnd::done : ChangeEnd::unknown};
    if (lists.empty()) return {at_any_version ? ChangeEnd::absent : ChangeEnd::differs};
    const auto left = static_cast<int32_t>(lists.size() - 1);
    const Answer node = session.exists(change.path);
    if (change.version >= 0 && node.code == Code::ok && node.stat.version != change.version) {
      return {ChangeEnd::differs, true, node.stat.version, left};
    }
    if (round == kMostRounds) return {ChangeEnd::has_children, true, node.stat.version, left};
    if (!begun) check_site_by_name(session, change.path, tried);
    check_all(session, lists, tried, removed);
    begun = true;
    const Answer answer = remove_all_of(session, change, paths_in(lists), removed);
    if (answer.code == Code::ok) return {ChangeEnd::done};
    if (answer.code == Code::no_auth) throw zk::failure_of(tried, answer);
    // If the answer was not lost, others have added, changed or removed nodes meanwhile.
  }
}

}  // namespace zklock::recipe
