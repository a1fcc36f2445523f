// SPDX-License-Identifier: Apache-2.0
// The lives of contenders in a history: each from the making of its node in one line to that node's end.
#pragma once

#include "replay.h"

#include <string>
#include <vector>

namespace zklock::model {

struct Life {
  int64_t pid = 0;
  int64_t timeout = 0;  // of its session, ns
  std::string line;     // the node below which it waits
  Marks marks = {};
  std::set<std::string> nodes = {};
  std::set<std::string> named = {};  // the nodes that it has waited for
  std::vector<size_t> losses = {};   // of the connection: after so many marks
  std::vector<size_t> expiries = {};
  std::vector<int64_t> fences = {kAlways};  // after so many marks
  std::vector<bool> runs = {false};         // whether its command runs, after so many marks
  bool killed = false;                      // no more of its events, and no end
  bool in_flight = false;                   // a request of a killed one is under way
  bool may_expire = false;                  // its session may have expired, for all that is known
  bool removed = false;                     // an outsider removed its node
  bool undone = false;  // it did not see its node deleted, for a reason: no answer, or no connection in time
  bool granted = false;
  bool taken = false;  // an outsider took its node or its session, whether it has noticed or not

  int64_t begins() const { return marks.front().earliest; }
  int64_t ends() const;  // unknown for a killed one
};

// Returns the lives in lines of locks that were granted, and of the gates to slots. Idle lines are left out, because a
// place goes with a claim. Lines with shared contenders, and contenders for any of several locks, are left out too.
std::vector<Life> lives_in(const std::vector<Account>& accounts);

// True if one of these nodes was waited for.
bool is_named(const std::set<std::string>& nodes, const std::set<std::string>& named);

}  // namespace zklock::model
