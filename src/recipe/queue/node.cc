// SPDX-License-Identifier: Apache-2.0
#include "recipe/queue/node.h"

#include "recipe/use.h"

#include <fmt/format.h>

namespace zklock::recipe {

using zk::Answer;
using zk::Code;

namespace {

Failure refusal(std::string_view data, std::string_view tried) {
  const bool newer = data.starts_with(kAnyQueueFormat);
  return {
      ExitStatus::bad_data,
      fmt::format("{}: {}", tried,
                  newer ? "the queue was made by another version of zklock, which keeps it differently"
                        : "the path is in use, but not as a queue; choose another, or delete it if nobody needs it")};
}

}  // namespace

bool is_mark_of_queue(const Answer& read) {
  return read.code == Code::no_auth || read.data.starts_with(kAnyQueueFormat);
}

QueueState look_at_queue(zk::Session& session, const QueueLayout& layout, std::string_view tried, Deadline until) {
  for (;;) {
    session.ready(until);
    // One that was made through another server is not missed.
    const zk::Call synced = session.client().sync(layout.queue);
    const zk::Call read = session.client().read(layout.queue);
    const Answer sync = session.await(synced, until);
    const Answer answer = session.await(read, until);
    if (sync.code == Code::unknown || answer.code == Code::unknown) continue;
    if (answer.code == Code::expired) return QueueState::expired;
    if (answer.code == Code::no_node) return QueueState::absent;
    if (answer.code != Code::ok) throw zk::failure_of(tried, answer);
    if (answer.data == kQueueFormat) return QueueState::there;
    throw refusal(answer.data, tried);
  }
}

QueueState make_queue(zk::Session& session, const QueueLayout& layout, std::string_view tried, Deadline until) {
  check_names(session, layout.queue, tried, until);
  for (;;) {
    const QueueState state = look_at_queue(session, layout, tried, until);
    if (state != QueueState::absent) return state;
    check_site(session, layout.queue, tried, until);
    session.ready(until);
    const Answer made = session.await(session.client().transact(steps_to_make(layout)), until);
    switch (made.code) {
      case Code::ok:
        return QueueState::there;
      case Code::expired:
        return QueueState::expired;
      case Code::unknown:
      case Code::node_exists:
        continue;
      case Code::no_node:
        session.make_parents(layout.queue, until);
        continue;
      case Code::not_empty:
      case Code::bad_version:
      case Code::childless:
      case Code::no_auth:
      case Code::unsupported:
      case Code::other:
        throw zk::failure_of(tried, made);
    }
  }
}

}  // namespace zklock::recipe
