// SPDX-License-Identifier: Apache-2.0
#include "host/streams.h"

#include "base/text.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace zklock::host {

namespace {

constexpr Duration kPatience = std::chrono::seconds(5);  // with a reader at the other end

// Writes as much of the beginning of `text` as `fd`, which takes something now, takes without blocking. Returns how
// many bytes that was; -1, with errno set, if it failed.
ssize_t write_some(int fd, std::string_view text) {
  const mode_t type = type_of(fd);
  if (type == S_IFSOCK) return send(fd, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  // A pipe that takes something takes this much at once, even if we may not set O_NONBLOCK on it. A terminal may have
  // room for one byte only.
  const bool may_wait = type == S_IFCHR && isatty(fd) && !(fcntl(fd, F_GETFL) & O_NONBLOCK);
  const size_t most = may_wait ? 1 : type == S_IFIFO || type == S_IFCHR ? PIPE_BUF : text.size();
  return ::write(fd, text.data(), std::min(text.size(), most));
}

Failure cannot_open(const std::string& name, int error) {
  const char* const reason = error == ENXIO ? "nobody reads it" : std::strerror(error);
  return {ExitStatus::usage, "cannot write to '" + printable(name) + "': " + reason};
}

// Returns -1 for other names.
int descriptor_of(const std::string& name) {
  constexpr std::string_view kFolder = "/dev/fd/";
  if (name == "-") return STDOUT_FILENO;
  if (!name.starts_with(kFolder)) return -1;
  const auto number = parse_number(std::string_view(name).substr(kFolder.size()));
  return number && *number <= INT_MAX ? static_cast<int>(*number) : -1;
}

// Opens or creates the file. In a folder like /tmp, the kernel refuses O_CREAT for a file of another user, so we try
// without it first.
Fd open_to_append(const std::string& name) {
  constexpr int kFlags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  Fd opened(::open(name.c_str(), kFlags));
  return !opened && errno == ENOENT ? Fd(::open(name.c_str(), kFlags | O_CREAT, 0666)) : std::move(opened);
}

// Returns whether the file has no name left.
bool is_deleted(int fd) {
  struct stat found {};
  return fstat(fd, &found) == 0 && found.st_nlink == 0;
}

}  // namespace

StandardInput::StandardInput(int fd) : fd_(fd) {
  struct stat status {};
  const off_t at = lseek(fd, 0, SEEK_CUR);
  if (at >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) size_ = status.st_size - at;
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

StandardOutput::StandardOutput() : fd_(STDOUT_FILENO) {
  if (isatty(fd_)) own_ = open_for_us_alone(fd_);
  if (own_) fd_ = own_.get();
}

size_t StandardOutput::write(std::string_view text) {
  text = text.substr(0, PIPE_BUF);
  size_t taken = 0;
  while (taken < text.size() && poll_for_output(fd_) != 0) {
    const ssize_t written = write_some(fd_, text.substr(taken));
    if (written < 0 && errno != EAGAIN && errno != EINTR) {
      told_ = true;
      if (errno == EPIPE) throw Failure::by_signal(SIGPIPE);
      throw Failure(ExitStatus::input_output, std::string("cannot write to standard output: ") + std::strerror(errno));
    }
    if (written > 0) taken += static_cast<size_t>(written);
    if (written != 1) break;  // only a terminal that takes single bytes is asked again
  }
  return taken;
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

AppendedFile::AppendedFile(std::string name) : name_(std::move(name)) {
  inherited_ = descriptor_of(name_);
  if (inherited_ < 0) {
    own_ = open_to_append(name_);
    if (!own_) throw cannot_open(name_, errno);
    return;
  }
  const int flags = fcntl(inherited_, F_GETFL);
  if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) throw cannot_open(name_, EBADF);
  const mode_t type = type_of(inherited_);
  if (type == S_IFIFO || isatty(inherited_)) own_ = open_for_us_alone(inherited_);
  if (type == S_IFIFO && !own_ && errno == ENXIO) throw cannot_open(name_, ENXIO);
  if (inherited_ > STDERR_FILENO) fcntl(inherited_, F_SETFD, FD_CLOEXEC);
}

int AppendedFile::append(std::string_view line) {
  // The file may have been renamed, to make place for a new one.
  const Fd now = inherited_ >= 0 ? Fd() : open_to_append(name_);
  const int error = errno;
  if (!now && inherited_ < 0 && is_deleted(own_.get())) return error;
  const int fd = now ? now.get() : own_ ? own_.get() : inherited_;
  for (const Deadline until = deadline_in(kPatience); !line.empty();) {
    if (poll_for_output(fd, until) == 0) return EAGAIN;
    const ssize_t written = write_some(fd, line);
    if (written < 0 && errno != EAGAIN && errno != EINTR) return errno;
    if (written > 0) line.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

short poll_for_output(int fd, Deadline until) {
  pollfd ready{fd, POLLOUT, 0};
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(left_until(until));
  return ::poll(&ready, 1, static_cast<int>(left.count())) == 1 ? ready.revents : short{0};
}

mode_t type_of(int fd) {
  struct stat found {};
  return fstat(fd, &found) == 0 ? found.st_mode & S_IFMT : 0;
}

Fd open_for_us_alone(int fd) {
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  return Fd(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

}  // namespace zklock::host
