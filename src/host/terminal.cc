// SPDX-License-Identifier: Apache-2.0
#include "host/terminal.h"

#include "host/colour.h"

#include <cerrno>
#include <cstdlib>
#include <limits.h>
#include <poll.h>
#include <string>
#include <unistd.h>

#include <fmt/format.h>

namespace zklock::host {

namespace {

void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno != EINTR) return;
    if (written > 0) text.remove_prefix(static_cast<size_t>(written));
  }
}

// One on which a line can be written over. Without TERM most can.
bool is_screen(int fd) {
  const char* kind = std::getenv("TERM");
  return isatty(fd) && (!kind || std::string_view(kind) != "dumb");
}

}  // namespace

bool is_watched() {
  return is_screen(STDERR_FILENO) && tcgetpgrp(STDERR_FILENO) == getpgrp();
}

bool is_terminal_output() {
  return isatty(STDOUT_FILENO);
}

bool is_screen_output() {
  return is_screen(STDOUT_FILENO);
}

void remark(std::string_view text) {
  pollfd ready{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&ready, 1, 0) != 1 || !(ready.revents & POLLOUT)) return;
  static_cast<void>(!write(STDERR_FILENO, text.data(), text.substr(0, PIPE_BUF).size()));
}

void say_error(std::string_view text) {
  const Colour colour = colours_on(STDERR_FILENO) == Colours::on ? Colour::red : Colour::none;
  write_all(fmt::format("{} {}\n", in_colour("zklock:", colour), text));
}

bool can_ask() {
  return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

std::string ask(std::string_view question) {
  write_all(question);
  std::string answer;
  for (char letter = 0;;) {
    const ssize_t length = read(STDIN_FILENO, &letter, 1);
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) write_all("\n");
    if (length <= 0 || letter == '\n') return answer;
    answer += letter;
  }
}

}  // namespace zklock::host
