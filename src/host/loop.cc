// SPDX-License-Identifier: Apache-2.0
#include "host/loop.h"

#include "host/system_error.h"

#include <algorithm>
#include <cerrno>

namespace zklock::host {

void PollSet::watch(int fd, short events) {
  entries_.push_back({fd, events, 0});
}

void PollSet::wake_at(Deadline moment) {
  wake_ = std::min(wake_, moment);
}

short PollSet::seen(int fd) const {
  for (const pollfd& entry : entries_) {
    if (entry.fd == fd) return entry.revents;
  }
  return 0;
}

void Loop::remove(Source& source) {
  std::erase(sources_, &source);
}

void Loop::turn(Deadline until) {
  PollSet set;
  set.wake_at(until);
  for (Source* source : sources_) source->arm(set);

  timer_.set(set.wake_);
  set.watch(timer_.fd(), POLLIN);
  const int found = ::poll(set.entries_.data(), set.entries_.size(), -1);
  if (found < 0 && errno != EINTR) throw system_error("cannot wait for events");

  // A source may leave the loop while it or another decides.
  const std::vector<Source*> present = sources_;
  for (Source* source : present) source->record(set);
  for (Source* source : present) {
    if (std::find(sources_.begin(), sources_.end(), source) != sources_.end()) source->decide();
  }
}

}  // namespace zklock::host
