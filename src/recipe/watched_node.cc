// SPDX-License-Identifier: Apache-2.0
#include "recipe/watched_node.h"

#include "zk/timing.h"

namespace zklock::recipe {

using zk::Answer;
using zk::Code;

void WatchedNode::look() {
  looked_at_ = BootClock::now();
  // A node that was missing is missing most often.
  for (bool is_missing = synced_ == session_.id() && found_.code == Code::no_node;; is_missing = false) {
    watch_ = std::make_shared<zk::WatchState>();
    Answer answer = is_missing ? session_.exists(path_, watch_) : ask();
    if (aspect_ != Aspect::stat && is_missing && answer.code == Code::ok) continue;
    if (aspect_ != Aspect::stat && !is_missing && answer.code == Code::no_node) {
      // The failed request has set no watch.
      answer = session_.exists(path_, watch_);
      if (answer.code == Code::ok) continue;
    }
    if (answer.code != Code::ok && answer.code != Code::no_node) throw zk::failure_of(tried_, answer);
    found_ = std::move(answer);
    return;
  }
}

// It counts from the sending, so this look takes the place of what is sent each beat anyway. Without a connection, a
// look would wait for one, and the caller could not report that.
Deadline WatchedNode::again() const {
  const bool was_read = exists() && aspect_ != Aspect::stat;
  return was_read || !session_.connected() ? kNever : looked_at_ + zk::beat_of(session_.timeout());
}

// A session never sees an older state than it has seen before, whichever server it moves to. A new session may, so its
// first request follows a sync.
Answer WatchedNode::ask() {
  const auto look = [this](zk::Client& client) {
    switch (aspect_) {
      case Aspect::stat: return client.exists(path_, watch_);
      case Aspect::data: return client.read(path_, watch_);
      case Aspect::children: return client.children(path_, watch_);
    }
    return client.exists(path_, watch_);
  };
  if (synced_ == session_.id()) return session_.ask(look);
  const auto sync = [this](zk::Client& client) { return client.sync(path_); };
  Answer answer = session_.ask_both(sync, look).second;
  synced_ = session_.id();
  return answer;
}

}  // namespace zklock::recipe
