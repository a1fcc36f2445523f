// SPDX-License-Identifier: Apache-2.0
// A control group (version 2) for a command and all that it starts, below the caller's own one, whose limits and
// systemd unit they so keep. All in it can be killed by one write, however fast they fork, and whoever they run as.
// There is one only where the kernel has it (5.14) and the caller may make it: root outside of most containers,
// user@.service, delegation. Where not, there simply is none.
#pragma once

#include "host/fd.h"

#include <string>

namespace zklock::host {

class ControlGroup {
 public:
  // None.
  ControlGroup() = default;
  // One that is, was or will be there. Nothing is done yet.
  explicit ControlGroup(std::string folder) : folder_(std::move(folder)) {}

  // Where the caller could have one that nobody else has; "" where it can have none.
  static std::string new_folder();

  // Makes it, and removes those beside it whose makers were killed; false, and it is none, where that cannot be.
  bool make();
  // From make() on, to be given to clone3; -1: none.
  int fd() const { return opened_.get(); }
  // What remains open until remove(); -1: none.
  int kill_fd() const { return kill_.get(); }
  // No child is spawned into it any more; it can still be killed and removed.
  void close_for_spawning() { opened_ = Fd(); }

  // Ends all in it, and in those below. Nobody is spawned into it afterwards: some kernels would kill them too.
  void kill();
  // What lives in it goes on in the one above, and it is gone. Harmless if there is none.
  void remove();

 private:
  std::string folder_;
  Fd opened_;
  Fd kill_;
};

}  // namespace zklock::host
