// SPDX-License-Identifier: Apache-2.0
// The replies of servers of different releases in tests/replies.
#pragma once

#include <fstream>
#include <iterator>
#include <string>

namespace zklock::support {

inline constexpr const char* kReleases[] = {"3.4.14", "3.5.10", "3.6.4", "3.9.3", "clickhouse"};

inline std::string reply_of(const std::string& release, const std::string& role, const std::string& word) {
  std::ifstream in(ZKLOCK_SOURCE_DIR "/tests/replies/" + release + "/" + role + "." + word, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace zklock::support
