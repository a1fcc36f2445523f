// SPDX-License-Identifier: Apache-2.0
#include "host/inherited.h"

#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

namespace zklock::host {

namespace {

bool was_ignored(int signal, sighandler_t now) {
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = now;
  sigaction(signal, &action, &before);
  return before.sa_handler == SIG_IGN;
}

}  // namespace

Inherited Inherited::take_over() {
  Inherited found;
  for (int fd = 0; fd < 3; ++fd) {
    found.closed[fd] = fcntl(fd, F_GETFD) < 0;
    // Opened in order, so each gets the lowest free number: its own. The wrong way round, so that reading from the one
    // and writing to the other fails, as it would where nothing is.
    const int way = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    if (found.closed[fd] && open("/dev/null", way) != fd) std::abort();
  }
  sigprocmask(SIG_SETMASK, nullptr, &found.mask);
  found.ignored_child = was_ignored(SIGCHLD, SIG_DFL);
  found.ignored_pipe = was_ignored(SIGPIPE, SIG_IGN);
  found.ignored_file_size = was_ignored(SIGXFSZ, SIG_IGN);
  return found;
}

void Inherited::restore() const {
  ::signal(SIGCHLD, ignored_child ? SIG_IGN : SIG_DFL);
  ::signal(SIGPIPE, ignored_pipe ? SIG_IGN : SIG_DFL);
  ::signal(SIGXFSZ, ignored_file_size ? SIG_IGN : SIG_DFL);
  for (int fd = 0; fd < 3; ++fd) {
    if (closed[fd]) ::close(fd);
  }
  sigprocmask(SIG_SETMASK, &mask, nullptr);
}

}  // namespace zklock::host
