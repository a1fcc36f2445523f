// SPDX-License-Identifier: Apache-2.0
#include "recipe/queue/requeue.h"

#include "base/text.h"
#include "recipe/queue/survey.h"
#include "recipe/queue/tail.h"

#include <algorithm>

#include <fmt/format.h>

namespace zklock::recipe {

using zk::Answer;
using zk::Code;
using zk::CreateMode;
using zk::Step;

namespace {

// Moves one dead item to the end of the items of its priority.
class Return {
 public:
  Return(zk::Session& session, const QueueLayout& layout, int priority)
      : session_(session),
        folder_(layout.items()),
        tried_(fmt::format("cannot requeue to {}", layout.queue)),
        tail_(session, folder_, priority, tried_) {}

  // False if somebody else has moved or removed it.
  bool move(const std::string& dead, Deadline until);

 private:
  void check_children(const std::string& dead, Deadline until);
  std::vector<Step> steps(const std::string& dead, const Answer& item) const;

  zk::Session& session_;
  std::string folder_;
  std::string tried_;
  QueueTail tail_;
  bool found_ = false;
};

std::vector<Step> Return::steps(const std::string& dead, const Answer& item) const {
  std::vector<Step> steps = {
      {Step::Kind::check, tail_.path(), "", 0},
      {Step::Kind::create, tail_.path() + "/" + tail_.token() + "-", item.data, -1, CreateMode::persistent_sequential}};
  if (item.stat.children > 0) steps.push_back({Step::Kind::remove, why_of(dead)});
  steps.push_back({Step::Kind::remove, dead});
  if (tail_.is_filled_by(1)) std::ranges::copy(steps_to_seal(folder_, tail_.segment()), std::back_inserter(steps));
  return steps;
}

// Else it could never be moved.
void Return::check_children(const std::string& dead, Deadline until) {
  for (const std::string& name : session_.children(dead, until).names) {
    const std::string child = dead + "/" + name;
    if (child == why_of(dead)) continue;
    throw Failure(ExitStatus::bad_data,
                  fmt::format("{}: {} is not zklock's; remove that first", tried_, printable(child)));
  }
  session_.ready(until);
}

bool Return::move(const std::string& dead, Deadline until) {
  for (bool doubtful = false;;) {
    const Answer item = session_.read(dead, until);
    // The answer that was lost was that it is done.
    if (item.code == Code::no_node) return doubtful;
    if (item.code == Code::ok && !found_) found_ = tail_.find(until);
    session_.ready(until);
    if (session_.expired()) throw zk::expired(tried_);
    if (item.code != Code::ok) throw zk::failure_of(tried_, item);
    if (item.stat.children > 0) check_children(dead, until);
    const Answer moved = session_.await(session_.client().transact(steps(dead, item)), until);
    switch (moved.code) {
      case Code::ok:
        if (tail_.is_filled_by(1)) {
          tail_.advance();
        } else {
          tail_.count(1);
        }
        return true;
      case Code::unknown:
        doubtful = true;
        [[fallthrough]];
      case Code::no_node:
      case Code::not_empty:
      case Code::node_exists:
      case Code::bad_version:
        // Behind a sync, so that what is read next is not older than what was done.
        found_ = tail_.find(until);
        continue;
      case Code::expired:
      case Code::childless:
      case Code::no_auth:
      case Code::unsupported:
      case Code::other:
        throw zk::failure_of(tried_, moved);
    }
  }
}

}  // namespace

int64_t requeue(zk::Session& session, const QueueLayout& layout, std::set<std::string>& ids, Deadline until) {
  int64_t moved = 0;
  const bool all = ids.empty();
  for (const Segment& segment : list_segments(session, layout.dead(), until)) {
    Return back(session, layout, segment.priority);
    for (const std::string& name : list_items(session, layout.dead(), segment, until)) {
      if (!all && ids.erase(name) == 0) continue;
      if (back.move(item_path(layout.dead(), segment, name), until)) ++moved;
    }
  }
  return moved;
}

}  // namespace zklock::recipe
