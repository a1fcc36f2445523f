// SPDX-License-Identifier: Apache-2.0
#include "host/fd.h"

#include <algorithm>
#include <sys/syscall.h>
#include <unistd.h>

namespace zklock::host {

namespace {

constexpr unsigned kMostDescriptors = 65536;  // if there is no limit

// Closes them one by one if the kernel has no call for a range (before 5.9), or if a filter of system calls denies it.
void close_from_to(unsigned first, unsigned last) {
  if (syscall(SYS_close_range, first, last, 0) == 0) return;
  const long most = sysconf(_SC_OPEN_MAX);
  last = std::min(last, most > 0 ? static_cast<unsigned>(most) - 1 : kMostDescriptors);
  for (unsigned fd = first; fd <= last; ++fd) ::close(static_cast<int>(fd));
}

}  // namespace

void close_all_but(std::vector<int> kept) {
  std::sort(kept.begin(), kept.end());
  unsigned first = 0;
  for (const int fd : kept) {
    if (fd < 0) continue;
    const auto number = static_cast<unsigned>(fd);
    if (number > first) close_from_to(first, number - 1);
    first = std::max(first, number + 1);
  }
  close_from_to(first, ~0U);
}

}  // namespace zklock::host
