// SPDX-License-Identifier: Apache-2.0
#include "host/tree.h"

#include "host/fd.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <map>
#include <memory>
#include <set>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

namespace zklock::host {

namespace {

// A process that forks as fast as we scan would keep us here for ever: kill what was seen, reap, come again.
constexpr int kMostScans = 8;

std::multimap<pid_t, pid_t> children_by_parent() {
  std::multimap<pid_t, pid_t> children;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc"), closedir);
  if (!folder) return children;
  while (const dirent* item = readdir(folder.get())) {
    const pid_t pid = std::atoi(item->d_name);
    if (pid > 0) children.emplace(parent_of(pid), pid);
  }
  return children;
}

// False only if we may not signal it; a process that is gone needs no signal.
bool signal_process(Process process, int signal) {
  const Fd handle(static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0)));
  // The pid may have been recycled since the scan. A stranger has another parent; one of ours that has lost its
  // parent meanwhile is our child.
  const pid_t parent = parent_of(process.pid);
  if (!handle || (parent != process.parent && parent != getpid())) return true;
  return syscall(SYS_pidfd_send_signal, handle.get(), signal, nullptr, 0) == 0 || errno != EPERM;
}

}  // namespace

pid_t parent_of(pid_t pid) {
  // In /proc/PID/stat, "pid (name) state ppid …", the name may hold anything, so its last parenthesis counts.
  char text[512];
  const Fd file(open(fmt::format("/proc/{}/stat", pid).c_str(), O_RDONLY | O_CLOEXEC));
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
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

std::vector<Process> descendants_of(pid_t ancestor, const std::vector<pid_t>& spared) {
  const auto children = children_by_parent();
  std::vector<Process> found;
  const auto add_children_of = [&](pid_t parent) {
    const auto [first, last] = children.equal_range(parent);
    for (auto child = first; child != last; ++child) {
      const bool is_spared = std::count(spared.begin(), spared.end(), child->second) > 0;
      if (!is_spared) found.push_back({child->second, parent});
    }
  };
  add_children_of(ancestor);
  for (size_t i = 0; i < found.size(); ++i) add_children_of(found[i].pid);
  return found;
}

std::vector<pid_t> signal_descendants(int signal, const std::vector<pid_t>& spared) {
  std::vector<pid_t> refused;
  for (const Process process : descendants_of(getpid(), spared)) {
    if (!signal_process(process, signal)) refused.push_back(process.pid);
  }
  return refused;
}

std::vector<pid_t> kill_descendants(const std::vector<pid_t>& spared) {
  std::set<pid_t> seen;
  size_t before = 0;
  for (int scan = 0; scan < kMostScans; ++scan, before = seen.size()) {
    signal_descendants(SIGSTOP, spared);
    for (const Process process : descendants_of(getpid(), spared)) seen.insert(process.pid);
    if (seen.size() == before) break;
  }
  return signal_descendants(SIGKILL, spared);
}

bool reap_children(const std::function<void(pid_t, int wait_status)>& report) {
  for (;;) {
    int wait_status = 0;
    const pid_t pid = waitpid(-1, &wait_status, WNOHANG | WUNTRACED | WCONTINUED);
    if (pid == 0) return true;
    if (pid < 0) return errno != ECHILD;
    report(pid, wait_status);
  }
}

}  // namespace zklock::host
