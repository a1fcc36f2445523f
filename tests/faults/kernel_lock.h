// SPDX-License-Identifier: Apache-2.0
// The second lock of the fault suite's commands, which the kernel keeps: the whole tree of a command has it, as it is
// inherited, and it is free when the last of them is dead. Who does not get it at once overlaps with somebody.
#pragma once

#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <unistd.h>

namespace faults {

// False: somebody else's. `how`: LOCK_EX or LOCK_SH.
inline bool lock_file(const std::string& path, int how) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT, 0600);
  if (file < 0) _exit(97);
  if (flock(file, how | LOCK_NB) == 0) return true;
  close(file);
  return false;
}

// `lock` is "x:NAME", "s:NAME" for one that is shared, or "N:NAME" for one of so many. The files are PREFIX.NAME….
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
