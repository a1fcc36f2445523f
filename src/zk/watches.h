// SPDX-License-Identifier: Apache-2.0
// The watches that the library knows by a number: one of a kind on one node, however often it is asked for. Else a
// node that never changes would gather more and more of them, here, in the library and on the server.
#pragma once

#include "zk/answer.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::zk {

// A watch that somebody waits for, and the number under which the library knows it; 0: none.
struct Watching {
  Watch watch = nullptr;
  uintptr_t number = 0;
};

class Watches {
 public:
  // `kind`: of the request that sets it. Nothing for no watch.
  Watching keep(std::string_view kind, const std::string& path, const Watch& watch);
  // It was not set.
  void drop(const Watching& watching);
  // The server has told: all that wait for it have fired, once.
  void fire(uintptr_t number);

 private:
  struct Watched {
    std::string what;
    std::vector<std::weak_ptr<WatchState>> watches;
  };

  std::map<uintptr_t, Watched> watched_;      // by the number
  std::map<std::string, uintptr_t> numbers_;  // by what is watched
  uintptr_t next_ = 1;
};

}  // namespace zklock::zk
