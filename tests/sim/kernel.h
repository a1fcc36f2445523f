// SPDX-License-Identifier: Apache-2.0
// The simulated kernel's side of descriptors. kernel.cc defines functions of libc, so that everything in this program
// (zklock, the C library, libstdc++) calls those. For a simulated process they act on virtual time and on simulated
// descriptors; everything else is passed on to the real kernel.
#pragma once

#include "process.h"

#include <memory>

namespace zklock::sim {

// A new descriptor of the current process.
int add_file(const std::shared_ptr<File>& file);

// CPU time of this program, in seconds; the simulated one stands still while the real one runs.
double cpu_seconds();

}  // namespace zklock::sim
