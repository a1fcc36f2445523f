// SPDX-License-Identifier: Apache-2.0
// Reads a node and watches it in the same request, so that no change is missed, whether the node exists or not.
#pragma once

#include "zk/session.h"

#include <cstdint>
#include <string>
#include <utility>

namespace zklock::recipe {

// What look() reads, and so which changes make it stale. Creating or deleting the node always does.
enum class Aspect {
  stat,      // a change of the data; needs no permission
  data,      // the data and its Stat
  children,  // the names of the children
};

// When the next look() is due: at once, or kNever.
inline constexpr Deadline kAtOnce = Deadline();

class WatchedNode {
 public:
  // `tried` is for messages: "cannot watch /v".
  WatchedNode(zk::Session& session, std::string path, Aspect aspect, std::string tried)
      : session_(session), path_(std::move(path)), aspect_(aspect), tried_(std::move(tried)) {}

  // Reads the node and sets the watch. No change after its return is missed, and it never shows an older state than an
  // earlier look(), not even in a new session. Throws what the session throws, and a Failure (77) if the node may not
  // be read; found() is then as before.
  void look();
  // After look(): true if there may be a change, or the session is over. A watch of another session never fires.
  bool is_stale() const { return session_.expired() || synced_ != session_.id() || !watch_ || watch_->fired; }
  Deadline due() const { return is_stale() ? kAtOnce : kNever; }
  // Returns when to look again though no watch has fired, or kNever. Servers from 3.8.4 and 3.9.2 on do not tell a
  // client what happens to a node that it may not read, and whether it may shows only in reading.
  Deadline again() const;

  // After look(): what was seen last.
  bool exists() const { return found_.code == zk::Code::ok; }
  // Contains what the Aspect asks for.
  const zk::Answer& found() const { return found_; }

 private:
  zk::Answer ask();

  zk::Session& session_;
  std::string path_;
  Aspect aspect_;
  std::string tried_;
  int64_t synced_ = 0;  // the session in which we have looked before
  Deadline looked_at_{};
  zk::Watch watch_;
  zk::Answer found_;
};

}  // namespace zklock::recipe
