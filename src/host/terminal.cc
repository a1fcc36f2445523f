// SPDX-License-Identifier: Apache-2.0
#include "host/terminal.h"

#include "base/text.h"
#include "host/colour.h"
#include "host/fd.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string>
#include <sys/stat.h>
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

// After POLLOUT a terminal may have room for one byte only, and others may fill a pipe before we do. O_NONBLOCK is not
// set on what others share: the same, opened once more, is ours alone.
Fd own_error_output() {
  struct stat found {};
  if (!isatty(STDERR_FILENO) && (fstat(STDERR_FILENO, &found) != 0 || !S_ISFIFO(found.st_mode))) return {};
  return Fd(open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

bool takes_something(int fd) {
  pollfd ready{fd, POLLOUT, 0};
  return ::poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT) != 0;
}

// To somebody else's terminal, which we may not open: a byte is what it has room for.
void write_bytewise(std::string_view text) {
  for (; !text.empty() && takes_something(STDERR_FILENO); text.remove_prefix(1)) {
    if (write(STDERR_FILENO, text.data(), 1) != 1) return;
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
  static const Fd own = own_error_output();
  const int fd = own ? own.get() : STDERR_FILENO;
  if (!takes_something(fd)) return;
  const std::string_view piece = text.substr(0, PIPE_BUF);
  if (!own && isatty(STDERR_FILENO)) return write_bytewise(piece);
  static_cast<void>(!write(fd, piece.data(), piece.size()));
}

void say_error(std::string_view text) {
  const Colour colour = colours_on(STDERR_FILENO) == Colours::on ? Colour::red : Colour::none;
  write_all(fmt::format("{} {}\n", in_colour("zklock:", colour), printable(text)));
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
