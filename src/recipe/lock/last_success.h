// SPDX-License-Identifier: Apache-2.0
// Reads and records when a command last succeeded under a lock: the mtime of the node <path>.last. The holder writes
// that node in the transaction that releases the lock, so a client that has lost the lock never writes. All times are
// by the server's clock; but under the lock of an outer zklock, this host's clock tells how much has passed.
#pragma once

#include "recipe/lock/protected_node.h"
#include "zk/session.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::recipe {

// The path of that node is the path of the lock, followed by this.
inline constexpr std::string_view kLastSuccess = ".last";

// Returns what sends the read of it. It goes with the making of a node in the lock's line (Lock::set_besides). A holder
// writes its success when its node goes. So if a list shows no contender before us, what is read behind it has each
// success.
zk::Session::Send read_of_success(const std::string& lock);

class LastSuccess {
 public:
  // `data` is written on the nodes as it is. No two holders may write the same. `is_record`: what is on such a node may
  // be the `data` of an earlier holder.
  LastSuccess(zk::Session& session, const std::vector<Held>& held, std::string data,
              bool (*is_record)(const std::string& data));

  // Returns the age of the latest success; nothing if there is none. A success in the future does not count. Reads what
  // was not read with the lock (Held::beside). Throws a Failure if a node cannot be read, or is no record (65).
  std::optional<Duration> age();
  // After age(): how far ahead the success lies that was ignored; 0: none.
  Duration ahead() const { return ahead_; }

  // Records a success as of now and releases all locks that are ours, for `budget` at most. To be called after age(),
  // and again if it returned false. Returns false if the success is not known to be recorded: the lock was lost, or no
  // server answered for `budget`. Throws a Failure if a node may not be written.
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
  bool (*is_record_)(const std::string& data);
  std::vector<Success> successes_;
  Duration ahead_{};
  bool recorded_ = false;
};

}  // namespace zklock::recipe
