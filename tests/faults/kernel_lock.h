// SPDX-License-Identifier: Apache-2.0
// The second lock of the fault suite's commands, kept by the kernel. The whole tree of a command inherits it, and it is
// free when the last of them is dead. A command that does not get it at once overlaps with another.
#pragma once

#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <unistd.h>

namespace faults {

// Returns false if another process has it. `how`: LOCK_EX or LOCK_SH.
inline bool lock_file(const std::string& path, int how) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT, 0600);
  if (file < 0) _exit(97);
  if (flock(file, how | LOCK_NB) == 0) return true;
  close(file);
  return false;
}

// `lock` is "x:NAME", "s:NAME" for a shared one, or "N:NAME" for one of N. The files are PREFIX.NAME….
inline bool lock_in_kernel(const std::string& prefix, const std::string& lock) {
  const std::string path = prefix + "." + lock.substr(lock.find(':') + 1);
  if (lock[0] == 'x') return lock_file(path, LOCK_EX);
  if (lock[0] == 's') return lock_file(path, LOCK_SH);
  for (int slot = atoi(lock.c_str()); slot > 0; --slot) {
    if (lock_file(path + "." + std::to_string(slot), LOCK_EX)) return true;
  }
  return false;
}

}  // namespace faults
