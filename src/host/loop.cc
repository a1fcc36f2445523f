// SPDX-License-Identifier: Apache-2.0
#include "host/loop.h"

#include "base/contains.h"

#include <algorithm>
#include <cerrno>
#include <sys/timerfd.h>

namespace zklock::host {

Timer::Timer() : fd_(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)) {
  if (!fd_) throw system_error("cannot make a timer");
}

void Timer::set(Deadline moment) {
  if (moment == moment_) return;
  moment_ = moment;
  itimerspec setting{};  // zero: disarmed
  if (moment != kNever) {
    // Zero would disarm the timer. A moment before the machine's start has the same effect as one just after it.
    const Duration since_boot = std::max(moment.time_since_epoch(), Duration(1));
    setting.it_value.tv_sec = std::chrono::floor<std::chrono::seconds>(since_boot).count();
    setting.it_value.tv_nsec = (since_boot % std::chrono::seconds(1)).count();
  }
  if (timerfd_settime(fd_.get(), TFD_TIMER_ABSTIME, &setting, nullptr) != 0) throw system_error("cannot set a timer");
}

short PollSet::seen(int fd) const {
  for (const pollfd& entry : entries_) {
    if (entry.fd == fd) return entry.revents;
  }
  return 0;
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
    if (contains(sources_, source)) source->decide();
  }
}

}  // namespace zklock::host
