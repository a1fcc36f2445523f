// SPDX-License-Identifier: Apache-2.0
// The data that others can read about a member: a text, or what a file holds, which can be read again.
#pragma once

#include "command/cli/options.h"

#include <optional>
#include <string>

namespace zklock::command {

class MemberData {
 public:
  // From the options --data and --data-file. Throws a Failure: 64 if both are given or the file cannot be read, 65 if
  // the data is too large.
  MemberData(const Value& text, Value file);

  const std::string& bytes() const { return bytes_; }
  // True if it comes from a regular file. Others must not be read again, because a pipe may block.
  bool can_change() const;
  // Reads the file again and returns nothing. If that fails, returns the reason, and the data stays as it was.
  std::optional<std::string> read_again();

 private:
  std::optional<std::string> read();

  Value file_;
  std::string bytes_;
};

}  // namespace zklock::command
