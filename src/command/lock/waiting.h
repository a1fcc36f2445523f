// SPDX-License-Identifier: Apache-2.0
// What is said while a command waits for its lock: at a terminal, after a second, one line that is kept up to date and
// wiped out at the end; with --verbose elsewhere, once. Else nothing.
#pragma once

#include "host/terminal.h"
#include "recipe/lock/lock.h"

#include <string>

namespace zklock::command {

class Waiting : public recipe::WaitObserver {
 public:
  Waiting(std::string path, bool verbose);

  Deadline next_look() const override { return next_look_; }
  void on_holder(const recipe::Holder& holder) override;
  void on_start_again(recipe::Outcome why) override;

  // Wipes the line; if the lock is ours, says with --verbose how long that took.
  void end(bool held);

 private:
  std::string path_;
  bool verbose_;
  bool watched_;
  Deadline began_ = BootClock::now();
  Deadline next_look_ = kNever;
  host::StatusLine status_;
};

}  // namespace zklock::command
