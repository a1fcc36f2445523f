// SPDX-License-Identifier: Apache-2.0
// How a command begins its life as the guard's child.
#pragma once

#include "host/inherited.h"
#include "host/process/channel.h"
#include "host/process/guard_page.h"
#include "host/process/program.h"

namespace zklock::host {

// What a guard is made for.
enum class Service {
  once,   // one command, in zklock's process group, with zklock's standard input
  again,  // commands one after the other, each in a process group of its own, with the standard input that comes with
          // its order, else /dev/null
};

// Forks, and returns when the command is executed; -1 with errno where there can be no child. It is born into the
// control group `control_group` (a descriptor, -1: none), or into ours where that is not possible. The child dies when
// the guard does. If it cannot be executed, the page has the reason, and the child ends with 127.
pid_t give_birth(const Order& order, Service service, const Program& program, const Inherited& inherited,
                 GuardPage& page, int control_group);

// From now on the caller, a guard, runs as soon as it has something to do, where it may (root): a command that fills
// all processors, in many sessions, would leave it a small share of them, and the fence is due at its moment. What is
// given birth to is scheduled as the caller was before.
void be_prompt();

// Closes everything from `first` on but `kept`.
void close_all_but(std::initializer_list<int> kept, int first);

// Closes what an exec would close, but `kept`.
void close_private_but(std::initializer_list<int> kept);

}  // namespace zklock::host
