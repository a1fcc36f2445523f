// SPDX-License-Identifier: Apache-2.0
#include "host/appended_file.h"

#include "base/text.h"
#include "base/time.h"
#include "host/streams.h"

#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace zklock::host {

namespace {

constexpr Duration kPatience = std::chrono::seconds(5);  // with a reader at the other end

Failure cannot_open(const std::string& name, int error) {
  const char* const reason = error == ENXIO ? "nobody reads it" : std::strerror(error);
  return {ExitStatus::usage, "cannot write to '" + printable(name) + "': " + reason};
}

// Returns nothing for other names.
std::optional<int> descriptor_of(const std::string& name) {
  constexpr std::string_view kFolder = "/dev/fd/";
  if (name == "-") return STDOUT_FILENO;
  if (!name.starts_with(kFolder)) return std::nullopt;
  const auto number = parse_number(std::string_view(name).substr(kFolder.size()));
  return number && *number <= INT_MAX ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

Fd open_to_append(const std::string& name, int more) {
  return Fd(::open(name.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | more, 0666));
}

mode_t type_of(int fd) {
  struct stat found {};
  return fstat(fd, &found) == 0 ? found.st_mode & S_IFMT : 0;
}

// Returns whether the file has no name left. Leaves errno as it is.
bool is_deleted(int fd) {
  struct stat found {};
  const int error = errno;
  const bool deleted = fstat(fd, &found) == 0 && found.st_nlink == 0;
  errno = error;
  return deleted;
}

bool takes_something(int fd, Deadline until) {
  pollfd ready{fd, POLLOUT, 0};
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(left_until(until));
  return ::poll(&ready, 1, static_cast<int>(left.count())) == 1;
}

ssize_t write_some(int fd, std::string_view text) {
  const mode_t type = type_of(fd);
  if (type == S_IFSOCK) return send(fd, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  // A pipe that takes something takes this much at once, even if we may not set O_NONBLOCK on it. A terminal may have
  // room for one byte only.
  const bool may_wait = type == S_IFCHR && isatty(fd) && !(fcntl(fd, F_GETFL) & O_NONBLOCK);
  const size_t most = may_wait ? 1 : type == S_IFIFO || type == S_IFCHR ? PIPE_BUF : text.size();
  return ::write(fd, text.data(), std::min(text.size(), most));
}

}  // namespace

AppendedFile::AppendedFile(std::string name) : name_(std::move(name)) {
  const auto number = descriptor_of(name_);
  number ? open_inherited(*number) : open_named();
}

void AppendedFile::open_named() {
  own_ = open_to_append(name_, 0);
  // In a folder like /tmp, the kernel refuses O_CREAT for a file of another user, so we try without it first.
  if (!own_ && errno == ENOENT) own_ = open_to_append(name_, O_CREAT);
  if (!own_) throw cannot_open(name_, errno);
}

void AppendedFile::open_inherited(int number) {
  const int flags = fcntl(number, F_GETFL);
  if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) throw cannot_open(name_, EBADF);
  inherited_ = number;
  const mode_t type = type_of(number);
  if (type == S_IFIFO || isatty(number)) own_ = open_for_us_alone(number);
  if (type == S_IFIFO && !own_ && errno == ENXIO) throw cannot_open(name_, ENXIO);
  if (number > STDERR_FILENO) fcntl(number, F_SETFD, FD_CLOEXEC);
}

// Opens the file by its name again. It may have been renamed, to make place for a new one.
Fd AppendedFile::reopened() const {
  if (inherited_ >= 0) return {};
  Fd now = open_to_append(name_, 0);
  return !now && errno == ENOENT ? open_to_append(name_, O_CREAT) : std::move(now);
}

int AppendedFile::append(std::string_view line) {
  const Fd now = reopened();
  if (!now && own_ && inherited_ < 0 && is_deleted(own_.get())) return errno;
  const int fd = now ? now.get() : own_ ? own_.get() : inherited_;
  for (const Deadline until = deadline_in(kPatience); !line.empty();) {
    if (!takes_something(fd, until)) return EAGAIN;
    const ssize_t written = write_some(fd, line);
    if (written < 0 && errno != EAGAIN && errno != EINTR) return errno;
    if (written > 0) line.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

}  // namespace zklock::host
