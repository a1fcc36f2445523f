// SPDX-License-Identifier: Apache-2.0
// How a zklock that uses the lock of another one, its ancestor, and that one know of each other. Each holds open a
// memory file whose name carries the lock's token, and the other finds it in /proc: no message, no file on disk, gone
// with the process. Where the other runs as another user, a lock on that file tells the same in /proc/locks. The inner
// one makes its mark and then looks for the outer one's; the outer one takes its own away
// and then looks for the inner ones': so that neither can miss the other.
#pragma once

#include "host/fd.h"
#include "host/loop.h"

#include <cstdint>
#include <sys/types.h>
#include <vector>

namespace zklock::host {

// The inner one's: open as long as it uses the lock.
Fd mark_nested(int64_t token);

// Whether `outer` still lets others use its lock. Also true where we may look nowhere.
bool is_open_for_nesting(pid_t outer, int64_t token);

// The outer one's side, for its locks with these tokens. In the loop it wakes up when the one that it has found ends,
// and after a while to look again.
class NestingMarks : public Source {
 public:
  // Open for others from now on.
  explicit NestingMarks(std::vector<int64_t> tokens);

  // Nobody new can come from now on. Whether one lives among the caller's descendants; where we may look nowhere, each
  // zklock counts.
  bool close_and_look();

  void arm(PollSet& set) override;
  void record(const PollSet& set) override;

 private:
  bool is_nested(pid_t pid) const;

  std::vector<int64_t> tokens_;
  std::vector<Fd> marks_;
  Fd found_;               // pidfd of one that lived when we last looked; none in an old kernel
  Deadline look_again_{};  // none: none was found
};

}  // namespace zklock::host
