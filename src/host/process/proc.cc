// SPDX-License-Identifier: Apache-2.0
#include "host/process/proc.h"

#include <climits>
#include <fcntl.h>
#include <unistd.h>

namespace zklock::host {

int proc_folder() {
  static int folder = -1;
  if (folder < 0) folder = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return folder;
}

Fd open_in_proc(const std::string& path) {
  const int folder = proc_folder();
  return Fd(folder < 0 ? -1 : openat(folder, path.c_str(), O_RDONLY | O_CLOEXEC));
}

std::optional<std::vector<std::string>> names_in_proc(const std::string& path) {
  const int folder = proc_folder();
  const int opened = folder < 0 ? -1 : openat(folder, path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return opened < 0 ? std::nullopt : names_in_opened(fdopendir(opened));
}

std::string link_in_proc(const std::string& path) {
  char target[PATH_MAX];
  const ssize_t length = readlinkat(proc_folder(), path.c_str(), target, sizeof target);
  return length > 0 ? std::string(target, static_cast<size_t>(length)) : "";
}

}  // namespace zklock::host
