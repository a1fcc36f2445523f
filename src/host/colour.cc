// SPDX-License-Identifier: Apache-2.0
#include "host/colour.h"

#include <cstdlib>
#include <unistd.h>

#include <fmt/color.h>

namespace zklock::host {

namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string in_bold(std::string_view text, fmt::terminal_color colour) {
  return fmt::format(fmt::emphasis::bold | fmt::fg(colour), "{}", text);
}

}  // namespace

Colours colours_on(int fd) {
  const std::string_view terminal = variable("TERM");
  const bool wanted = variable("NO_COLOR").empty() && !terminal.empty() && terminal != "dumb";
  return wanted && isatty(fd) ? Colours::on : Colours::off;
}

std::string in_colour(std::string_view text, Colour colour) {
  switch (colour) {
    case Colour::none:
      break;
    case Colour::red:
      return in_bold(text, fmt::terminal_color::red);
    case Colour::yellow:
      return in_bold(text, fmt::terminal_color::yellow);
    case Colour::green:
      return in_bold(text, fmt::terminal_color::green);
  }
  return std::string(text);
}

}  // namespace zklock::host
