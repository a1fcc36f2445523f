// SPDX-License-Identifier: Apache-2.0
// The one exception type: this run of zklock is over. Thrown anywhere, caught in main.cc only (elsewhere a catch may
// clean up and must rethrow; --restart goes on after a loss, group join lets its command run on, queue pull --follow
// ends well by TERM, the probe of health reports what fails, and complete-path says nothing). What a caller can decide
// on is a return value, not a Failure.
#pragma once

#include "base/exit_status.h"

#include <exception>
#include <string>
#include <utility>

namespace zklock {

class Failure : public std::exception {
 public:
  // `text` is one line without the leading "zklock: ": what was tried, on what, why it failed.
  Failure(ExitStatus status, std::string text) : status_(status), text_(std::move(text)) {}

  // Ended by a signal: zklock cleans up, prints nothing and dies of the same signal.
  static Failure by_signal(int signal) {
    Failure failure(ExitStatus::internal, "");
    failure.signal_ = signal;
    return failure;
  }

  ExitStatus status() const { return status_; }
  const std::string& text() const { return text_; }
  int signal() const { return signal_; }  // 0: not ended by a signal
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  ExitStatus status_;
  std::string text_;
  int signal_ = 0;
};

}  // namespace zklock
