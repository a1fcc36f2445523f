// SPDX-License-Identifier: Apache-2.0
#include "host/nesting.h"

#include "host/tree.h"

#include <algorithm>
#include <dirent.h>
#include <memory>
#include <optional>
#include <string>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

namespace zklock::host {

namespace {

std::string inner_name(int64_t token) {
  return fmt::format("zklock-nested-{}", token);
}

std::string outer_name(int64_t token) {
  return fmt::format("zklock-open-{}", token);
}

Fd make_mark(const std::string& name) {
  return Fd(memfd_create(name.c_str(), MFD_CLOEXEC));
}

// Nothing where we may not look.
std::optional<bool> has_mark(pid_t pid, const std::string& name) {
  const std::string folder = fmt::format("/proc/{}/fd", pid);
  const std::unique_ptr<DIR, int (*)(DIR*)> opened(opendir(folder.c_str()), closedir);
  if (!opened) return std::nullopt;
  while (const dirent* item = readdir(opened.get())) {
    char target[128];
    const ssize_t length = readlink(fmt::format("{}/{}", folder, item->d_name).c_str(), target, sizeof target);
    const std::string_view text(target, length > 0 ? static_cast<size_t>(length) : 0);
    if (text == "/memfd:" + name + " (deleted)") return true;
  }
  return false;
}

}  // namespace

Fd mark_nested(int64_t token) {
  return make_mark(inner_name(token));
}

bool is_open_for_nesting(pid_t outer, int64_t token) {
  return has_mark(outer, outer_name(token)).value_or(true);
}

Nest::Nest(std::vector<int64_t> tokens) : tokens_(std::move(tokens)) {
  for (const int64_t token : tokens_) marks_.push_back(make_mark(outer_name(token)));
}

bool Nest::close_and_look() {
  marks_.clear();
  if (found_) return true;
  for (const Process& process : descendants_of(getpid())) {
    if (!is_nested(process.pid)) continue;
    found_ = Fd(static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0)));
    // Gone meanwhile, or another has its number: then it has no mark any more.
    if (found_ && is_nested(process.pid)) return true;
    found_ = Fd();
  }
  return false;
}

bool Nest::is_nested(pid_t pid) const {
  const auto uses = [&](int64_t token) { return has_mark(pid, inner_name(token)).value_or(false); };
  return std::any_of(tokens_.begin(), tokens_.end(), uses);
}

void Nest::arm(PollSet& set) {
  if (found_) set.watch(found_.get(), POLLIN);
}

void Nest::record(const PollSet& set) {
  if (found_ && set.seen(found_.get())) found_ = Fd();
}

}  // namespace zklock::host
