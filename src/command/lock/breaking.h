// SPDX-License-Identifier: Apache-2.0
// The breaking of one lock: who holds it, is that meant, do they let go. Whoever comes later is left alone.
#pragma once

#include "recipe/lock/revocation.h"
#include "recipe/lock/survey.h"

#include <string>
#include <vector>

namespace zklock::command {

struct BreakingOptions {
  std::string path;
  Duration patience{};   // for all of it, connecting included, but not for a person's answer; 0: does not wait
  bool confirm = false;  // ask the person at the terminal first
  bool force = false;    // take it away from who has not let go in time
};

class Breaking {
 public:
  Breaking(zk::SessionOptions session, BreakingOptions options)
      : options_(std::move(options)), session_(loop_, std::move(session)) {}

  // Returns when those who held the lock at the beginning hold it no more. Throws a Failure for all else: 1 for a
  // person's no, 65 for a queue, 75 where there is no such lock or somebody has not let go in time, 77, and what the
  // session throws.
  void run();

 private:
  recipe::Nodes find_holders();
  void confirm();
  void force_out(const recipe::Nodes& nodes);
  void remark(const std::string& text) const;
  std::string describe(const recipe::Nodes& nodes) const;

  BreakingOptions options_;
  host::Loop loop_;
  zk::Session session_;
  Deadline until_ = kNever;
  std::vector<recipe::Participant> holders_;
};

}  // namespace zklock::command
