// SPDX-License-Identifier: Apache-2.0
#include "host/system_error.h"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace zklock::host {

Failure system_error(std::string_view what) {
  const char* hint = errno == EMFILE ? ", see ulimit -n" : "";
  return {ExitStatus::internal, fmt::format("{}: {}{}", what, std::strerror(errno), hint)};
}

}  // namespace zklock::host
