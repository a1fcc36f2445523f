// SPDX-License-Identifier: Apache-2.0
// How a zklock that uses the lock of another one, its ancestor, makes itself known to that: it holds open a memory file
// whose name carries the lock's token, and the other finds it in /proc. No message, no file on disk, gone with the
// process. Where we may not look (the inner one runs as another user), there is none.
#pragma once

#include "host/fd.h"
#include "host/loop.h"

#include <cstdint>
#include <vector>

namespace zklock::host {

// The inner one's: open as long as it uses the lock.
Fd mark_nested(int64_t token);

// The outer one's view. In the loop it wakes up when the one that it has found ends.
class NestedProcesses : public Source {
 public:
  // Those that use a lock with one of these tokens.
  explicit NestedProcesses(std::vector<int64_t> tokens) : tokens_(std::move(tokens)) {}

  // Whether one lives among the caller's descendants.
  bool any();

  void arm(PollSet& set) override;
  void record(const PollSet& set) override;

 private:
  bool is_one(pid_t pid) const;

  std::vector<int64_t> tokens_;
  Fd found_;  // pidfd of one that lived when we last looked
};

}  // namespace zklock::host
