// SPDX-License-Identifier: Apache-2.0
// The replies of servers of different releases, in tests/replies.
#pragma once

#include <string>

namespace zklock::support {

inline constexpr const char* kReleases[] = {"3.4.14", "3.5.10", "3.6.4", "3.9.3", "clickhouse"};

std::string reply_of(const std::string& release, const std::string& role, const std::string& word);

}  // namespace zklock::support
