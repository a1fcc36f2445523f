// SPDX-License-Identifier: Apache-2.0
#include "command/child/guard_trouble.h"

#include "host/terminal.h"

#include <cstring>

#include <fmt/format.h>

namespace zklock::command {

namespace {

using namespace std::chrono_literals;

constexpr Duration kDying = 150ms;  // what the kernel may take to end what was killed in time

}  // namespace

std::string end_of(const std::string& subject, Duration overrun) {
  if (overrun <= kDying) return subject + " was stopped";
  return fmt::format("{} went on for {} past the fence", subject, format_duration(overrun));
}

void GuardTrouble::report() {
  if (const int signal = guard_.take_refused()) {
    host::remark(
        fmt::format("zklock: may not send SIG{} to {}: it runs as another user\n", sigabbrev_np(signal), command_));
  }
  const pid_t stubborn = guard_.stubborn();
  if (stubborn == 0 || stubborn == named_stubborn_) return;
  named_stubborn_ = stubborn;
  host::remark(fmt::format("zklock: process {} does not end; still trying\n", stubborn));
}

}  // namespace zklock::command
