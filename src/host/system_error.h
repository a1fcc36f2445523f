// SPDX-License-Identifier: Apache-2.0
// A system call that cannot fail in a sound process has failed.
#pragma once

#include "base/failure.h"

#include <string_view>

namespace zklock::host {

// "what: the text of errno", exit status 70.
Failure system_error(std::string_view what);

}  // namespace zklock::host
