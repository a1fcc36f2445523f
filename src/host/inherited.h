// SPDX-License-Identifier: Apache-2.0
// What zklock was started with and the command must get: the signal mask, what happened to SIGCHLD, SIGPIPE and
// SIGXFSZ, and which of the standard descriptors were closed.
#pragma once

#include <csignal>

namespace zklock::host {

struct Inherited {
  sigset_t mask;
  bool ignored_child = false;
  bool ignored_pipe = false;
  bool ignored_file_size = false;
  bool closed[3] = {};  // by descriptor number

  // The first thing in main: records all that and sets it as zklock needs it: standard descriptors open (on
  // /dev/null where they were closed, so that no socket of ours gets the number 2; to read or to write there fails with
  // EBADF), SIGCHLD default (ignored, it would lose exit statuses), SIGPIPE and SIGXFSZ ignored (a write then fails
  // with EPIPE or EFBIG).
  static Inherited take_over();

  // In a new child, between fork and exec: puts everything back.
  void restore() const;
};

}  // namespace zklock::host
