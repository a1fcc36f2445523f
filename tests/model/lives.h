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
  std::string line;     // the node below which it stands
  Marks marks = {};
  std::set<std::string> nodes = {};
  std::set<std::string> named = {};  // whom it has waited for
  std::vector<size_t> losses = {};   // of the connection: behind so many marks
  std::vector<size_t> expiries = {};
  std::vector<int64_t> fences = {kAlways};  // behind so many marks
  std::vector<bool> runs = {false};         // its command, likewise
  bool killed = false;                      // no more of its events, and no end
  bool in_flight = false;                   // a request of a killed one
  bool may_expire = false;                  // its session, for all that is known
  bool removed = false;                     // its node, by somebody else
  bool undone = false;  // it did not see its node deleted, for a reason: no answer, or no connection in time
  bool granted = false;
  bool taken = false;  // its node or its session by somebody else, whether it has seen that or not

  int64_t begins() const { return marks.front().earliest; }
  int64_t ends() const;  // nobody knows when of one that was killed
};

// In lines of locks that somebody was granted, and of the gates to slots. No others': a place in an idle line goes with
// a claim. Nor those with shared contenders, nor of who wants any of several.
std::vector<Life> lives_in(const std::vector<Account>& accounts);

// Whether one of these nodes was waited for.
bool is_named(const std::set<std::string>& nodes, const std::set<std::string>& named);

}  // namespace zklock::model
