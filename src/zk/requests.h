// SPDX-License-Identifier: Apache-2.0
// Which requests are sent again and again in vain. When a connection is lost, the one whose turn it was is to blame:
// those behind it had none. Pure.
#pragma once

#include "base/time.h"
#include "zk/reply.h"
#include "zk/wire.h"

#include <map>
#include <string>

namespace zklock::zk {

// A request that is to be given up.
struct Stuck {
  Asked asked;
  Duration waited{};
  int losses = 0;                    // of the connection, over it
  Wire::End last = Wire::End::none;  // how it was lost
};

class Vain {
 public:
  // What is sent again within `patience` after a loss goes on being in vain.
  explicit Vain(Duration patience) : patience_(patience) {}

  // It was this one's turn since `turn` when the connection was lost.
  void note_loss(const Asked& asked, Deadline turn, Wire::End end);
  void note_answer(const Asked& asked);

  // Since when nothing whole has come for this one, whose turn it is since `turn`.
  Deadline since(const Asked& asked, Deadline turn) const;
  Stuck stuck(const Asked& asked, Deadline turn) const;

 private:
  struct Losses {
    Deadline since;
    Deadline last;
    int number = 0;
    Wire::End end = Wire::End::none;
  };

  const Losses* losses_of(const Asked& asked, Deadline turn) const;

  Duration patience_;
  std::map<std::string, Losses> losses_;  // by the request's title
};

// "ZooKeeper at … has closed the connection 31 times in 15s on the request to list /l (12 bytes): …"
std::string describe(const Stuck& stuck, const std::string& servers);

}  // namespace zklock::zk
