// SPDX-License-Identifier: Apache-2.0
// The guard's own life: a small process between zklock and its command. The command is the guard's child, and the
// guard is a subreaper, so the command's whole tree is known to it. It attends to zklock's orders, reports how the
// command ends, and kills the tree at once if zklock dies while the command runs. Never returns.
#pragma once

#include "host/fd.h"
#include "host/guard_page.h"
#include "host/inherited.h"
#include "host/program.h"

namespace zklock::host {

[[noreturn]] void be_guard(Fd channel, GuardPage& page, const Program& program, const Inherited& inherited) noexcept;

}  // namespace zklock::host
