// SPDX-License-Identifier: Apache-2.0
// Chooses the modules by which libc looks up users and hosts, normally those that nsswitch.conf(5) names. A static
// program contains libc's own modules for files and for DNS. It would load others together with a second libc, and
// crash.
#pragma once

namespace zklock::host {

// Makes libc use only the modules inside the program, whatever nsswitch.conf says. A static program must call this
// before it looks anything up.
void keep_to_own_lookup_modules();

// Returns whether that was called. If so, there may be names that only other modules know.
bool keeps_to_own_lookup_modules();

}  // namespace zklock::host
