// SPDX-License-Identifier: Apache-2.0
// SIGCHLD as a descriptor to poll: some child has ended, was stopped or continued. Blocks the signal.
#pragma once

#include "host/fd.h"

namespace zklock::host {

class ChildSignal {
 public:
  ChildSignal();

  int fd() const { return fd_.get(); }
  // Takes what has come. Look at the children afterwards, not before.
  void drain() const;

 private:
  Fd fd_;
};

}  // namespace zklock::host
