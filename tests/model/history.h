// SPDX-License-Identifier: Apache-2.0
// What zklocks did, as they wrote it down themselves (src/host/trace.h): the events of a file, by process.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::model {

struct Event {
  int64_t at = 0;  // when it was written down, CLOCK_BOOTTIME
  int64_t pid = 0;
  std::string session;
  std::string name;
  std::map<std::string, std::string, std::less<>> fields;  // texts without their quotes; what is null is not there
  std::string line;                                        // as it was read, for messages

  bool is(std::string_view other) const { return name == other; }
  bool has(std::string_view field) const { return fields.contains(field); }
  std::string text(std::string_view field) const;
  int64_t number(std::string_view field) const;
};

// One process's, in its order.
using Account = std::vector<Event>;

// Of all files together, by when they began. Throws std::runtime_error for a line that is none of a trace's; one that
// breaks off at a file's end, whose writer was killed, is left out.
std::vector<Account> read_history(const std::vector<std::string>& files);

// "/locks/l" of "/locks/l/_c_…-lock-0000000001".
std::string parent_of(const std::string& node);

constexpr int64_t kAlways = std::numeric_limits<int64_t>::min();
constexpr int64_t kNeverEnds = std::numeric_limits<int64_t>::max();

}  // namespace zklock::model
