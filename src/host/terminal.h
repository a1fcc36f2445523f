// SPDX-License-Identifier: Apache-2.0
// The terminal: what it can show, messages on standard error for people, and what they answer.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>

namespace zklock::host {

enum class Colour { none = 0, red = 31, green = 32, yellow = 33 };  // by their ANSI codes

// Returns `text` in bold and `colour`; unchanged with Colour::none.
std::string in_colour(std::string_view text, Colour colour);

struct Display {
  bool colours = false;                // people want them there (https://no-color.org, TERM)
  std::optional<size_t> columns = {};  // nothing: it is no terminal, or does not report its width
};

// Turns colours off, whatever the terminal can show.
void refuse_colours();

// Returns what the terminal at `fd` can show now. A window may be resized.
Display display_of(int fd);

// Returns whether a person is watching, so that a line can be kept up to date. This is so if standard error is a
// terminal, not a dumb one, and we are its foreground process group.
bool is_watched();

// Returns whether standard output is a terminal.
inline bool is_terminal_output() {
  return isatty(STDOUT_FILENO);
}

// Returns whether standard output is a terminal on which text can be written over, so not a dumb one.
bool is_screen_output();

// Writes to standard error if that takes the text at once, and otherwise drops it. A terminal that was stopped with
// Ctrl-S, or a full pipe, must not hold up the loop. For messages along the way.
void remark(std::string_view text);

// While `dropped` is true, remarks are dropped, because a Screen uses the whole terminal.
void drop_remarks(bool dropped);

// Writes "zklock: text\n" to standard error, with "zklock:" in colour at a terminal. Waits as long as that takes,
// because it is the last output before zklock ends. Control characters are escaped, so it is one line whatever a server
// has put into it.
void say_error(std::string_view text);

// Returns whether standard input and standard error are terminals, so that a person can be asked.
inline bool can_ask() {
  return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

// Writes `question` to standard error and returns the line that is typed then, without its end. At the end of standard
// input, returns what there is. The loop stands still as long as the person thinks, so no session may be open.
std::string ask(std::string_view question);

// One line on standard error, at a terminal, that is kept up to date while something takes long, and wiped at the end.
class StatusLine {
 public:
  StatusLine() = default;
  StatusLine(const StatusLine&) = delete;
  ~StatusLine() { wipe(); }

  // Shows `text` in place of the last one, cut to the terminal's width. Drops it if the terminal does not take it at
  // once.
  void show(std::string_view text);
  void wipe();

 private:
  bool shown_ = false;
};

}  // namespace zklock::host
