// SPDX-License-Identifier: Apache-2.0
#include "command/cli/confirmation.h"

#include "command/cli/options.h"
#include "host/terminal.h"

#include <fmt/format.h>

namespace zklock::command {

void check_can_ask() {
  if (!host::can_ask()) throw usage_error("there is no terminal to ask at: write --yes");
}

void confirm(const std::string& question, const std::string& path) {
  const std::string answer = host::ask(fmt::format("{} [y/N] ", question));
  const bool yes = answer == "y" || answer == "Y" || answer == "yes" || answer == "Yes" || answer == "YES";
  if (!yes) throw Failure(ExitStatus::no, fmt::format("{} was left alone", path));
}

}  // namespace zklock::command
