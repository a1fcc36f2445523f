// SPDX-License-Identifier: Apache-2.0
// Marks by which a zklock that uses the lock of another one, its ancestor, and that outer zklock know of each other.
// Each holds open a memory file whose name contains the lock's token, and the other finds the file in /proc. So there
// is no message and no file on disk, and a mark ends with its process. If the other zklock runs as another user, a lock
// on the memory file shows the same in /proc/locks.
// The inner zklock makes its mark and then checks for the outer one's. The outer zklock removes its mark and then
// checks for inner ones. So neither can miss the other.
#pragma once

#include "host/fd.h"
#include "host/loop.h"

#include <cstdint>
#include <sys/types.h>
#include <vector>

namespace zklock::host {

// Returns the inner zklock's mark, to be kept open as long as it uses the lock; none if it cannot be made.
Fd mark_nested(int64_t token);

// Returns whether `outer` still lets others use its lock. Also true if we may read neither its descriptors nor
// /proc/locks.
bool is_open_for_nesting(pid_t outer, int64_t token);

// Returns whether a zklock between us and `outer`, an ancestor of ours, uses this lock of `outer`'s and lets others use
// it: `outer` waits for that one.
bool is_used_below(pid_t outer, int64_t token);

// The outer zklock's side, for its locks with these tokens. In the loop, it ends a turn when the inner zklock that it
// found ends, and after a second, to check again.
class NestingMarks : public Source {
 public:
  // Makes the marks: from now on other zklocks may use the locks.
  explicit NestingMarks(std::vector<int64_t> tokens);

  // Removes the marks, so that no other zklock can begin to use the locks. Returns whether one that uses them lives
  // among the caller's descendants. If we may read neither descriptors nor /proc/locks, each zklock counts.
  bool close_and_look();

  void arm(PollSet& set) override;
  void record(const PollSet& set) override;

 private:
  bool is_nested(pid_t pid) const;

  std::vector<int64_t> tokens_;
  std::vector<Fd> marks_;
  Fd found_;               // pidfd of the inner zklock that the last check found; none in an old kernel
  Deadline look_again_{};  // Deadline{}: none was found
};

}  // namespace zklock::host
