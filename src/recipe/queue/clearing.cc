// SPDX-License-Identifier: Apache-2.0
#include "base/contains.h"
#include "base/rounds.h"
#include "recipe/names.h"
#include "recipe/queue/awaited.h"
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

// Sends the removal of an item, which its push counts if that is awaited.
zk::Call send_removal(zk::Client& client, const QueueLayout& layout, const std::string& item) {
  std::vector<Step> steps{{Step::Kind::remove, item}};
  put_count(layout, item, Count::purged, steps);
  return steps.size() == 1 ? client.remove(item) : client.transact(steps);
}

// Removes nodes: items, or dead letters and what lies below them. No push counts its letters again.
std::vector<Answer> remove_nodes(zk::Session& session, const QueueLayout& layout, const Nodes& nodes, bool dead) {
  if (dead) return remove_all(session, nodes);
  std::vector<zk::Session::Send> removals;
  for (const std::string& item : nodes) {
    removals.emplace_back([&](zk::Client& client) { return send_removal(client, layout, item); });
  }
  std::vector<Answer> answers = zk::change_all(session, removals);
  // What is missing may be the counter.
  Nodes uncounted;
  std::vector<size_t> indices;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (answers[i].code != Code::no_node || push_of(nodes[i]).empty()) continue;
    uncounted.push_back(nodes[i]);
    indices.push_back(i);
  }
  const std::vector<Answer> rest = remove_all(session, uncounted);
  for (size_t i = 0; i < rest.size(); ++i) answers[indices[i]] = rest[i];
  return answers;
}

// Handles the items that could not be removed: removes those whose claims are in no session, and counts the others.
// Returns how many are left.
int64_t purge_stuck(zk::Session& session, const QueueLayout& layout, const Nodes& stuck, bool dead, Purged& purged) {
  const auto left = [&] { return purged.in_work + static_cast<int64_t>(purged.foreign.size()); };
  const int64_t left_before = left();
  const std::vector<Answer> looks = stat_all(session, claims_of(stuck));
  for (size_t i = 0; i < stuck.size(); ++i) {
    if (looks[i].code == Code::ok && is_ephemeral(looks[i].stat)) {
      ++purged.in_work;
      continue;
    }
    if (looks[i].code == Code::ok) remove_left_claim(session, stuck[i], looks[i].stat);
    const Code removed = remove_nodes(session, layout, {stuck[i]}, dead).front().code;
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

void purge_segment(zk::Session& session, const QueueLayout& layout, const SegmentWalk::Listed& segment, bool dead,
                   Purged& purged) {
  Nodes nodes;
  for (const std::string& path : segment.items) {
    if (dead) nodes.push_back(why_of(path));
    nodes.push_back(path);
  }
  const std::vector<Answer> answers = remove_nodes(session, layout, nodes, dead);
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
  remove_emptied(session, segment, purge_stuck(session, layout, stuck, dead, purged), dead);
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
        if (!parse_item(name)) throw not_ours("cannot delete " + layout.queue, path + "/" + name);
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

bool has_awaited(const QueueLayout& layout, const FoundQueue& found) {
  return contains(found.lists.back().names, zk::name_of(layout.awaited()));
}

// If there are awaited pushes, the steps only mark the queue, and delete everything through which a client can push.
// Throws a Failure if a node below the queue is not zklock's.
std::vector<Step> steps_to_delete(const QueueLayout& layout, const FoundQueue& found, const std::string& tried) {
  const Nodes folders = folders_to_delete(layout);
  std::vector<Step> steps;
  for (size_t i = 0; i < folders.size(); ++i) {
    const Answer& list = found.lists[i];
    if (list.code != Code::ok && list.code != Code::no_node) throw zk::failure_of("cannot list " + folders[i], list);
    for (const std::string& name : list.names) {
      const std::string path = folders[i] + "/" + name;
      const bool known = path == layout.awaited() || contains(layout.folders(), path);
      const bool ours = folders[i] == layout.queue ? known : parse_segment(name).has_value();
      if (!ours) throw not_ours(tried, path);
      if (path != layout.awaited()) steps.push_back({Step::Kind::remove, path});
    }
  }
  const bool leaves = has_awaited(layout, found);
  if (leaves) steps.push_back({Step::Kind::write, layout.queue, std::string(kLeavingQueue)});
  if (!leaves) steps.push_back({Step::Kind::remove, layout.queue});
  return steps;
}

// Deletes nodes below which there is nothing of zklock's. Throws a Failure if something else is (65), or if one may not
// be deleted.
void remove_own(zk::Session& session, const Nodes& nodes, const std::string& tried) {
  const std::vector<Answer> answers = remove_all(session, nodes);
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Code code = answers[i].code;
    if (code == Code::expired) throw zk::SessionOver(tried);
    const Nodes below = code == Code::not_empty ? session.children(nodes[i]).names : Nodes();
    // What is zklock's was still to be deleted, so the caller looks again.
    if (!below.empty() && !is_token(below.front())) throw not_ours(tried, nodes[i] + "/" + below.front());
    if (code != Code::ok && code != Code::no_node && code != Code::not_empty) throw zk::failure_of(tried, answers[i]);
  }
}

// Returns the nodes of all awaited pushes. Throws a Failure (65) if one is not zklock's.
Nodes awaited_pushes(zk::Session& session, const QueueLayout& layout, const std::string& tried) {
  Nodes pushes;
  for (const std::string& name : session.synced_children(layout.awaited()).names) {
    pushes.push_back(layout.awaited_push(name));
    if (!is_token(name)) throw not_ours(tried, pushes.back());
  }
  return pushes;
}

// Deletes the nodes of awaited pushes, which are too many for the transaction that deletes the rest. No client makes
// more, because of the mark. Then the queue can be deleted as one without them.
void remove_awaited(zk::Session& session, const QueueLayout& layout, const std::string& tried) {
  const Nodes pushes = awaited_pushes(session, layout, tried);
  Nodes counters;
  for (const std::string& push : pushes) {
    for (const Count count : kCounts) counters.push_back(counter_of(push, count));
  }
  for (const Nodes& nodes : {counters, pushes, Nodes{layout.awaited()}}) remove_own(session, nodes, tried);
}

}  // namespace

void purge_queue(zk::Session& session, const QueueLayout& layout, const FoundQueue& found, bool dead, Purged& purged) {
  SegmentWalk segments(session, layout.folder(dead), found.lists[dead ? 1 : 0]);
  while (!segments.is_at_end()) {
    const SegmentWalk::Listed segment = segments.next();
    segments.ask_ahead();
    purge_segment(session, layout, segment, dead, purged);
  }
}

bool delete_queue(zk::Session& session, const QueueLayout& layout, FoundQueue found) {
  const std::string tried = "cannot delete " + layout.queue;
  for (Rounds rounds(tried); found.exists; rounds.next()) {
    const bool leaves = has_awaited(layout, found);
    if (leaves && found.mark == PathMark::leaving_queue) {
      remove_awaited(session, layout, tried);
      found = look_at_queue_to_delete(session, layout, folders_to_delete(layout), tried);
      continue;
    }
    if (leaves) awaited_pushes(session, layout, tried);  // before the mark
    const Answer removed = session.transact(steps_to_delete(layout, found, tried));
    if (removed.code == Code::ok && !leaves) return true;
    if (removed.code == Code::not_empty && !remove_leftovers(session, layout)) return false;
    // Our transaction was done and its answer lost, or another client deleted it, or some of its nodes are gone.
    if (removed.code != Code::ok && !is_overtaken(removed.code)) throw zk::failure_of(tried, removed);
    found = look_at_queue_to_delete(session, layout, folders_to_delete(layout), tried);
  }
  return true;
}

}  // namespace zklock::recipe
