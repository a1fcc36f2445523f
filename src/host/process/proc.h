// SPDX-License-Identifier: Apache-2.0
// /proc as it was when it was first asked for. It stays open: a command that runs as root may unmount it, or mount
// another one over it, and its processes must be found all the same.
#pragma once

#include "host/fd.h"

#include <optional>
#include <string>
#include <vector>

namespace zklock::host {

// Opened by the first call, and never closed; -1, with errno, where there is none. Who closes what it does not know
// spares this one.
int proc_folder();

// As open_to_read and names_in; `path` is below /proc.
Fd open_in_proc(const std::string& path);
std::optional<std::vector<std::string>> names_in_proc(const std::string& path = ".");

// What a link below /proc says; "" where it cannot be read.
std::string link_in_proc(const std::string& path);

}  // namespace zklock::host
