// SPDX-License-Identifier: Apache-2.0
// Reports while a command waits for its lock. At a terminal this is, after a second, one line that is kept up to date
// and wiped at the end. Elsewhere it is one line, only with --verbose. The service manager always learns what we wait
// for, or which contender we stand behind.
#pragma once

#include "command/child/console.h"
#include "host/terminal.h"
#include "recipe/lock/lock.h"

#include <string>

namespace zklock::command {

class WaitReport : public recipe::WaitObserver {
 public:
  // `names`: the locks that are waited for; with `any`, one of them will do.
  WaitReport(const Console& console, std::string names, bool any);

  Deadline next_look() const override { return next_look_; }
  void on_holder(const recipe::Holder& holder) override;
  void on_predecessor(const std::string& data) override;
  void on_start_again(bool expired) override;

  // Wipes the line. If `held`, reports with --verbose that `names` were taken and how long that took.
  void end(const std::string& names, bool held);

 private:
  void tell_manager(const std::string& text);

  const Console& console_;
  std::string names_;
  bool any_;
  bool watched_ = host::is_watched();
  Deadline began_ = BootClock::now();
  Deadline next_look_ = kNever;
  host::StatusLine status_;
  std::string told_;  // the last text for the service manager
};

}  // namespace zklock::command
