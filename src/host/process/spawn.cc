// SPDX-License-Identifier: Apache-2.0
#include "host/process/spawn.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <optional>
#include <sched.h>
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
  // Closed first: there may be no other descriptor to be had. The lowest one is the one that is opened.
  ::close(STDIN_FILENO);
  if (input) {
    dup2(input.get(), STDIN_FILENO);
  } else {
    open("/dev/null", O_RDONLY);
  }
}

// How the caller was scheduled before be_prompt(); its nice value stays what it is.
std::optional<int> usual_policy;

// What the child needs to know. It may have our memory, so it changes nothing there.
struct Birth {
  const Execution& execution;
  pid_t group;
  Service service;
  const Order& order;
  const Inherited& inherited;
  GuardPage& page;
};

// The child does nothing but system calls.
[[noreturn]] void begin_life(const Birth& birth) {
  // Should the guard be killed, its command dies with it, before zklock has even noticed.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setpgid(0, birth.group);
  const sched_param none{};
  if (usual_policy) sched_setscheduler(0, *usual_policy, &none);
  birth.inherited.restore();
  if (birth.service == Service::again) set_input(birth.order.input);
  birth.page.exec_error = birth.execution.execute();
  _exit(127);
}

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
// As vfork, which knows no control groups: the child has our memory, a stack of its own, and we wait for its exec.
// Who asks libc's syscall() for that comes back to a stack that the child has overwritten.
long clone_for_exec(clone_args& how, const Birth& birth) {
  alignas(16) char stack[32 * 1024];
  how.flags |= CLONE_VM;
  how.stack = reinterpret_cast<uintptr_t>(stack);
  how.stack_size = sizeof stack;
  long result = SYS_clone3;
  asm volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "mov %[birth], %%rdi\n\t"
      "call *%[begin]\n\t"
      "hlt\n"
      "1:"
      : "+a"(result)
      : "D"(&how), "S"(sizeof how), [begin] "r"(&begin_life), [birth] "r"(&birth)
      : "rcx", "r11", "cc", "memory");
  return result;
}
#else
// With a copy of our memory, which is slower and needs nothing of the processor.
long clone_for_exec(clone_args& how, const Birth& birth) {
  const long result = syscall(SYS_clone3, &how, sizeof how);
  if (result == 0) begin_life(birth);
  return result;
}
#endif

// Below 0 where that is not possible.
pid_t clone_into(int control_group, const Birth& birth) {
  clone_args how{};
  how.flags = CLONE_INTO_CGROUP | CLONE_VFORK;
  how.exit_signal = SIGCHLD;
  how.cgroup = static_cast<decltype(how.cgroup)>(control_group);
  return static_cast<pid_t>(clone_for_exec(how, birth));
}

}  // namespace

pid_t give_birth(const Order& order, Service service, const Program& program, const Inherited& inherited,
                 GuardPage& page, int control_group) {
  Program executed = program;
  if (order.arguments) executed.arguments = strings_of(content_of(order.arguments));
  const Execution execution(executed, strings_of(order.variables));
  const Birth birth{execution, service == Service::once ? getpgid(getppid()) : 0, service, order, inherited, page};
  if (control_group >= 0) {
    const pid_t child = clone_into(control_group, birth);
    if (child > 0) return child;
  }
  // Nothing is copied: a fork would cost more than all else that a command under a lock costs. The child has our
  // memory, and we wait until it is executed. Where that takes for ever, on a file system that does not answer, we keep
  // no fence; zklock sees to that.
  const pid_t child = vfork();
  if (child == 0) begin_life(birth);
  return child;
}

void be_prompt() {
  const int policy = sched_getscheduler(0);
  // Somebody has chosen another one, which is more than ours or wanted for all that runs here.
  if (policy != SCHED_OTHER) return;
  const sched_param least{1};
  if (sched_setscheduler(0, SCHED_RR, &least) == 0) usual_policy = policy;
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

void close_private_but(std::initializer_list<int> kept) {
  std::vector<int> found;
  DIR* folder = opendir("/proc/self/fd");
  if (!folder) return;
  while (const dirent* entry = readdir(folder)) found.push_back(std::atoi(entry->d_name));
  closedir(folder);
  for (const int fd : found) {
    const bool is_kept = fd <= STDERR_FILENO || std::find(kept.begin(), kept.end(), fd) != kept.end();
    const int flags = is_kept ? -1 : fcntl(fd, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) != 0) ::close(fd);
  }
}

}  // namespace zklock::host
