// SPDX-License-Identifier: Apache-2.0
#include "host/input.h"

#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

namespace zklock::host {

namespace {

constexpr size_t kPiece = 64 * 1024;

}  // namespace

Input::Input(int fd) : fd_(fd) {
  struct stat status {};
  const off_t at = lseek(fd, 0, SEEK_CUR);
  if (at >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) size_ = status.st_size - at;
}

// What nobody has taken yet, because whoever turns the loop waits for something else, is kept, and bounded.
bool Input::reads() const {
  return wanted_ && bytes_.size() < kPiece;
}

void Input::arm(PollSet& set) {
  if (reads()) set.watch(fd_, POLLIN);
}

void Input::record(const PollSet& set) {
  if (!reads()) return;
  dry_ = set.seen(fd_) == 0;
  if (dry_) return;
  const size_t before = bytes_.size();
  bytes_.resize(before + kPiece);
  const ssize_t length = ::read(fd_, bytes_.data() + before, kPiece);
  bytes_.resize(before + (length > 0 ? static_cast<size_t>(length) : 0));
  count_ += static_cast<int64_t>(bytes_.size() - before);
  // Whoever shares it may have been faster, or have set O_NONBLOCK.
  if (length < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (length < 0) error_ = errno;
  ended_ = length <= 0;
  if (ended_) wanted_ = false;
}

}  // namespace zklock::host
