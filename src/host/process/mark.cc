// SPDX-License-Identifier: Apache-2.0
#include "host/process/mark.h"

#include "base/text.h"
#include "host/process/survivor.h"
#include "host/process/tree.h"

#include <algorithm>
#include <fcntl.h>
#include <optional>
#include <string>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

namespace zklock::host {

namespace {

using namespace std::chrono_literals;

// An inner zklock that is found may remove its mark and wait in line for us, because it came after we removed ours. So
// we check again after this time.
constexpr Duration kLookAgain = 1s;

// The file's name is for processes that may read our descriptors. All may read /proc/locks, where the lock on the
// file's bytes from `token` on shows the same.
struct Mark {
  std::string name;
  int64_t token;
  int64_t length;
};

Mark inner_mark(int64_t token) {
  return {fmt::format("zklock-nested-{}", token), token, 1};
}

Mark outer_mark(int64_t token) {
  return {fmt::format("zklock-open-{}", token), token, 2};
}

Fd make_mark(const Mark& mark) {
  Fd file(memfd_create(mark.name.c_str(), MFD_CLOEXEC));
  if (!file) return file;  // errno says why
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = mark.token;
  lock.l_len = mark.length;
  fcntl(file.get(), F_SETLK, &lock);
  return file;
}

// Returns nothing if we may not read the process's descriptors.
std::optional<bool> has_file(pid_t pid, const Mark& mark) {
  const std::string folder = fmt::format("{}/fd", pid);
  const auto names = names_in_proc(folder);
  if (!names) return std::nullopt;
  for (const std::string& name : *names) {
    if (link_in_proc(fmt::format("{}/{}", folder, name)) == "/memfd:" + mark.name + " (deleted)") return true;
  }
  return false;
}

// Reads lines "1: POSIX ADVISORY WRITE PID DEVICE START END". Returns nothing if there is no such list (ProcSubset of
// systemd).
std::optional<bool> has_lock(pid_t pid, const Mark& mark) {
  const Fd locks = open_in_proc("locks");
  if (!locks) return std::nullopt;
  const std::string list = content_of(locks);
  const std::string owner = fmt::format("{}", pid);
  const std::string first = fmt::format("{}", mark.token);
  const std::string last = fmt::format("{}", mark.token + mark.length - 1);
  for (const std::string_view line : split(list, '\n')) {
    std::vector<std::string_view> words = split(line, ' ');
    std::erase(words, "");
    const bool is_owners = words.size() == 8 && words[1] == "POSIX" && words[4] == owner;
    if (is_owners && words[6] == first && words[7] == last) return true;
  }
  return false;
}

std::optional<bool> has_mark(pid_t pid, const Mark& mark) {
  const auto found = has_file(pid, mark);
  return found ? found : has_lock(pid, mark);
}

bool is_zklock(pid_t pid) {
  const std::string name = content_of(open_in_proc(fmt::format("{}/comm", pid)));
  return name == "zklock\n" || name == std::string(kGuardName) + "\n";
}

}  // namespace

Fd mark_nested(int64_t token) {
  return make_mark(inner_mark(token));
}

bool is_open_for_nesting(pid_t outer, int64_t token) {
  return has_mark(outer, outer_mark(token)).value_or(true);
}

bool is_used_below(pid_t outer, int64_t token) {
  const auto has = [](pid_t pid, const Mark& mark) { return has_mark(pid, mark).value_or(false); };
  for (pid_t ancestor = getppid(); ancestor > 0 && ancestor != outer; ancestor = parent_of(ancestor)) {
    if (has(ancestor, inner_mark(token)) && has(ancestor, outer_mark(token))) return true;
  }
  return false;
}

NestingMarks::NestingMarks(std::vector<int64_t> tokens) : tokens_(std::move(tokens)) {
  for (const int64_t token : tokens_) marks_.push_back(make_mark(outer_mark(token)));
}

bool NestingMarks::close_and_look() {
  marks_.clear();
  if (BootClock::now() < look_again_) return true;
  found_ = Fd();
  for (const Process& process : descendants_of(getpid())) {
    if (!is_nested(process.pid)) continue;
    // An old kernel has no pidfd; then the next check shows the end.
    found_ = Fd(static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0)));
    // If it ended meanwhile, or another process has its pid, there is no mark any more.
    if (is_nested(process.pid)) {
      look_again_ = deadline_in(kLookAgain);
      return true;
    }
  }
  found_ = Fd();
  look_again_ = {};
  return false;
}

bool NestingMarks::is_nested(pid_t pid) const {
  const auto uses = [&](int64_t token) { return has_mark(pid, inner_mark(token)).value_or(is_zklock(pid)); };
  return std::any_of(tokens_.begin(), tokens_.end(), uses);
}

void NestingMarks::arm(PollSet& set) {
  if (look_again_ == Deadline{}) return;
  if (found_) set.watch(found_.get(), POLLIN);
  set.wake_at(look_again_);
}

void NestingMarks::record(const PollSet& set) {
  if (!found_ || !set.seen(found_.get())) return;
  found_ = Fd();
  look_again_ = BootClock::now();
}

}  // namespace zklock::host
