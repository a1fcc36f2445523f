// SPDX-License-Identifier: Apache-2.0
// Whether a lock that was taken is still ours. Lives in the loop while the command runs: watches our own node, looks
// at it again after every reconnect, and notices the end of the session.
#pragma once

#include "host/loop.h"
#include "zk/session.h"

#include <cstdint>
#include <string>

namespace zklock::recipe {

class Lease : public host::Source {
 public:
  // `node`: our own, held in the session as it is now. Asks for the watch at once.
  Lease(zk::Session& session, std::string node);

  enum class State {
    held,
    node_deleted,  // by somebody, while our session lived
    expired,       // the session is over
  };
  State state() const { return state_; }

  void arm(host::PollSet&) override {}
  void record(const host::PollSet&) override {}
  void decide() override;

 private:
  void look();
  void take_answer();

  zk::Session& session_;
  std::string node_;
  State state_ = State::held;
  zk::Watch watch_;           // nothing: not set, look again
  zk::Call look_;             // the read under way, if any
  uint64_t connections_ = 0;  // as of the last look
};

}  // namespace zklock::recipe
