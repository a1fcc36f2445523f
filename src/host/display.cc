// SPDX-License-Identifier: Apache-2.0
#include "host/display.h"

#include <sys/ioctl.h>

namespace zklock::host {

Display display_of(int fd) {
  Display display{colours_on(fd)};
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) display.columns = size.ws_col;
  return display;
}

}  // namespace zklock::host
