// SPDX-License-Identifier: Apache-2.0
#include "recipe/queue/admin.h"

#include "base/text.h"
#include "recipe/queue/survey.h"
#include "zk/batch.h"

#include <fmt/format.h>

namespace zklock::recipe {

using zk::Answer;
using zk::Code;
using zk::Step;

namespace {

using Paths = std::vector<std::string>;

Failure expired() {
  return {ExitStatus::unavailable, "cannot do all of it: the session expired; run it again"};
}

// One segment's items.
Paths paths_in(zk::Session& session, const std::string& folder, const Segment& segment, Deadline until) {
  Paths paths;
  for (const std::string& name : list_items(session, folder, segment, until)) {
    paths.push_back(item_path(folder, segment, name));
  }
  return paths;
}

// Whoever finds a sealed segment without items removes it. It may be gone, or not be empty any more.
void remove_if_done(zk::Session& session, const std::string& segment, Deadline until) {
  const Answer stat = session.exists(segment, until);
  if (stat.code != Code::ok || !is_sealed(stat.stat) || stat.stat.children > 0) return;
  session.ready(until);
  session.await(session.client().transact({{Step::Kind::remove, segment, "", stat.stat.version}}), until);
}

Purged purge(zk::Session& session, const std::string& folder, bool dead, Deadline until) {
  Purged purged;
  for (const Segment& segment : list_segments(session, folder, until)) {
    Paths paths = paths_in(session, folder, segment, until);
    if (dead) {
      Paths reasons;
      for (const std::string& path : paths) reasons.push_back(why_of(path));
      remove_all(session, reasons, until);
    }
    for (const Answer& answer : remove_all(session, paths, until)) {
      if (answer.code == Code::ok) ++purged.removed;
      if (answer.code == Code::not_empty) ++purged.in_work;
      if (answer.code == Code::expired) throw expired();
      if (answer.code == Code::no_auth) throw zk::failure_of(fmt::format("cannot purge {}", folder), answer);
    }
    remove_if_done(session, segment_path(folder, segment), until);
  }
  return purged;
}

Paths children_of(zk::Session& session, const std::string& path, Deadline until) {
  const Answer list = session.synced_children(path, until);
  if (list.code == Code::expired) throw expired();
  if (list.code != Code::ok && list.code != Code::no_node) {
    throw zk::failure_of(fmt::format("cannot list {}", path), list);
  }
  return list.names;
}

// None where there is no queue. What is not ours is not deleted, nor what it is in.
std::vector<Step> steps_to_delete(zk::Session& session, const QueueLayout& layout, Deadline until) {
  std::vector<Step> steps;
  const auto take = [&](const std::string& path, bool ours) {
    if (!ours) {
      throw Failure(ExitStatus::bad_data, fmt::format("cannot delete {}: {} is not zklock's; remove that first",
                                                      layout.queue, printable(path)));
    }
    steps.push_back({Step::Kind::remove, path});
  };
  for (const std::string& name : children_of(session, layout.queue, until)) {
    const std::string folder = layout.queue + "/" + name;
    const bool has_segments = folder == layout.items() || folder == layout.dead();
    if (has_segments) {
      for (const std::string& child : children_of(session, folder, until)) {
        take(folder + "/" + child, parse_segment(child).has_value());
      }
    }
    take(folder, has_segments || folder == layout.pushing() || folder == layout.waiting());
  }
  if (session.exists(layout.queue, until).code == Code::ok) take(layout.queue, true);
  return steps;
}

}  // namespace

Purged purge_items(zk::Session& session, const QueueLayout& layout, Deadline until) {
  return purge(session, layout.items(), false, until);
}

Purged purge_dead(zk::Session& session, const QueueLayout& layout, Deadline until) {
  return purge(session, layout.dead(), true, until);
}

bool delete_queue(zk::Session& session, const QueueLayout& layout, Deadline until) {
  for (;;) {
    const std::vector<Step> steps = steps_to_delete(session, layout, until);
    if (steps.empty()) return true;
    session.ready(until);
    const Answer removed = session.await(session.client().transact(steps), until);
    switch (removed.code) {
      case Code::ok:
        return true;
      case Code::not_empty:
        return false;
      case Code::expired:
        throw expired();
      case Code::unknown:
      case Code::no_node:
        // Done before the answer was lost, or by somebody else, or some of it is gone.
        continue;
      case Code::node_exists:
      case Code::bad_version:
      case Code::childless:
      case Code::no_auth:
      case Code::unsupported:
      case Code::other:
        throw zk::failure_of(fmt::format("cannot delete {}", layout.queue), removed);
    }
  }
}

}  // namespace zklock::recipe
