// SPDX-License-Identifier: Apache-2.0
#include "command/queue/push_progress.h"

#include "host/terminal.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

namespace zklock::command {

namespace {

using namespace std::chrono_literals;

constexpr Duration kEveryLook = 500ms;

}  // namespace

PushProgress::PushProgress(std::string path, bool watched, bool verbose) : path_(std::move(path)), verbose_(verbose) {
  if (watched) next_look_ = began_ + kEveryLook;
}

void PushProgress::tell(int64_t in, std::optional<double> share) {
  if (BootClock::now() < next_look_) return;
  next_look_ = deadline_in(kEveryLook);
  const std::string percentage = share ? fmt::format(", {}%", static_cast<int>(*share * 100)) : "";
  status_.show(fmt::format("zklock: {} in {}, {}{}", items_are(in), path_, rate(in), percentage));
}

void PushProgress::wipe() {
  status_.wipe();
  next_look_ = kNever;
}

void PushProgress::sum_up(int64_t in) {
  wipe();
  if (!verbose_) return;
  host::remark(fmt::format("zklock: pushed {} item{} to {} in {}, {}\n", in, in == 1 ? "" : "s", path_,
                           format_duration(BootClock::now() - began_), rate(in)));
}

std::string PushProgress::rate(int64_t in) const {
  const double seconds = std::chrono::duration<double>(BootClock::now() - began_).count();
  return fmt::format("{:.0f}/s", static_cast<double>(in) / std::max(seconds, 0.001));
}

std::string items_are(int64_t count) {
  return fmt::format("{} item{}", count, count == 1 ? " is" : "s are");
}

}  // namespace zklock::command
