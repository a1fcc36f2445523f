// SPDX-License-Identifier: Apache-2.0
#include "host/loop.h"

#include "host/system_error.h"

#include <algorithm>
#include <cerrno>
#include <ctime>

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

  timespec timeout{};
  const bool endless = set.wake_ == kNever;
  if (!endless) {
    const Duration left = left_until(set.wake_);
    timeout.tv_sec = std::chrono::floor<std::chrono::seconds>(left).count();
    timeout.tv_nsec = (left % std::chrono::seconds(1)).count();
  }
  const int found = ::ppoll(set.entries_.data(), set.entries_.size(), endless ? nullptr : &timeout, nullptr);
  if (found < 0 && errno != EINTR) throw system_error("cannot wait for events");

  // A source may leave the loop while it or another decides.
  const std::vector<Source*> present = sources_;
  for (Source* source : present) source->record(set);
  for (Source* source : present) {
    if (std::find(sources_.begin(), sources_.end(), source) != sources_.end()) source->decide();
  }
}

}  // namespace zklock::host
