// SPDX-License-Identifier: Apache-2.0
#include "host/process/spawn.h"

#include "base/text.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <linux/sched.h>
#include <optional>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

namespace zklock::host {

namespace {

constexpr const char* kDefaultPath = "/usr/local/bin:/usr/bin:/bin";  // when PATH is not set
constexpr const char* kShell = "/bin/sh";

// Returns 0, or the errno that execve would give.
int check(const std::string& file) {
  struct stat found {};
  if (stat(file.c_str(), &found) != 0) return errno;
  if (S_ISDIR(found.st_mode)) return EISDIR;
  // The effective user counts for execve; access() would ask for the real one.
  return faccessat(AT_FDCWD, file.c_str(), X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

std::vector<char*> pointers_to(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& string : strings) pointers.push_back(const_cast<char*>(string.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

bool sets_same_variable(const char* entry, const std::string& variable) {
  return variable.compare(0, variable.find('=') + 1, entry, 0, variable.find('=') + 1) == 0;
}

std::vector<std::string> environment_with(const std::vector<std::string>& variables) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry; ++entry) {
    bool replaced = false;
    for (const std::string& variable : variables) replaced |= sets_same_variable(*entry, variable);
    if (!replaced) all.emplace_back(*entry);
  }
  all.insert(all.end(), variables.begin(), variables.end());
  return all;
}

void set_input(const Fd& input) {
  // Standard input is closed first, because there may be no free descriptor. open() then gets its number, the lowest
  // free one.
  ::close(STDIN_FILENO);
  input ? dup2(input.get(), STDIN_FILENO) : open("/dev/null", O_RDONLY);
}

constexpr std::string_view kListener = "LISTEN_PID=";
constexpr size_t kLongestNumber = 20;

// Returns the pid in "LISTEN_PID=4711" if the sockets are for zklock, whose child the guard is; else null. The string
// gets room for any other pid.
char* find_listener(std::vector<std::string>& environment) {
  const std::string ours = fmt::format("{}{}", kListener, getppid());
  const auto found = std::find(environment.begin(), environment.end(), ours);
  if (found == environment.end()) return nullptr;
  found->resize(kListener.size() + kLongestNumber);
  return found->data() + kListener.size();
}

// The policy by which the caller was scheduled before be_prompt(). Its nice value never changes.
std::optional<int> usual_policy;

// The child does nothing but system calls.
[[noreturn]] void run_child(const Spawning& spawning) {
  // If the guard is killed, its command dies with it, before zklock has even noticed.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setpgid(0, spawning.group);
  const sched_param none{};
  if (usual_policy) sched_setscheduler(0, *usual_policy, &none);
  spawning.inherited.restore();
  if (spawning.input) set_input(*spawning.input);
  spawning.execution.take_sockets();
  spawning.error = spawning.execution.execute();
  _exit(127);
}

#if defined(__x86_64__) && !defined(ZKLOCK_SANITIZE)  // sanitizers report another stack
// Works like vfork, which knows no control groups: the child has our memory and a stack of its own, and we wait for its
// exec. With libc's syscall(), we would return to a stack that the child has overwritten.
long clone_for_exec(clone_args& how, const Spawning& spawning) {
  alignas(16) static char stack[32 * 1024];  // not on ours, which may be small (ulimit -s)
  how.flags |= CLONE_VM;
  how.stack = reinterpret_cast<uintptr_t>(stack);
  how.stack_size = sizeof stack;
  long result = SYS_clone3;
  asm volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "mov %[spawning], %%rdi\n\t"
      "call *%[begin]\n\t"
      "hlt\n"
      "1:"
      : "+a"(result)
      : "D"(&how), "S"(sizeof how), [begin] "r"(&run_child), [spawning] "r"(&spawning)
      : "rcx", "r11", "cc", "memory");
  return result;
}
#else
// Gives the child a copy of our memory, which is slower but needs no code for the processor.
long clone_for_exec(clone_args& how, const Spawning& spawning) {
  const long result = syscall(SYS_clone3, &how, sizeof how);
  if (result == 0) run_child(spawning);
  return result;
}
#endif

// Returns less than 0 if that is not possible.
pid_t clone_into_control_group(const Spawning& spawning) {
  clone_args how{};
  how.flags = CLONE_INTO_CGROUP | CLONE_VFORK;
  how.exit_signal = SIGCHLD;
  how.cgroup = static_cast<decltype(how.cgroup)>(spawning.control_group);
  return static_cast<pid_t>(clone_for_exec(how, spawning));
}

}  // namespace

Program Program::find(std::vector<std::string> arguments) {
  Program program{arguments[0], std::move(arguments)};
  const std::string name = program.file;
  int error = ENOENT;
  if (name.find('/') != std::string::npos) {
    error = check(name);
  } else if (!name.empty()) {
    const char* path = std::getenv("PATH");
    for (const std::string_view folder : split(path ? path : kDefaultPath, ':')) {
      program.file = fmt::format("{}/{}", folder.empty() ? "." : folder, name);
      const int reason = check(program.file);
      if (reason == 0) return program;
      // A file that exists but is not executable is the better reason. A folder is no reason, as in shells.
      if (reason == EACCES) error = EACCES;
    }
    program.file = name;
  }
  if (error != 0) throw cannot_execute(program, error == ENOTDIR ? ENOENT : error);
  return program;
}

Failure cannot_execute(const Program& program, int error) {
  const std::string name = program.arguments[0].empty() ? "''" : printable(program.arguments[0]);
  if (error == ENOENT) {
    // A name without a slash was looked up in PATH. A file of that name in this folder is something else.
    const bool there = program.file.find('/') != std::string::npos && access(program.file.c_str(), F_OK) == 0;
    return {ExitStatus::not_found,
            fmt::format("cannot run {}: {}", name, there ? "its interpreter was not found" : "command not found")};
  }
  return {ExitStatus::not_executable, fmt::format("cannot run {}: {}", name, std::strerror(error))};
}

Execution::Execution(const Program& program, const std::vector<std::string>& variables)
    : environment_(environment_with(variables)),
      listener_(find_listener(environment_)),
      variables_(pointers_to(environment_)),
      arguments_(pointers_to(program.arguments)),
      by_shell_(arguments_) {
  by_shell_[0] = const_cast<char*>(program.file.c_str());
  by_shell_.insert(by_shell_.begin(), const_cast<char*>(kShell));
}

void Execution::take_sockets() const {
  if (listener_) *std::to_chars(listener_, listener_ + kLongestNumber - 1, getpid()).ptr = '\0';
}

int Execution::execute() const {
  execve(by_shell_[1], arguments_.data(), variables_.data());
  if (errno != ENOEXEC) return errno;
  execve(kShell, by_shell_.data(), variables_.data());
  return errno;
}

pid_t spawn(const Spawning& spawning) {
  if (spawning.control_group >= 0) {
    const pid_t child = clone_into_control_group(spawning);
    if (child > 0) return child;
  }
  // A fork would copy our memory, and cost more than everything else that a command under a lock costs. With vfork the
  // child shares it, and we wait until the program is executed. If that takes for ever, on a file system that does not
  // answer, we keep no fence. zklock sees to that.
  const pid_t child = vfork();
  if (child == 0) run_child(spawning);
  return child;
}

bool succeeds(const Program& program, const Inherited& inherited) {
  const Execution execution(program, {});
  const pid_t child = fork();
  if (child == 0) {
    inherited.restore();
    const int nowhere = open("/dev/null", O_RDWR);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nowhere, fd);
    execution.execute();
    _exit(127);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

void become(const Program& program, const Inherited& inherited) {
  const Execution execution(program, {});
  inherited.restore();
  throw cannot_execute(program, execution.execute());
}

void be_prompt() {
  const int policy = sched_getscheduler(0);
  // Another policy was chosen on purpose. It is more than ours, or is wanted for all that runs here.
  if (policy != SCHED_OTHER) return;
  const sched_param least{1};
  if (sched_setscheduler(0, SCHED_RR, &least) == 0) usual_policy = policy;
}

}  // namespace zklock::host
