// SPDX-License-Identifier: Apache-2.0
// One of the jobs of a consumer: a guard, and the item that its command works on, if any.
#pragma once

#include "command/child/attended_command.h"
#include "command/queue/verdict.h"
#include "host/process/guard.h"
#include "recipe/queue/layout.h"

#include <optional>

namespace zklock::command {

class Worker {
 public:
  // Forks its guard.
  Worker(host::Loop& loop, const host::Program& program, const host::Inherited& inherited)
      : guard_(host::Service::again, program, inherited), guarding_(loop, guard_) {}

  // Only when it is free. The command must be dead by `fence`. Where that throws, it stays free.
  void start(const recipe::Item& item, const host::Launch& launch, Deadline fence);

  bool is_free() const { return !item_; }
  // The command itself has ended, in its own way: not by its guard, nor with it.
  bool has_ended() const;
  // After that: the item, once; then it is free, and what the command left behind runs on.
  recipe::Item take_item();
  CommandEnd end() const { return {guard_.wait_status(), guard_.exec_error(), interrupted_, item_in_arguments_}; }
  // How long the command has run.
  Duration age() const { return BootClock::now() - began_; }

  // A signal that zklock got, for the command and its process group.
  void interrupt(int signal);
  // Says what could not be done to the command, once.
  void report_trouble() { trouble_.report(); }

  host::Guard& guard() { return guard_; }
  const host::Guard& guard() const { return guard_; }

 private:
  host::Guard guard_;
  GuardTrouble trouble_{guard_, "a command"};
  host::Attached guarding_;
  std::optional<recipe::Item> item_;
  Deadline began_{};
  bool interrupted_ = false;
  bool item_in_arguments_ = false;
};

}  // namespace zklock::command
