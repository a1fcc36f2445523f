// SPDX-License-Identifier: Apache-2.0
#include "host/birth.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace zklock::host {

namespace {

std::vector<std::string> strings_of(std::string_view block) {
  std::vector<std::string> strings;
  while (!block.empty()) {
    strings.emplace_back(block.substr(0, block.find('\0')));
    block.remove_prefix(strings.back().size() + 1);
  }
  return strings;
}

void set_input(const Fd& input) {
  dup2(input ? input.get() : open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
  fcntl(STDIN_FILENO, F_SETFD, 0);  // where that was closed, it was opened as that
}

}  // namespace

pid_t give_birth(const Order& order, Service service, const Program& program, const Inherited& inherited,
                 GuardPage& page) {
  Program executed = program;
  if (order.arguments) executed.arguments = strings_of(content_of(order.arguments));
  const Execution execution(executed, strings_of(order.variables));
  const pid_t group = service == Service::once ? getpgid(getppid()) : 0;
  // Nothing is copied: a fork would cost more than all else that a command under a lock costs. The child has our
  // memory, so from here on it does nothing but system calls, and we wait until it is executed. Where that takes for
  // ever, on a file system that does not answer, we keep no fence; zklock sees to that.
  const pid_t child = vfork();
  if (child != 0) return child;
  // Should the guard be killed, its command dies with it, before zklock has even noticed.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setpgid(0, group);
  inherited.restore();
  if (service == Service::again) set_input(order.input);
  page.exec_error = execution.execute();
  _exit(127);
}

void close_all_but(std::initializer_list<int> kept, int first) {
  std::vector<int> sorted = kept;
  std::sort(sorted.begin(), sorted.end());
  for (const int fd : sorted) {
    if (fd > first) syscall(SYS_close_range, first, fd - 1, 0);
    first = std::max(first, fd + 1);
  }
  syscall(SYS_close_range, first, ~0U, 0);
}

void close_private_but(int kept) {
  std::vector<int> found;
  DIR* folder = opendir("/proc/self/fd");
  if (!folder) return;
  while (const dirent* entry = readdir(folder)) found.push_back(std::atoi(entry->d_name));
  closedir(folder);
  for (const int fd : found) {
    const int flags = fd > STDERR_FILENO && fd != kept ? fcntl(fd, F_GETFD) : -1;
    if (flags >= 0 && (flags & FD_CLOEXEC) != 0) ::close(fd);
  }
}

}  // namespace zklock::host
