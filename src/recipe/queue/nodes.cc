// SPDX-License-Identifier: Apache-2.0
#include "recipe/queue/nodes.h"

#include "recipe/use.h"

#include <iterator>
#include <optional>

#include <fmt/format.h>

namespace zklock::recipe {

using zk::Answer;
using zk::Code;
using zk::Step;

namespace {

std::optional<Segment> last_of(const std::vector<std::string>& names, int priority) {
  std::optional<Segment> last;
  for (const Segment& segment : segments_of(names)) {
    if (segment.priority == priority) last = segment;
  }
  return last;
}

}  // namespace

QueueState look_at_queue(zk::Session& session, const QueueLayout& layout, std::string_view tried, Deadline until) {
  // One that was made through another server is not missed.
  const Answer answer = session.synced_read(layout.queue, until);
  if (answer.code == Code::expired) return QueueState::expired;
  if (answer.code == Code::no_node) return QueueState::absent;
  if (answer.code != Code::ok) throw zk::failure_of(tried, answer);
  check_mark(mark_of(answer.data), PathUse::queue, tried);
  return QueueState::there;
}

QueueState make_queue(zk::Session& session, const QueueLayout& layout, std::string_view tried, Deadline until) {
  check_site_by_name(session, layout.queue, tried, until);
  for (;;) {
    const QueueState state = look_at_queue(session, layout, tried, until);
    if (state != QueueState::absent) return state;
    check_site(session, layout.queue, tried, until);
    session.ready(until);
    const Answer made = session.await(session.client().transact(steps_to_make(layout)), until);
    if (made.code == Code::ok) return QueueState::there;
    if (!is_overtaken(made.code)) throw zk::failure_of(tried, made);
    if (made.code == Code::no_node) session.make_parents(layout.queue, until);
  }
}

bool is_overtaken(Code code) {
  return code == Code::no_node || code == Code::node_exists || code == Code::not_empty || code == Code::bad_version ||
         code == Code::unknown || code == Code::expired;
}

void remove_if_done(zk::Session& session, const std::string& segment, const zk::Stat& stat, Deadline until) {
  if (!is_sealed(stat) || stat.children > 0) return;
  session.ready(until);
  session.await(session.client().transact({{Step::Kind::remove, segment, "", stat.version}}), until);
}

bool QueueTail::find(Deadline until) {
  for (;;) {
    const Answer list = session_.synced_children(folder_, until);
    if (list.code == Code::expired) return false;
    if (list.code == Code::no_node) {
      throw Failure(ExitStatus::bad_data, fmt::format("{}: the queue was deleted meanwhile", tried_));
    }
    if (list.code != Code::ok) throw zk::failure_of(tried_, list);
    const auto last = last_of(list.names, segment_.priority);
    const Answer stat = last ? session_.exists(segment_path(folder_, *last), until) : Answer();
    if (stat.code == Code::expired) return false;
    if (stat.code == Code::no_node) continue;
    if (stat.code != Code::ok) throw zk::failure_of(tried_, stat);
    if (last && !is_sealed(stat.stat)) {
      if (segment_ != *last) token_ = make_token();
      segment_ = *last;
      made_ = made_in(stat.stat);
      return found_ = true;
    }
    open(last ? last->next() : Segment{segment_.priority, 0}, list.stat.version, until);
  }
}

// The folder's version proves that nobody was here since the list: else a segment of that number could have been
// made, filled and emptied since, and a later one be there already.
void QueueTail::open(const Segment& segment, int folder_version, Deadline until) {
  if (!parse_segment(segment.name())) {
    throw Failure(ExitStatus::internal,
                  fmt::format("{}: the numbers of segments below {} are used up; use another queue", tried_, folder_));
  }
  session_.ready(until);
  const Answer made = session_.await(session_.client().transact({{Step::Kind::write, folder_, "", folder_version},
                                                                 {Step::Kind::create, segment_path(folder_, segment)}}),
                                     until);
  if (made.code != Code::ok && !is_overtaken(made.code)) throw zk::failure_of(tried_, made);
}

void QueueTail::put_seal(int64_t items, std::vector<Step>& steps) const {
  if (is_filled_by(items)) std::ranges::move(steps_to_seal(folder_, segment_), std::back_inserter(steps));
}

void QueueTail::count(int64_t items) {
  const bool filled = is_filled_by(items);
  made_ = filled ? 0 : made_ + items;
  if (!filled) return;
  segment_ = segment_.next();
  token_ = make_token();
}

}  // namespace zklock::recipe
