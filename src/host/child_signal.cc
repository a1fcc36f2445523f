// SPDX-License-Identifier: Apache-2.0
#include "host/child_signal.h"

#include "host/system_error.h"

#include <csignal>
#include <sys/signalfd.h>

namespace zklock::host {

ChildSignal::ChildSignal() {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, nullptr);
  fd_ = Fd(signalfd(-1, &child, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!fd_) throw system_error("cannot learn of children");
}

void ChildSignal::drain() const {
  signalfd_siginfo info{};
  while (read(fd_.get(), &info, sizeof info) > 0) {
  }
}

}  // namespace zklock::host
