// SPDX-License-Identifier: Apache-2.0
// A control group (version 2) for a command and all that it starts. It is below the caller's own group, so it keeps the
// limits and the systemd unit of that. One write kills all its processes, however fast they fork, and whatever user
// they run as. A group needs kernel 5.14 and the right to make one: that of root, which it rarely has in containers, of
// a process in user@.service, or by delegation. Otherwise there simply is none.
#pragma once

#include "host/fd.h"

#include <string>

namespace zklock::host {

class ControlGroup {
 public:
  // No group.
  ControlGroup() = default;
  // Stands for a group that exists, existed or will exist. Does nothing yet.
  explicit ControlGroup(std::string folder) : folder_(std::move(folder)) {}

  // Returns a folder at which the caller could make a group of its own; "" if it can have none.
  static std::string new_folder();

  // Makes the group, and removes groups beside it whose makers were killed. Returns false if that is not possible; then
  // this object has no group.
  bool make();
  // A descriptor to be given to clone3, open from make() to close_for_spawning(); -1: none.
  int fd() const { return opened_.get(); }
  // A descriptor that remains open until remove(); -1: none.
  int kill_fd() const { return kill_.get(); }
  // Closes fd(), so that no child can be spawned into the group. It can still be killed and removed.
  void close_for_spawning() { opened_ = Fd(); }

  // Kills all processes in the group and in the groups below it. No child may be spawned into it afterwards, because
  // some kernels would kill that too.
  void kill();
  // Moves the processes that live in the group to the group above, and removes it. Does nothing if there is none.
  void remove();

 private:
  std::string folder_;
  Fd opened_;
  Fd kill_;
};

}  // namespace zklock::host
