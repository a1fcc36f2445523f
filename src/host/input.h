// SPDX-License-Identifier: Apache-2.0
// A descriptor that was inherited, standard input, read in the loop: only after POLLIN, and without O_NONBLOCK, which
// others who have it open would get too. Whoever turns the loop, what was read stays until it is taken.
#pragma once

#include "host/loop.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace zklock::host {

class Input : public Source {
 public:
  explicit Input(int fd);

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
  bool reads() const;

  int fd_;
  bool wanted_ = false;
  bool dry_ = false;
  bool ended_ = false;
  int error_ = 0;
  int64_t count_ = 0;
  std::optional<int64_t> size_;
  std::string bytes_;
};

}  // namespace zklock::host
