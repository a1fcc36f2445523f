// SPDX-License-Identifier: Apache-2.0
#include "command/cli/output.h"

#include "base/failure.h"
#include "host/streams.h"
#include "host/terminal.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace zklock::command {

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return;
  // The reader has gone, so zklock ends as quietly as other tools do.
  if (errno == EPIPE) throw Failure::by_signal(SIGPIPE);
  throw Failure(ExitStatus::input_output, fmt::format("cannot write to standard output: {}", std::strerror(errno)));
}

void print(host::Loop& loop, std::string_view text) {
  host::StandardOutput outlet;
  const host::Attached writing(loop, outlet);
  outlet.want(true);
  for (;;) {
    text.remove_prefix(outlet.write(text));
    if (text.empty()) return;
    loop.turn(kNever);
  }
}

std::string json_line(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

void check_can_ask() {
  if (!host::can_ask()) throw Failure(ExitStatus::usage, "there is no terminal to ask at: write --yes");
}

void confirm(const std::string& question, const std::string& path) {
  const std::string answer = host::ask(fmt::format("{} [y/N] ", question));
  const bool yes = answer == "y" || answer == "Y" || answer == "yes" || answer == "Yes" || answer == "YES";
  if (!yes) throw Failure(ExitStatus::no, fmt::format("{} was left alone", path));
}

}  // namespace zklock::command
