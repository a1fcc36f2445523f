// SPDX-License-Identifier: Apache-2.0
// A terminal's whole screen, by ncurses: lines that are shown, keys that are pressed. The terminal is as it was when
// the Screen goes, whatever makes it go, unless zklock is killed by SIGKILL.
#pragma once

#include "host/terminal.h"

#include <memory>
#include <string>
#include <vector>

namespace zklock::host {

enum class Key { character, up, down, page_up, page_down, home, end, tab, enter, escape, backspace };

struct KeyPress {
  Key key;
  char character = 0;  // a printable one of ASCII
};

struct ScreenLine {
  std::string text;  // printable, UTF-8; what is too wide for the screen is cut
  Colour colour = Colour::none;
  bool bold = false;
  bool chosen = false;  // where the cursor is
};

// One at a time. Its signals are the caller's: SIGWINCH calls for resize(), SIGTSTP for stop(), which ncurses would do
// itself.
class Screen {
 public:
  // Nothing where standard input and output are no terminal, or none that ncurses knows how to write all over.
  static std::unique_ptr<Screen> open();
  Screen(const Screen&) = delete;
  ~Screen();

  size_t rows() const;
  size_t columns() const;

  // In place of what was shown. Dropped when the terminal takes nothing now, as after Ctrl-S: then is_behind().
  void show(const std::vector<ScreenLine>& lines);
  bool is_behind() const { return behind_; }

  // What has been typed, once standard input is readable. Does not wait, but for the rest of what an arrow sends.
  std::vector<KeyPress> keys();

  // The window has another size.
  void resize();
  // Gives the terminal back, stops this process, and returns when it is continued.
  void stop();

 private:
  explicit Screen(bool colours) : colours_(colours) {}

  bool colours_;
  bool behind_ = false;
};

}  // namespace zklock::host
