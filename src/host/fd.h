// SPDX-License-Identifier: Apache-2.0
// Descriptors: one that is closed when its owner goes, what a file or a folder says, and what is thrown where a system
// call fails that does not fail in a sound process.
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

// None, with errno, where that cannot be.
inline Fd open_to_read(const std::string& path) {
  return Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

// All that there is to read in `file` from where it is, 16 MiB of it at most; "" where there is no file.
inline std::string content_of(const Fd& file) {
  constexpr size_t kMost = 16 << 20;  // what stands in the place of /proc may have no end
  std::string content;
  char part[4096];
  for (ssize_t length = 0; content.size() < kMost && (length = ::read(file.get(), part, sizeof part)) > 0;) {
    content.append(part, static_cast<size_t>(length));
  }
  return content;
}

// What an opened folder, which is closed, holds, "." and ".." among it; nothing where there is none.
inline std::optional<std::vector<std::string>> names_in_opened(DIR* opened) {
  if (!opened) return std::nullopt;
  std::vector<std::string> names;
  while (const dirent* entry = readdir(opened)) names.emplace_back(entry->d_name);
  closedir(opened);
  return names;
}

// The same of a folder by its name; nothing, with errno, where we may not look. Takes one descriptor.
inline std::optional<std::vector<std::string>> names_in(const std::string& folder) {
  return names_in_opened(opendir(folder.c_str()));
}

// Of the caller's descriptors. Among those that are kept may be none (-1).
void close_all_but(std::vector<int> kept);

// "what: the text of errno", exit status 70.
inline Failure system_error(const std::string& what) {
  const char* hint = errno == EMFILE ? ", see ulimit -n" : "";
  return {ExitStatus::internal, what + ": " + std::strerror(errno) + hint};
}

}  // namespace zklock::host
