// SPDX-License-Identifier: Apache-2.0
#include "host/terminal.h"

#include "base/text.h"
#include "host/streams.h"

#include <cerrno>
#include <climits>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <fmt/format.h>

namespace zklock::host {

namespace {

constexpr size_t kUsualWidth = 80;
bool remarks_dropped = false;
bool colours_refused = false;

constexpr const char* kWipe = "\r\033[K";

// Returns whether `fd` is a terminal on which a line can be written over. If TERM is not set, most can.
bool is_screen(int fd) {
  return isatty(fd) && environment("TERM") != "dumb";
}

void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno != EINTR) return;
    if (written > 0) text.remove_prefix(static_cast<size_t>(written));
  }
}

// Writes to another user's terminal, which we may not open. It may have room for only one byte at a time.
void write_bytewise(std::string_view text) {
  for (; !text.empty() && (poll_for_output(STDERR_FILENO) & POLLOUT); text.remove_prefix(1)) {
    if (write(STDERR_FILENO, text.data(), 1) != 1) return;
  }
}

}  // namespace

std::string in_colour(std::string_view text, Colour colour) {
  if (colour == Colour::none) return std::string(text);
  return fmt::format("\033[1m\033[{}m{}\033[0m", static_cast<int>(colour), text);
}

void refuse_colours() {
  colours_refused = true;
}

Display display_of(int fd) {
  Display display;
  display.colours =
      !colours_refused && environment("NO_COLOR").empty() && !environment("TERM").empty() && is_screen(fd);
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) display.columns = size.ws_col;
  return display;
}

bool is_watched() {
  return is_screen(STDERR_FILENO) && tcgetpgrp(STDERR_FILENO) == getpgrp();
}

bool is_screen_output() {
  return is_screen(STDOUT_FILENO);
}

void drop_remarks(bool dropped) {
  remarks_dropped = dropped;
}

void remark(std::string_view text) {
  if (remarks_dropped) return;
  // After POLLOUT, a terminal may have room for one byte only, and other processes may fill a pipe before we do.
  static const Fd own =
      isatty(STDERR_FILENO) || type_of(STDERR_FILENO) == S_IFIFO ? open_for_us_alone(STDERR_FILENO) : Fd();
  const int fd = own ? own.get() : STDERR_FILENO;
  if (!(poll_for_output(fd) & POLLOUT)) return;
  const std::string_view piece = text.substr(0, PIPE_BUF);
  if (!own && isatty(STDERR_FILENO)) return write_bytewise(piece);
  static_cast<void>(!write(fd, piece.data(), piece.size()));
}

void say_error(std::string_view text) {
  const Colour colour = display_of(STDERR_FILENO).colours ? Colour::red : Colour::none;
  write_all(fmt::format("{} {}\n", in_colour("zklock:", colour), printable(text)));
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

// The text is cut to one row, because only that can be wiped again.
void StatusLine::show(std::string_view text) {
  const size_t width = display_of(STDERR_FILENO).columns.value_or(0);
  remark(kWipe + shorten(text, (width > 1 ? width : kUsualWidth) - 2));
  shown_ = true;
}

void StatusLine::wipe() {
  if (shown_) remark(kWipe);
  shown_ = false;
}

}  // namespace zklock::host
