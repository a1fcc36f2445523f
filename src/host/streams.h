// SPDX-License-Identifier: Apache-2.0
// Standard output of who must never be blocked by its reader: written to only when it takes something, and no more than
// it takes at once. O_NONBLOCK is not set on it, because others share it. In the loop it notices a reader who goes.
#pragma once

#include "host/fd.h"
#include "host/loop.h"

#include <string_view>

namespace zklock::host {

class Outlet : public Source {
 public:
  Outlet();

  // How much of `text` was taken: 0 if it takes nothing now. Throws a Failure: by SIGPIPE when nobody reads any more,
  // 74 for other errors.
  size_t write(std::string_view text);
  // From now on a turn of the loop ends when it takes something again.
  void want(bool wanted) { wanted_ = wanted; }

  void arm(PollSet& set) override;
  void record(const PollSet& set) override;
  void decide() override;

 private:
  enum class Kind {
    pipe_or_file,  // after POLLOUT, takes PIPE_BUF bytes without blocking
    socket,        // can be asked not to block, for one call
    terminal,      // opened once more: that description of it is ours alone
  };

  Kind kind_ = Kind::pipe_or_file;
  Fd own_;  // of a terminal
  int fd_;
  bool wanted_ = false;
  bool broken_ = false;
  bool told_ = false;  // that it is broken: once, so that cleaning up can wait
};

}  // namespace zklock::host
