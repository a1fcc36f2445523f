// SPDX-License-Identifier: Apache-2.0
// The terminal: what it can show, standard error as people see it, and what they answer.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>

namespace zklock::host {

enum class Colour { none = 0, red = 31, green = 32, yellow = 33 };  // by their ANSI codes

enum class Colours { off, on };

// `text` in bold and `colour`; as it is with none.
std::string in_colour(std::string_view text, Colour colour);

struct Display {
  Colours colours = Colours::off;      // whether people want them there: https://no-color.org, TERM
  std::optional<size_t> columns = {};  // nothing: it is no terminal, or does not tell
};

// Nobody wants colours, whatever the terminal can show.
void refuse_colours();

// What the terminal behind `fd` can show now; a window may be resized.
Display display_of(int fd);

// Standard error is a terminal, not a dumb one, and we are its foreground process group: somebody is watching a line
// that is kept up to date.
bool is_watched();

// Standard output is a terminal.
inline bool is_terminal_output() {
  return isatty(STDOUT_FILENO);
}

// The same, and not a dumb one: what stands there can be written over.
bool is_screen_output();

// Writes to standard error if that takes it at once, else drops it: a terminal that was stopped with Ctrl-S or a full
// pipe must not hold up the loop. For what is said along the way.
void remark(std::string_view text);

// While it is, remarks are dropped: the whole terminal is somebody's screen.
void drop_remarks(bool dropped);

// "zklock: text\n" on standard error, its name in colour at a terminal, waiting as long as it takes: the last word
// before zklock ends. One line, whatever a server has put into it: control characters are escaped.
void say_error(std::string_view text);

// Standard input and standard error are terminals: somebody can be asked.
inline bool can_ask() {
  return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

// Writes `question` to standard error and returns the line that is typed then, without its end; what is there when
// standard input ends. Takes as long as the person does, and the loop stands still: not with a session.
std::string ask(std::string_view question);

// One line on standard error, at a terminal, that is kept up to date while something takes long, and wiped in the end.
class StatusLine {
 public:
  StatusLine() = default;
  StatusLine(const StatusLine&) = delete;
  ~StatusLine() { wipe(); }

  // In place of what it showed before, cut to the terminal's width. Dropped if the terminal does not take it at once.
  void show(std::string_view text);
  void wipe();

 private:
  bool shown_ = false;
};

}  // namespace zklock::host
