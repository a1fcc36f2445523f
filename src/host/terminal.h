// SPDX-License-Identifier: Apache-2.0
// Standard error as people see it, and what they answer.
#pragma once

#include <string>
#include <string_view>

namespace zklock::host {

// Standard error is a terminal, not a dumb one, and we are its foreground process group: somebody is watching a line
// that is kept up to date.
bool is_watched();

// Standard output is a terminal.
bool is_terminal_output();

// The same, and not a dumb one: what stands there can be written over.
bool is_screen_output();

// Writes to standard error if that takes it at once, else drops it: a terminal that was stopped with Ctrl-S or a full
// pipe must not hold up the loop. For what is said along the way.
void remark(std::string_view text);

// "zklock: text\n" on standard error, its name in colour at a terminal, waiting as long as it takes: the last word
// before zklock ends. One line, whatever a server has put into it: control characters are escaped.
void say_error(std::string_view text);

// Standard input and standard error are terminals: somebody can be asked.
bool can_ask();

// Writes `question` to standard error and returns the line that is typed then, without its end; what is there when
// standard input ends. Takes as long as the person does, and the loop stands still: not with a session.
std::string ask(std::string_view question);

}  // namespace zklock::host
