// SPDX-License-Identifier: Apache-2.0
#include "command/lock/waiting.h"

#include "command/child/note.h"
#include "host/terminal.h"

#include <fmt/format.h>

namespace zklock::command {

namespace {

using namespace std::chrono_literals;

constexpr Duration kFirstLook = 1s;  // a shorter wait is not worth a line
constexpr Duration kEveryLook = 2s;  // two reads each, for one person at a terminal

}  // namespace

Waiting::Waiting(std::string path, bool verbose)
    : path_(std::move(path)), verbose_(verbose), watched_(host::is_watched()) {
  if (verbose_) next_look_ = began_;
  if (watched_) next_look_ = began_ + kFirstLook;
}

void Waiting::on_holder(const recipe::Holder& holder) {
  next_look_ = watched_ ? deadline_in(kEveryLook) : kNever;
  std::string line = fmt::format("zklock: waiting for {}: {}", holder.path, describe_holder(holder));
  if (holder.before > 1) line += fmt::format(", {} before us", holder.before);
  watched_ ? status_.show(line) : host::remark(line + "\n");
}

void Waiting::on_start_again(recipe::Outcome why) {
  status_.wipe();
  if (!verbose_) return;
  host::remark(why == recipe::Outcome::expired
                   ? "zklock: the session expired while waiting; taking a new place in line\n"
                   : "zklock: a lock was lost while waiting for another; taking all of them again\n");
}

void Waiting::end(bool held) {
  status_.wipe();
  next_look_ = kNever;
  if (verbose_ && held) {
    host::remark(fmt::format("zklock: took {} after {}\n", path_, format_duration(BootClock::now() - began_)));
  }
}

}  // namespace zklock::command
