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
// Returns how many are left.
int64_t purge_stuck(zk::Session& session, const Nodes& stuck, Purged& purged) {
  const auto left = [&] { return purged.in_work + static_cast<int64_t>(purged.foreign.size()); };
  const int64_t left_before = left();
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
  return left() - left_before;
}

// Sends the deletion of a segment of which so many items are left, unless it shows that it must stay. It was listed
// before its items were removed, but one that was sealed then has got no more. A deletion that fails does no harm: a
// segment of dead letters is never sealed, and a consumer that needs it makes it again; any client that finds another
// one empty removes it.
void remove_emptied(zk::Session& session, const SegmentWalk::Listed& segment, int64_t left, bool dead) {
  zk::Stat rest = segment.stat;
  rest.children += static_cast<int32_t>(left) - static_cast<int32_t>(segment.items.size());
  session.ready();
  if (!dead) {
    remove_if_done(session, segment.path, rest);
  } else if (rest.children <= 0) {
    session.client().remove(segment.path);
  }
}

void purge_segment(zk::Session& session, const SegmentWalk::Listed& segment, bool dead, Purged& purged) {
  Nodes nodes;
  for (const std::string& path : segment.items) {
    if (dead) nodes.push_back(why_of(path));
    nodes.push_back(path);
  }
  const std::vector<Answer> answers = remove_all(session, nodes);
  const auto is_item = [dead](size_t i) { return !dead || i % 2 == 1; };
  for (size_t i = 0; i < nodes.size(); ++i) purged.removed += is_item(i) && answers[i].code == Code::ok ? 1 : 0;
  Nodes stuck;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!is_item(i)) continue;
    if (answers[i].code == Code::not_empty) stuck.push_back(nodes[i]);
    if (answers[i].code == Code::expired) throw zk::SessionOver(kChanging);
    if (answers[i].code == Code::no_auth) {
      throw zk::failure_of(fmt::format("cannot purge {}", zk::parent_of(segment.path)), answers[i]);
    }
  }
  remove_emptied(session, segment, purge_stuck(session, stuck, purged), dead);
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

// Returns the nodes whose children steps_to_delete() must know, in the order in which they are deleted.
Nodes folders_to_delete(const QueueLayout& layout) {
  return {layout.items(), layout.dead(), layout.queue};
}

// Throws a Failure if a node below the queue is not zklock's.
std::vector<Step> steps_to_delete(const QueueLayout& layout, const FoundQueue& found, const std::string& tried) {
  const Nodes folders = folders_to_delete(layout);
  std::vector<Step> steps;
  for (size_t i = 0; i < folders.size(); ++i) {
    const Answer& list = found.lists[i];
    if (list.code != Code::ok && list.code != Code::no_node) throw zk::failure_of("cannot list " + folders[i], list);
    for (const std::string& name : list.names) {
      const std::string path = folders[i] + "/" + name;
      const bool ours = folders[i] == layout.queue ? contains(layout.folders(), path) : parse_segment(name).has_value();
      if (!ours) throw not_ours(tried, path);
      steps.push_back({Step::Kind::remove, path});
    }
  }
  steps.push_back({Step::Kind::remove, layout.queue});
  return steps;
}

}  // namespace

void purge_queue(zk::Session& session, const QueueLayout& layout, const FoundQueue& found, bool dead, Purged& purged) {
  SegmentWalk segments(session, layout.folder(dead), found.lists[dead ? 1 : 0]);
  while (!segments.is_at_end()) {
    const SegmentWalk::Listed segment = segments.next();
    segments.ask_ahead();
    purge_segment(session, segment, dead, purged);
  }
}

bool delete_queue(zk::Session& session, const QueueLayout& layout, FoundQueue found) {
  const std::string tried = "cannot delete " + layout.queue;
  for (Rounds rounds(tried); found.exists; rounds.next()) {
    const Answer removed = session.transact(steps_to_delete(layout, found, tried));
    if (removed.code == Code::ok) return true;
    if (removed.code == Code::not_empty && !remove_leftovers(session, layout)) return false;
    // Our transaction was done and its answer lost, or another client deleted it, or some of its nodes are gone.
    if (!is_overtaken(removed.code)) throw zk::failure_of(tried, removed);
    found = look_at_queue(session, layout, folders_to_delete(layout), tried);
  }
  return true;
}

}  // namespace zklock::recipe
