// SPDX-License-Identifier: Apache-2.0
// Reads /proc as it was when it was first opened. It stays open, because a command that runs as root may unmount it or
// mount another one over it. Its processes must be found all the same.
#pragma once

#include "host/fd.h"

#include <optional>
#include <string>
#include <vector>

namespace zklock::host {

// Returns the descriptor of /proc, which the first call opens and which is never closed; -1, with errno set, if there
// is none. Code that closes unknown descriptors must spare it.
int proc_folder();

// Work like open_to_read() and names_in(), with a `path` below /proc.
Fd open_in_proc(const std::string& path);
std::optional<std::vector<std::string>> names_in_proc(const std::string& path = ".");

// Returns the target of a link below /proc; "" if it cannot be read.
std::string link_in_proc(const std::string& path);

}  // namespace zklock::host
