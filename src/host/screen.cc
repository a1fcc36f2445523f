// SPDX-License-Identifier: Apache-2.0
#include "host/screen.h"

#include "host/streams.h"

#include <algorithm>
#include <clocale>
#include <csignal>
#include <optional>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

// We use functions, because the macros have names like "clear".
#define NCURSES_NOMACROS 1
#include <ncurses.h>

namespace zklock::host {

namespace {

constexpr int kEscapeDelay = 25;  // ms within which the rest of an arrow key comes; no person types that fast

constexpr std::pair<int, Key> kKeys[] = {{KEY_UP, Key::up},         {KEY_DOWN, Key::down},
                                         {KEY_PPAGE, Key::page_up}, {KEY_NPAGE, Key::page_down},
                                         {KEY_HOME, Key::home},     {KEY_END, Key::end},
                                         {'\t', Key::tab},          {'\r', Key::enter},
                                         {'\n', Key::enter},        {KEY_ENTER, Key::enter},
                                         {'\033', Key::escape},     {'\b', Key::backspace},
                                         {127, Key::backspace},     {KEY_BACKSPACE, Key::backspace}};

// ncurses numbers colours like ANSI, but from 0 on.
short number_of(Colour colour) {
  return colour == Colour::none ? short{0} : static_cast<short>(static_cast<int>(colour) - 30);
}

void begin_colours() {
  start_color();
  use_default_colors();
  for (const Colour colour : {Colour::red, Colour::green, Colour::yellow}) {
    init_pair(number_of(colour), number_of(colour), -1);
  }
}

std::optional<KeyPress> key_of(int code) {
  for (const auto& [sent, key] : kKeys) {
    if (sent == code) return KeyPress{key};
  }
  if (code < ' ' || code > '~') return std::nullopt;
  return KeyPress{Key::character, static_cast<char>(code)};
}

}  // namespace

std::unique_ptr<Screen> Screen::open() {
  if (isatty(STDIN_FILENO) == 0 || !is_screen_output()) return nullptr;
  // What is shown is UTF-8, whatever the caller's locale is. glibc contains this locale.
  std::setlocale(LC_CTYPE, "C.UTF-8");
  SCREEN* screen = newterm(nullptr, stdout, stdin);
  if (screen == nullptr) return nullptr;
  std::unique_ptr<Screen> opened(new Screen(display_of(STDOUT_FILENO).colours && has_colors()));
  if (tigetstr("cup") == nullptr) return nullptr;  // it cannot move the cursor
  set_escdelay(kEscapeDelay);
  cbreak();
  noecho();
  nonl();
  intrflush(stdscr, FALSE);
  keypad(stdscr, TRUE);
  nodelay(stdscr, TRUE);
  curs_set(0);
  if (opened->colours_) begin_colours();
  drop_remarks(true);
  return opened;
}

Screen::~Screen() {
  endwin();
  drop_remarks(false);
}

size_t Screen::rows() const {
  return static_cast<size_t>(std::max(getmaxy(stdscr), 1));
}

size_t Screen::columns() const {
  return static_cast<size_t>(std::max(getmaxx(stdscr), 1));
}

void Screen::show(const std::vector<ScreenLine>& lines) const {
  if (!(poll_for_output(STDOUT_FILENO) & POLLOUT)) return;
  werase(stdscr);
  for (size_t i = 0; i < lines.size() && i < rows(); ++i) {
    const ScreenLine& line = lines[i];
    const int row = static_cast<int>(i);
    attr_t look = A_NORMAL;
    if (line.bold) look |= A_BOLD;
    if (line.chosen) look |= A_REVERSE;
    wattr_set(stdscr, look, colours_ ? number_of(line.colour) : short{0}, nullptr);
    // The end of the line before stands here if that was too long.
    wmove(stdscr, row, 0);
    wclrtoeol(stdscr);
    waddstr(stdscr, line.text.c_str());
    if (line.chosen && getcury(stdscr) == row) whline(stdscr, ' ', static_cast<int>(columns()));
    wattr_set(stdscr, A_NORMAL, 0, nullptr);
  }
  if (lines.size() < rows()) {
    wmove(stdscr, static_cast<int>(lines.size()), 0);
    wclrtobot(stdscr);
  }
  wrefresh(stdscr);
}

std::vector<KeyPress> Screen::keys() {
  std::vector<KeyPress> pressed;
  for (int code = wgetch(stdscr); code != ERR; code = wgetch(stdscr)) {
    if (const auto key = key_of(code)) pressed.push_back(*key);
  }
  return pressed;
}

void Screen::resize() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return;
  resizeterm(size.ws_row, size.ws_col);
}

void Screen::stop() {
  endwin();
  // The default action stops us. The kernel leaves it out where no shell could continue us.
  sigset_t stopping;
  sigemptyset(&stopping);
  sigaddset(&stopping, SIGTSTP);
  raise(SIGTSTP);
  sigprocmask(SIG_UNBLOCK, &stopping, nullptr);
  sigprocmask(SIG_BLOCK, &stopping, nullptr);
  resize();
  clearok(stdscr, TRUE);
  wrefresh(stdscr);
}

}  // namespace zklock::host
