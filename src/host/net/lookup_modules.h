// SPDX-License-Identifier: Apache-2.0
// By which modules libc looks users and hosts up: those that nsswitch.conf(5) names. A static program has libc's own
// for files and for DNS inside. Others it would load together with a second libc, and crash.
#pragma once

namespace zklock::host {

// For a static program, before it looks anything up: only what it has inside, whatever nsswitch.conf says.
void keep_to_own_lookup_modules();

// Whether that was called: there may be names that only other modules know.
bool keeps_to_own_lookup_modules();

}  // namespace zklock::host
