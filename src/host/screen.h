// SPDX-License-Identifier: Apache-2.0
// Shows lines on a terminal's whole screen and reads its keys, by ncurses. However the Screen ends, the terminal is
// restored, unless zklock is killed by SIGKILL.
#pragma once

#include "host/terminal.h"

#include <memory>
#include <string>
#include <vector>

namespace zklock::host {

enum class Key { character, up, down, page_up, page_down, home, end, tab, enter, escape, backspace };

struct KeyPress {
  Key key;
  char character = 0;  // printable ASCII, of Key::character
};

struct ScreenLine {
  std::string text;  // printable, UTF-8; what is too wide for the screen is cut
  Colour colour = Colour::none;
  bool bold = false;
  bool chosen = false;  // the cursor is on this line
};

// There may be only one at a time. The caller handles the signals that ncurses would handle itself: it calls resize()
// at SIGWINCH and stop() at SIGTSTP.
class Screen {
 public:
  // Returns null if standard input or output is no terminal, or one on which ncurses cannot move the cursor. While a
  // Screen is open, remarks are dropped.
  static std::unique_ptr<Screen> open();
  Screen(const Screen&) = delete;
  ~Screen();

  size_t rows() const;
  size_t columns() const;

  // Replaces what was shown. Drops the lines if the terminal takes nothing now, as after Ctrl-S.
  void show(const std::vector<ScreenLine>& lines) const;

  // Returns what has been typed. To be called when standard input is readable. Waits only for the rest of what an arrow
  // key sends.
  std::vector<KeyPress> keys();

  // Adapts to the size of the window, which has changed.
  void resize();
  // Gives the terminal back, stops this process, and returns when it is continued.
  void stop();

 private:
  explicit Screen(bool colours) : colours_(colours) {}

  bool colours_;
};

}  // namespace zklock::host
