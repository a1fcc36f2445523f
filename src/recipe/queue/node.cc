// SPDX-License-Identifier: Apache-2.0
#include "recipe/queue/node.h"

#include "recipe/use.h"

namespace zklock::recipe {

using zk::Answer;
using zk::Code;

QueueState look_at_queue(zk::Session& session, const QueueLayout& layout, std::string_view tried, Deadline until) {
  // One that was made through another server is not missed.
  const Answer answer = session.synced_read(layout.queue, until);
  if (answer.code == Code::expired) return QueueState::expired;
  if (answer.code == Code::no_node) return QueueState::absent;
  if (answer.code != Code::ok) throw zk::failure_of(tried, answer);
  check_mark(mark_of(answer.data), Use::queue, tried);
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
