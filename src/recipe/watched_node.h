// SPDX-License-Identifier: Apache-2.0
// A node that is looked at and watched in one, so that no change is missed, whether it is there or not.
#pragma once

#include "zk/session.h"

#include <cstdint>
#include <string>
#include <utility>

namespace zklock::recipe {

// What a look asks for, and what a change of makes it stale. That the node comes or goes always does.
enum class Aspect {
  stat,      // of its data; needs no permission
  data,      // and its Stat
  children,  // their names
};

// When a look is due: at once, or kNever.
inline constexpr Deadline kAtOnce = Deadline();

class WatchedNode {
 public:
  // `tried` is for messages: "cannot watch /v".
  WatchedNode(zk::Session& session, std::string path, Aspect aspect, std::string tried)
      : session_(session), path_(std::move(path)), aspect_(aspect), tried_(std::move(tried)) {}

  // From when it returns on, no change is missed. False when the session has expired: what follows is then as before;
  // open another one and look again. What was seen is never taken back, in the next session neither. Throws what the
  // session throws, and a Failure (77) for what may not be read.
  bool look(Deadline until);
  // After look(): there may be a change, or the session is over.
  bool is_stale() const { return session_.expired() || !watch_ || watch_->fired; }
  Deadline due() const { return is_stale() ? kAtOnce : kNever; }

  // Likewise, of what was seen last.
  bool exists() const { return found_.code == zk::Code::ok; }
  // With what was asked for.
  const zk::Answer& found() const { return found_; }

 private:
  zk::Answer ask(Deadline until);

  zk::Session& session_;
  std::string path_;
  Aspect aspect_;
  std::string tried_;
  int64_t synced_ = 0;  // the session in which we have looked before
  zk::Watch watch_;
  zk::Answer found_;
};

}  // namespace zklock::recipe
