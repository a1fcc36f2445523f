// SPDX-License-Identifier: Apache-2.0
#include "host/status_line.h"

#include "base/text.h"
#include "host/terminal.h"

#include <string>
#include <sys/ioctl.h>
#include <unistd.h>

namespace zklock::host {

namespace {

constexpr unsigned kUsualWidth = 80;
constexpr const char* kWipe = "\r\033[K";

// So that it can be wiped again.
std::string fit_to_terminal(std::string_view line) {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return shorten(line, (known ? size.ws_col : kUsualWidth) - 2u);
}

}  // namespace

void StatusLine::show(std::string_view text) {
  remark(kWipe + fit_to_terminal(text));
  shown_ = true;
}

void StatusLine::wipe() {
  if (shown_) remark(kWipe);
  shown_ = false;
}

}  // namespace zklock::host
