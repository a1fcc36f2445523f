// SPDX-License-Identifier: Apache-2.0
// The guard's own life: a small process between zklock and its command. The command is the guard's child, and the
// guard is a subreaper, so the command's whole tree is known to it. It attends to zklock's orders, reports how the
// command ends, and kills the tree at once if zklock dies while the command runs. One that serves several commands, one
// after the other, takes what an earlier one left behind for part of the tree when it has to kill. Never returns.
#pragma once

#include "host/child_signal.h"
#include "host/process/spawn.h"
#include "host/timer.h"

namespace zklock::host {

// What it waits for. SIGCHLD is that of whoever reads it, so zklock's own descriptor does for the guard too.
struct GuardSenses {
  Fd channel;
  ChildSignal child_signal;
  Timer timer;
};

[[noreturn]] void be_guard(GuardSenses senses, GuardPage& page, Service service, const Program& program,
                           const Inherited& inherited) noexcept;

}  // namespace zklock::host
