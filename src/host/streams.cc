// SPDX-License-Identifier: Apache-2.0
#include "host/streams.h"

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace zklock::host {

StandardInput::StandardInput(int fd) : fd_(fd) {
  struct stat status {};
  const off_t at = lseek(fd, 0, SEEK_CUR);
  if (at >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) size_ = status.st_size - at;
}

void StandardInput::arm(PollSet& set) {
  if (reads()) set.watch(fd_, POLLIN);
}

void StandardInput::record(const PollSet& set) {
  if (!reads()) return;
  dry_ = set.seen(fd_) == 0;
  if (dry_) return;
  const size_t before = bytes_.size();
  bytes_.resize(before + kPiece);
  const ssize_t length = ::read(fd_, bytes_.data() + before, kPiece);
  bytes_.resize(before + (length > 0 ? static_cast<size_t>(length) : 0));
  count_ += static_cast<int64_t>(bytes_.size() - before);
  // A process that shares the descriptor may have read before us, or have set O_NONBLOCK.
  if (length < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (length < 0) error_ = errno;
  ended_ = length <= 0;
  if (ended_) wanted_ = false;
}

StandardOutput::StandardOutput() : fd_(STDOUT_FILENO), most_(PIPE_BUF) {
  struct stat found {};
  if (fstat(fd_, &found) != 0) return;
  is_socket_ = S_ISSOCK(found.st_mode);
  // After POLLOUT a terminal may have room for one byte only, and another user's cannot be opened.
  const bool is_terminal = isatty(fd_) != 0;
  if (is_terminal) own_ = open_for_us_alone(fd_);
  if (own_) fd_ = own_.get();
  if (is_terminal && !own_) most_ = 1;
}

size_t StandardOutput::write(std::string_view text) {
  text = text.substr(0, PIPE_BUF);
  size_t taken = 0;
  while (taken < text.size()) {
    const size_t now = write_some(text.substr(taken, most_));
    taken += now;
    if (now == 0 || most_ > 1) break;
  }
  return taken;
}

size_t StandardOutput::write_some(std::string_view piece) {
  pollfd ready{fd_, POLLOUT, 0};
  if (::poll(&ready, 1, 0) != 1) return 0;
  const ssize_t written = is_socket_ ? send(fd_, piece.data(), piece.size(), MSG_DONTWAIT | MSG_NOSIGNAL)
                                     : ::write(fd_, piece.data(), piece.size());
  if (written >= 0) return static_cast<size_t>(written);
  if (errno == EAGAIN || errno == EINTR) return 0;
  told_ = true;
  if (errno == EPIPE) throw Failure::by_signal(SIGPIPE);
  throw Failure(ExitStatus::input_output, std::string("cannot write to standard output: ") + std::strerror(errno));
}

void StandardOutput::arm(PollSet& set) {
  // Even without events, poll() reports that the reader is gone, and would do so again and again.
  if (!told_) set.watch(fd_, wanted_ ? POLLOUT : 0);
}

void StandardOutput::record(const PollSet& set) {
  // A socket whose other end was closed shows only POLLHUP.
  if (!told_ && (set.seen(fd_) & (POLLERR | POLLHUP | POLLNVAL))) broken_ = true;
}

void StandardOutput::decide() {
  if (!broken_ || told_) return;
  told_ = true;
  throw Failure::by_signal(SIGPIPE);
}

Fd open_for_us_alone(int fd) {
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  return Fd(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

}  // namespace zklock::host
