// SPDX-License-Identifier: Apache-2.0
// What zklocks did, as they recorded it (src/host/trace.h): the events of a file, by process.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::model {

struct Event {
  int64_t at = 0;  // when it was recorded, CLOCK_BOOTTIME
  int64_t pid = 0;
  std::string session;
  std::string name;
  std::map<std::string, std::string, std::less<>> fields;  // texts without their quotes; null fields are left out
  std::string line;                                        // as it was read, for messages

  bool is(std::string_view other) const { return name == other; }
  bool has(std::string_view field) const { return fields.contains(field); }
  std::string text(std::string_view field) const;
  int64_t number(std::string_view field) const;
};

// The events of one process, in its order.
using Account = std::vector<Event>;

// Returns the accounts of all files together, by when they began. Throws std::runtime_error if a line is not a trace's.
// Leaves out a line that breaks off at a file's end, whose writer was killed.
std::vector<Account> read_history(const std::vector<std::string>& files);

// Returns "/locks/l" for "/locks/l/_c_…-lock-0000000001".
std::string parent_of(const std::string& node);

constexpr int64_t kAlways = std::numeric_limits<int64_t>::min();
constexpr int64_t kNeverEnds = std::numeric_limits<int64_t>::max();

}  // namespace zklock::model
