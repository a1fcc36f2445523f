// SPDX-License-Identifier: Apache-2.0
// Standard input and standard output of who must never be blocked by the other end. O_NONBLOCK is not set on them,
// because others who have them open would get it too.
#pragma once

#include "host/fd.h"
#include "host/loop.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace zklock::host {

// A descriptor that was inherited, read in the loop, and only after POLLIN. Whoever turns the loop, what was read stays
// until it is taken.
class StandardInput : public Source {
 public:
  explicit StandardInput(int fd);

  // Whether the next turns read. At first they do not.
  void want(bool wanted) { wanted_ = wanted && !ended_; }
  bool is_wanted() const { return wanted_; }

  // What was read since the last time. While a piece is not taken, no more is read.
  std::string take() { return std::exchange(bytes_, {}); }
  bool is_dry() const { return dry_; }      // there was no more when it was last asked for
  bool is_ended() const { return ended_; }  // and there will be no more
  int error() const { return error_; }      // errno of a read that failed, which ends it; 0: none

  int64_t count() const { return count_; }               // bytes read
  std::optional<int64_t> size() const { return size_; }  // of what there was to read in a regular file

  void arm(PollSet& set) override;
  void record(const PollSet& set) override;

 private:
  static constexpr size_t kPiece = 64 * 1024;

  // What nobody has taken yet, because whoever turns the loop waits for something else, is kept, and bounded.
  bool reads() const { return wanted_ && bytes_.size() < kPiece; }

  int fd_;
  bool wanted_ = false;
  bool dry_ = false;
  bool ended_ = false;
  int error_ = 0;
  int64_t count_ = 0;
  std::optional<int64_t> size_;
  std::string bytes_;
};

// Written to only when it takes something, and no more than it takes at once. In the loop it notices a reader who goes.
class StandardOutput : public Source {
 public:
  StandardOutput();

  // How much of `text` was taken: 0 if it takes nothing now. Throws a Failure: by SIGPIPE when nobody reads any more,
  // 74 for other errors.
  size_t write(std::string_view text);
  // From now on a turn of the loop ends when it takes something again.
  void want(bool wanted) { wanted_ = wanted; }

  void arm(PollSet& set) override;
  void record(const PollSet& set) override;
  void decide() override;

 private:
  Fd own_;  // of a terminal; all else takes PIPE_BUF bytes after POLLOUT without blocking
  int fd_;
  bool is_socket_ = false;  // which can be asked not to block, for one call
  bool wanted_ = false;
  bool broken_ = false;
  bool told_ = false;  // that it is broken: once, so that cleaning up can wait
};

// What `fd` writes to, opened once more for writing, so that O_NONBLOCK, which it has, is ours alone; none where we may
// not.
Fd open_for_us_alone(int fd);

}  // namespace zklock::host
