// SPDX-License-Identifier: Apache-2.0
// What a member lets others read about it: a text, or what is in a file, which can change.
#pragma once

#include "command/cli/options.h"

#include <optional>
#include <string>

namespace zklock::command {

class MemberData {
 public:
  // Throws a Failure: 64 if both are given, or if the file cannot be read; 65 if it is too much.
  MemberData(const Value& text, const Value& file);

  const std::string& bytes() const { return bytes_; }
  // It can be read again, without being waited for: not from a pipe.
  bool can_change() const;
  // Nothing if that went well. Else why it did not, and bytes() are as before.
  std::optional<std::string> read_again();

 private:
  Value file_;
  std::string bytes_;
};

}  // namespace zklock::command
