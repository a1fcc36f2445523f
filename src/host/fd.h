// SPDX-License-Identifier: Apache-2.0
// Descriptors: a class that closes its own when it is destroyed, and functions that read files and folders.
// system_error() is for system calls that never fail in a sound process.
#pragma once

#include "base/failure.h"

#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace zklock::host {

// Move-only.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int number) : number_(number) {}
  Fd(Fd&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Fd() { reset(); }

  void reset() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }
  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

// Opens a file. Returns none, with errno set, if that fails.
inline Fd open_to_read(const std::string& path) {
  return Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

// Returns what can be read from `file` from its present position on. Stops at 16 MiB. Returns "" if `file` is none.
inline std::string content_of(const Fd& file) {
  constexpr size_t kMost = 16 << 20;  // a file that was mounted in place of /proc may have no end
  std::string content;
  char part[4096];
  for (ssize_t length = 0; content.size() < kMost && (length = ::read(file.get(), part, sizeof part)) > 0;) {
    content.append(part, static_cast<size_t>(length));
  }
  return content;
}

// Returns the names in an open folder, "." and ".." among them, and closes it. Returns nothing if `opened` is null.
inline std::optional<std::vector<std::string>> names_in(DIR* opened) {
  if (!opened) return std::nullopt;
  std::vector<std::string> names;
  while (const dirent* entry = readdir(opened)) names.emplace_back(entry->d_name);
  closedir(opened);
  return names;
}

// Closes all descriptors of the caller except `kept`, which may contain -1 (none).
void close_all_but(std::vector<int> kept);

// Returns a Failure (70) with the text "what: the text of errno".
inline Failure system_error(const std::string& what) {
  const char* hint = errno == EMFILE ? ", see ulimit -n" : "";
  return {ExitStatus::internal, what + ": " + std::strerror(errno) + hint};
}

}  // namespace zklock::host
