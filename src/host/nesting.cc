// SPDX-License-Identifier: Apache-2.0
#include "host/nesting.h"

#include "host/tree.h"

#include <algorithm>
#include <dirent.h>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

namespace zklock::host {

namespace {

std::string mark_name(int64_t token) {
  return fmt::format("zklock-nested-{}", token);
}

}  // namespace

Fd mark_nested(int64_t token) {
  return Fd(memfd_create(mark_name(token).c_str(), MFD_CLOEXEC));
}

bool NestedProcesses::any() {
  if (found_) return true;
  for (const Process& process : descendants_of(getpid())) {
    if (!is_one(process.pid)) continue;
    found_ = Fd(static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0)));
    // Gone meanwhile, or another has its number: then it has no mark any more.
    if (found_ && is_one(process.pid)) return true;
    found_ = Fd();
  }
  return false;
}

bool NestedProcesses::is_one(pid_t pid) const {
  const std::string folder = fmt::format("/proc/{}/fd", pid);
  const std::unique_ptr<DIR, int (*)(DIR*)> opened(opendir(folder.c_str()), closedir);
  if (!opened) return false;
  while (const dirent* item = readdir(opened.get())) {
    char target[128];
    const ssize_t length = readlink(fmt::format("{}/{}", folder, item->d_name).c_str(), target, sizeof target);
    const std::string_view text(target, length > 0 ? static_cast<size_t>(length) : 0);
    const auto is_mark = [&](int64_t token) { return text == "/memfd:" + mark_name(token) + " (deleted)"; };
    if (std::any_of(tokens_.begin(), tokens_.end(), is_mark)) return true;
  }
  return false;
}

void NestedProcesses::arm(PollSet& set) {
  if (found_) set.watch(found_.get(), POLLIN);
}

void NestedProcesses::record(const PollSet& set) {
  if (found_ && set.seen(found_.get())) found_ = Fd();
}

}  // namespace zklock::host
