// SPDX-License-Identifier: Apache-2.0
// What is said while items are pushed: at a terminal one line that is kept up to date and wiped out at the end; with
// --verbose a summary.
#pragma once

#include "base/time.h"
#include "host/terminal.h"

#include <cstdint>
#include <optional>
#include <string>

namespace zklock::command {

class PushProgress {
 public:
  // `watched`: somebody looks at standard error, and does not type the items.
  PushProgress(std::string path, bool watched, bool verbose);

  // When it wants to be told again; kNever: not at all.
  Deadline next_look() const { return next_look_; }
  // `share` of the input that was read, 0 to 1, where its size is known.
  void tell(int64_t in, std::optional<double> share);

  void wipe();
  void sum_up(int64_t in);

 private:
  std::string rate(int64_t in) const;

  std::string path_;
  bool verbose_;
  Deadline began_ = BootClock::now();
  Deadline next_look_ = kNever;
  host::StatusLine status_;
};

// "1 item is", "5 items are".
std::string items_are(int64_t count);

}  // namespace zklock::command
