// SPDX-License-Identifier: Apache-2.0
#include "host/streams.h"

#include "base/failure.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <limits.h>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace zklock::host {

Outlet::Outlet() : fd_(STDOUT_FILENO) {
  struct stat found {};
  if (fstat(fd_, &found) != 0) return;
  if (S_ISSOCK(found.st_mode)) kind_ = Kind::socket;
  // After POLLOUT a terminal may have room for one byte only.
  if (!isatty(fd_)) return;
  own_ = Fd(open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!own_) return;
  kind_ = Kind::terminal;
  fd_ = own_.get();
}

size_t Outlet::write(std::string_view text) {
  pollfd ready{fd_, POLLOUT, 0};
  if (::poll(&ready, 1, 0) != 1) return 0;
  const std::string_view piece = text.substr(0, PIPE_BUF);
  const ssize_t written = kind_ == Kind::socket ? send(fd_, piece.data(), piece.size(), MSG_DONTWAIT | MSG_NOSIGNAL)
                                                : ::write(fd_, piece.data(), piece.size());
  if (written >= 0) return static_cast<size_t>(written);
  if (errno == EAGAIN || errno == EINTR) return 0;
  told_ = true;
  if (errno == EPIPE) throw Failure::by_signal(SIGPIPE);
  throw Failure(ExitStatus::input_output, std::string("cannot write to standard output: ") + std::strerror(errno));
}

void Outlet::arm(PollSet& set) {
  // Without events poll() still tells of a reader who is gone, and would do so again and again.
  if (!told_) set.watch(fd_, wanted_ ? POLLOUT : 0);
}

void Outlet::record(const PollSet& set) {
  if (!told_ && (set.seen(fd_) & (POLLERR | POLLNVAL))) broken_ = true;
}

void Outlet::decide() {
  if (!broken_ || told_) return;
  told_ = true;
  throw Failure::by_signal(SIGPIPE);
}

}  // namespace zklock::host
