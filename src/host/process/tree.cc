// SPDX-License-Identifier: Apache-2.0
#include "host/process/tree.h"

#include "base/contains.h"
#include "base/text.h"
#include "base/time.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

namespace zklock::host {

namespace {

using namespace std::chrono_literals;

// Processes that fork as fast as we kill must not keep the caller from everything else for ever.
constexpr Duration kLongestRound = 1s;
// Nor may processes that end as fast as we reap.
constexpr int kMostReaped = 4096;
// Most killed processes have ended by then. Searching all of /proc for more takes as long.
constexpr Duration kReapedWithin = 5ms;
constexpr Duration kBetweenLooks = 200us;

std::multimap<pid_t, pid_t> children_by_parent() {
  std::multimap<pid_t, pid_t> children;
  for (const std::string& name : names_in_proc().value_or(std::vector<std::string>())) {
    const pid_t pid = std::atoi(name.c_str());
    if (pid > 0) children.emplace(parent_of(pid), pid);
  }
  return children;
}

// Signals by the pidfd; by the pid if the kernel has no pidfds, or if a filter of system calls denies them.
bool send_signal(const Fd& handle, pid_t pid, int signal) {
  if (handle && syscall(SYS_pidfd_send_signal, handle.get(), signal, nullptr, 0) == 0) return true;
  if (handle && errno == ESRCH) return true;
  return ::kill(pid, signal) == 0 || errno != EPERM;
}

// Returns false only if we may not signal the process. One that is gone needs no signal.
bool signal_process(Process process, std::initializer_list<int> signals) {
  const Fd handle(static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0)));
  // The pid may have been recycled since the search. A foreign process has another parent. A descendant that has lost
  // its parent meanwhile is our child.
  const pid_t parent = parent_of(process.pid);
  if (parent != process.parent && parent != getpid()) return true;
  bool allowed = true;  // one may be refused and another not: CONT to our own session never is
  for (const int signal : signals) allowed &= send_signal(handle, process.pid, signal);
  return allowed;
}

}  // namespace

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
  return opened < 0 ? std::nullopt : names_in(fdopendir(opened));
}

std::string link_in_proc(const std::string& path) {
  char target[PATH_MAX];
  const ssize_t length = readlinkat(proc_folder(), path.c_str(), target, sizeof target);
  return length > 0 ? std::string(target, static_cast<size_t>(length)) : "";
}

pid_t parent_of(pid_t pid) {
  // In /proc/PID/stat, "pid (name) state ppid …", the name may hold anything, so its last parenthesis counts.
  char text[512];
  const Fd file = open_in_proc(fmt::format("{}/stat", pid));
  const ssize_t length = file ? read(file.get(), text, sizeof text - 1) : 0;
  if (length <= 0) return 0;
  text[length] = '\0';
  const char* after_name = std::strrchr(text, ')');
  return after_name && std::strlen(after_name) > 4 ? std::atoi(after_name + 4) : 0;
}

bool is_ancestor(pid_t pid) {
  pid_t ancestor = getppid();
  while (ancestor > 0 && ancestor != pid) ancestor = parent_of(ancestor);
  return ancestor > 0;
}

bool is_in_orphaned_group(pid_t member) {
  const pid_t group = getpgid(member);
  const pid_t session = getsid(member);
  for (pid_t parent = parent_of(member); parent > 0; parent = parent_of(parent)) {
    if (getsid(parent) != session) return true;
    if (getpgid(parent) != group) return false;
  }
  return true;
}

void become_subreaper() {
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
    throw system_error("cannot become the parent of all that a command starts");
}

std::vector<Process> descendants_of(pid_t ancestor, const std::vector<pid_t>& spared) {
  const auto children = children_by_parent();
  std::vector<Process> found;
  const auto add_children_of = [&](pid_t parent) {
    const auto [first, last] = children.equal_range(parent);
    for (auto child = first; child != last; ++child) {
      if (!contains(spared, child->second)) found.push_back({child->second, parent});
    }
  };
  add_children_of(ancestor);
  for (size_t i = 0; i < found.size(); ++i) add_children_of(found[i].pid);
  return found;
}

std::vector<pid_t> signal_descendants(std::initializer_list<int> signals, const std::vector<pid_t>& spared) {
  std::vector<pid_t> refused;
  for (const Process process : descendants_of(getpid(), spared)) {
    if (!signal_process(process, signals)) refused.push_back(process.pid);
  }
  return refused;
}

std::optional<std::vector<pid_t>> own_children(const std::vector<pid_t>& spared) {
  std::vector<pid_t> children;
  if (const Fd list = open_in_proc("thread-self/children")) {
    const std::string text = content_of(list);
    for (const std::string_view pid : split(text, ' ')) {
      if (!pid.empty()) children.push_back(std::atoi(pid.data()));
    }
    std::erase_if(children, [&](pid_t child) { return contains(spared, child); });
    return children;
  }
  // Otherwise this is a kernel without that list.
  if (errno == EMFILE || errno == ENFILE || !open_in_proc("self/stat")) return std::nullopt;
  for (const Process process : descendants_of(getpid(), spared)) {
    if (process.parent == getpid()) children.push_back(process.pid);
  }
  return children;
}

// A list of the children is short even if all of /proc is long, and a process that was sent KILL cannot fork any more.
// So this outruns processes that fork and exit as fast as they can. Only we reap, so each pid is still the child's.
bool kill_children(const std::vector<pid_t>& spared, const ChildReport& report) {
  const Deadline end = deadline_in(kLongestRound);
  std::vector<pid_t> before;
  Deadline dying = kNever;
  for (;;) {
    auto children = own_children(spared);
    if (!children) return true;
    if (children->empty()) return false;
    bool any_new = false;
    for (const pid_t child : *children) {
      if (std::binary_search(before.begin(), before.end(), child)) continue;
      ::kill(child, SIGKILL);
      any_new = true;
    }
    if (!reap_children(report)) return false;
    if (any_new) dying = deadline_in(kReapedWithin);
    if (BootClock::now() >= std::min(dying, end)) return true;
    if (!any_new) usleep(static_cast<useconds_t>(kBetweenLooks / 1us));
    std::sort(children->begin(), children->end());
    before = std::move(*children);
  }
}

void kill_descendants(const std::vector<pid_t>& spared) {
  if (kill_children(spared, [](pid_t, int) {})) signal_descendants({SIGKILL}, spared);
}

void reap_unseen(bool unseen) {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  action.sa_flags = unseen ? SA_NOCLDWAIT : 0;
  sigaction(SIGCHLD, &action, nullptr);
}

bool reap_children(const ChildReport& report) {
  for (int reaped = 0; reaped < kMostReaped; ++reaped) {
    int wait_status = 0;
    const pid_t pid = waitpid(-1, &wait_status, WNOHANG | WUNTRACED | WCONTINUED);
    if (pid == 0) return true;
    if (pid < 0) return errno != ECHILD;
    report(pid, wait_status);
  }
  ::kill(getpid(), SIGCHLD);  // for the rest
  return true;
}

}  // namespace zklock::host
