// SPDX-License-Identifier: Apache-2.0
#include "command/lock/locks.h"
#include "host/notify.h"

#include <utility>

#include <fmt/format.h>

namespace zklock::command {

namespace {

using namespace std::chrono_literals;

constexpr Duration kFirstLook = 1s;  // a shorter wait is not worth a line
constexpr Duration kEveryLook = 2s;  // two reads each, for one person at a terminal

}  // namespace

WaitReport::WaitReport(const Console& console, std::string names, bool any)
    : console_(console), names_(std::move(names)), any_(any) {
  if (console_.verbose()) next_look_ = began_;
  if (watched_) next_look_ = began_ + kFirstLook;
  tell_manager("waiting for " + names_);
}

void WaitReport::on_holder(const recipe::Holder& holder) {
  next_look_ = watched_ ? deadline_in(kEveryLook) : kNever;
  const std::string any = holder.among > 1 ? fmt::format("one of {} locks, ", holder.among) : "";
  std::string text = fmt::format("waiting for {}{}: {}", any, holder.path, describe_holder(holder));
  if (holder.before > 1) text += fmt::format(", {} before us", holder.before);
  watched_ ? status_.show("zklock: " + text) : say(text);
}

bool WaitReport::on_predecessor(const std::string& data) {
  const bool one = !any_ && !data.empty();
  tell_manager(one ? "standby behind " + describe_note(data) : "waiting for " + names_);
  return false;
}

void WaitReport::on_start_again(bool expired) {
  status_.wipe();
  console_.detail(expired ? "the session expired while waiting; taking a new place in line"
                          : "a lock was lost while waiting for another; taking all of them again");
}

void WaitReport::end(const std::string& names, bool held) {
  status_.wipe();
  next_look_ = kNever;
  if (held) console_.detail(fmt::format("took {} after {}", names, format_duration(BootClock::now() - began_)));
}

void WaitReport::tell_manager(const std::string& text) {
  if (text != told_) host::notify_status(text);
  told_ = text;
}

}  // namespace zklock::command
