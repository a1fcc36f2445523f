// SPDX-License-Identifier: Apache-2.0
// The only exception type: it ends this run of zklock. Any code may throw it, and main.cc reports it. A catch elsewhere
// may clean up or add to the message, and must rethrow. A few places go on instead: `run --restart` after a loss,
// `group join` while its command runs, and `queue pull --follow`, for which TERM is a good end. The probe of `health`
// reports the failure, and `complete` prints nothing. Its one subclass is zk::SessionOver, after which many
// commands go on in another session. A result that a caller can decide on is a return value, not a Failure.
#pragma once

#include "base/exit_status.h"

#include <exception>
#include <string>
#include <utility>

namespace zklock {

class Failure : public std::exception {
 public:
  // `text` is one line without the leading "zklock: ". It says what was tried, on what, and why it failed.
  Failure(ExitStatus status, std::string text) : status_(status), text_(std::move(text)) {}

  // Returns the Failure for an end by a signal: zklock cleans up, prints nothing and dies of the same signal.
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
