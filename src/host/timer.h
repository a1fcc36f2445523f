// SPDX-License-Identifier: Apache-2.0
// A moment to wake up at, as a descriptor to poll: on the clock that counts suspended time too, which the timeout of
// poll() does not. After a suspend it is readable at once.
#pragma once

#include "base/time.h"
#include "host/fd.h"

namespace zklock::host {

class Timer {
 public:
  Timer();

  // Readable from `moment` on, until it is set again; never with kNever. One system call, none if nothing changes.
  void set(Deadline moment);
  int fd() const { return fd_.get(); }

 private:
  Fd fd_;
  Deadline moment_ = kNever;
};

}  // namespace zklock::host
