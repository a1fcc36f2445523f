// SPDX-License-Identifier: Apache-2.0
#include "recipe/queue/tail.h"

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
      return true;
    }
    if (!open(last ? last->next() : Segment{segment_.priority, 0}, list.stat.version, until)) return false;
  }
}

// The folder's version proves that nobody was here since the list: else a segment of that number could have been
// made, filled and emptied since, and a later one be there already.
bool QueueTail::open(const Segment& segment, int folder_version, Deadline until) {
  if (!parse_segment(segment.name())) {
    throw Failure(ExitStatus::internal,
                  fmt::format("{}: the numbers of segments below {} are used up; use another queue", tried_, folder_));
  }
  session_.ready(until);
  const Answer made = session_.await(session_.client().transact({{Step::Kind::write, folder_, "", folder_version},
                                                                 {Step::Kind::create, segment_path(folder_, segment)}}),
                                     until);
  switch (made.code) {
    case Code::ok:
    case Code::unknown:
    case Code::node_exists:
    case Code::bad_version:
    case Code::no_node:
      return true;
    case Code::expired:
      return false;
    case Code::not_empty:
    case Code::childless:
    case Code::no_auth:
    case Code::unsupported:
    case Code::other:
      break;
  }
  throw zk::failure_of(tried_, made);
}

void QueueTail::advance() {
  segment_ = segment_.next();
  token_ = make_token();
  made_ = 0;
}

}  // namespace zklock::recipe
