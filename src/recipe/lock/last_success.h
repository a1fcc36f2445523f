// SPDX-License-Identifier: Apache-2.0
// When a command last succeeded under a lock: the mtime of the node <path>.last, which the holder writes in the same
// transaction in which it lets go, so that one who has lost the lock never writes. All times are the server's.
#pragma once

#include "recipe/lock/protected_node.h"
#include "zk/session.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::recipe {

// The name of that node: the path of the lock, and this.
inline constexpr std::string_view kLastSuccess = ".last";

class LastSuccess {
 public:
  // `data` is put on the nodes as it is; no two holders write the same.
  LastSuccess(zk::Session& session, const std::vector<Held>& held, std::string data);

  // How old the latest one is, by the server's clock; nothing if there never was one, or the session has expired. One
  // in the future does not count. Throws a Failure where it cannot be read.
  std::optional<Duration> age(Deadline until);
  // After age(): how far in the future one is that did not count; 0: none.
  Duration ahead() const { return ahead_; }

  // Records one as of now, and lets go of all that is ours. To be called after age(). False if it is not known to be
  // recorded: the lock was lost, or no server answered for `budget`. Throws a Failure where it may not be written.
  bool record(Duration budget);

 private:
  struct Success {
    Held held;
    std::string node;  // <path>.last
    bool exists = false;
  };

  std::vector<zk::Step> steps() const;
  bool look_again(Deadline until);

  zk::Session& session_;
  std::string data_;
  std::vector<Success> successes_;
  Duration ahead_{};
  bool recorded_ = false;
};

}  // namespace zklock::recipe
