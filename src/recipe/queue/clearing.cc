// SPDX-License-Identifier: Apache-2.0
#include "base/contains.h"
#include "base/rounds.h"
#include "recipe/names.h"
#include "recipe/queue/upkeep.h"
#include "zk/path.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace zklock::recipe {

using zk::Answer;
using zk::Code;
using zk::Step;

namespace {

using Nodes = std::vector<std::string>;

constexpr const char* kChanging = "cannot do all of it";

// Handles the items that could not be removed: removes those whose claims are in no session, and counts the others.
void purge_stuck(zk::Session& session, const Nodes& stuck, Purged& purged) {
  const std::vector<Answer> looks = stat_all(session, claims_of(stuck));
  for (size_t i = 0; i < stuck.size(); ++i) {
    if (looks[i].code == Code::ok && is_ephemeral(looks[i].stat)) {
      ++purged.in_work;
      continue;
    }
    if (looks[i].code == Code::ok) remove_left_claim(session, stuck[i], looks[i].stat);
    const Code removed = session.ask([&](zk::Client& client) { return client.remove(stuck[i]); }).code;
    if (removed == Code::ok) ++purged.removed;
    if (removed != Code::not_empty) continue;  // its worker may have ended it
    const std::string foreign = foreign_below(session, stuck[i]);
    if (foreign.empty()) ++purged.in_work;
    if (!foreign.empty()) purged.foreign.push_back(foreign);
  }
}

// Adds to `left` the nodes below `folder` that are in no session. Throws a Failure if one of them is not zklock's.
void remove_left(zk::Session& session, const std::string& folder, bool (*is_ours)(std::string_view), Nodes& left) {
  Nodes paths;
  for (const std::string& name : session.children(folder).names) paths.push_back(folder + "/" + name);
  const std::vector<Answer> stats = stat_all(session, paths);
  for (size_t i = 0; i < paths.size(); ++i) {
    if (stats[i].code != Code::ok || is_ephemeral(stats[i].stat)) continue;
    if (!is_ours(zk::name_of(paths[i]))) throw not_ours("cannot delete " + zk::parent_of(folder), paths[i]);
    left.push_back(paths[i]);
  }
}

// Removes the places and markers that are in no session, as after the restore of a backup. Call it when the queue could
// not be deleted. Returns false if there were none. Throws a Failure for a node below a segment that is not zklock's.
bool remove_leftovers(zk::Session& session, const QueueLayout& layout) {
  Nodes left;
  remove_left(session, layout.pushing(), is_token, left);
  const auto is_place = [](std::string_view name) { return parse_contender(name).has_value(); };
  remove_left(session, layout.waiting(), is_place, left);
  for (const std::string& folder : {layout.items(), layout.dead()}) {
    for (const Segment& segment : segments_in(folder, session.synced_children(folder))) {
      const std::string path = segment_path(folder, segment);
      for (const std::string& name : session.children(path).names) {
        if (!item_number(name)) throw not_ours("cannot delete " + layout.queue, path + "/" + name);
      }
    }
  }
  const std::vector<Answer> answers = remove_all(session, left);
  session.check_alive();
  return std::ranges::any_of(answers, [](const Answer& answer) { return answer.code == Code::ok; });
}

// Returns no steps if there is no queue. Throws a Failure if a node below it is not zklock's.
std::vector<Step> steps_to_delete(zk::Session& session, const QueueLayout& layout) {
  const std::string tried = "cannot delete " + layout.queue;
  const Nodes folders{layout.queue, layout.items(), layout.dead()};
  const FoundQueue queue = look_at_queue(session, layout, folders, tried);
  std::vector<Step> steps;
  if (!queue.exists) return steps;
  const auto take = [&](const std::string& path, bool ours) {
    if (!ours) throw not_ours(tried, path);
    steps.push_back({Step::Kind::remove, path});
  };
  for (size_t i = folders.size(); i-- > 0;) {
    const std::string& folder = folders[i];
    const Answer& list = queue.lists[i];
    if (list.code != Code::ok && list.code != Code::no_node) throw zk::failure_of("cannot list " + folder, list);
    for (const std::string& name : list.names) {
      const std::string path = folder + "/" + name;
      take(path, i > 0 ? parse_segment(name).has_value() : contains(layout.folders(), path));
    }
  }
  take(layout.queue, true);
  return steps;
}

}  // namespace

void purge_queue(zk::Session& session, const QueueLayout& layout, const FoundQueue& found, bool dead, Purged& purged) {
  const std::string folder = layout.folder(dead);
  for (const Segment& segment : segments_in(folder, found.lists[dead ? 1 : 0])) {
    const Nodes paths = list_items(session, folder, segment);
    Nodes reasons;
    if (dead) std::ranges::transform(paths, std::back_inserter(reasons), why_of);
    remove_all(session, reasons);
    Nodes stuck;
    const std::vector<Answer> answers = remove_all(session, paths);
    for (const Answer& answer : answers) purged.removed += answer.code == Code::ok ? 1 : 0;
    for (size_t i = 0; i < paths.size(); ++i) {
      if (answers[i].code == Code::not_empty) stuck.push_back(paths[i]);
      if (answers[i].code == Code::expired) throw zk::SessionOver(kChanging);
      if (answers[i].code == Code::no_auth) throw zk::failure_of(fmt::format("cannot purge {}", folder), answers[i]);
    }
    purge_stuck(session, stuck, purged);
    // No consumer removes a segment of dead letters, which are never sealed. One that needs it makes it again.
    if (dead) session.ask([&](zk::Client& client) { return client.remove(segment_path(folder, segment)); });
    // Any client that finds a sealed segment without items removes it.
    const Answer rest = session.exists(segment_path(folder, segment));
    if (rest.code != Code::ok) continue;
    session.ready();
    if (const zk::Call removed = remove_if_done(session, segment_path(folder, segment), rest.stat)) {
      session.await(removed);
    }
  }
}

bool delete_queue(zk::Session& session, const QueueLayout& layout) {
  for (Rounds rounds("cannot delete " + layout.queue);; rounds.next()) {
    const std::vector<Step> steps = steps_to_delete(session, layout);
    if (steps.empty()) return true;
    const Answer removed = session.transact(steps);
    if (removed.code == Code::ok) return true;
    if (removed.code == Code::not_empty && !remove_leftovers(session, layout)) return false;
    // Our transaction was done and its answer lost, or another client deleted it, or some of its nodes are gone.
    if (!is_overtaken(removed.code)) throw zk::failure_of(fmt::format("cannot delete {}", layout.queue), removed);
  }
}

}  // namespace zklock::recipe
