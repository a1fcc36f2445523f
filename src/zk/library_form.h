// SPDX-License-Identifier: Apache-2.0
// What has to be brought into the form that the C library and the server can take.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace zklock::zk {

// `addresses`, with one of them twice if their number is even: else the library, once it has lost a connection, only
// ever tries every second one (ZOOKEEPER-2466).
std::vector<std::string> odd_number_of(std::vector<std::string> addresses);

// "::1:2181,127.0.0.1:2181": the library wants no brackets.
std::string library_list(const std::vector<std::string>& addresses);

// What a step of a transaction takes on the wire besides its path and data, at most: headers, an ACL, a version.
constexpr size_t kStepOverhead = 96;

// Throws a Failure (65) for a request that the server would answer by dropping the connection.
void check_request_size(const std::string& path, size_t data_size);

}  // namespace zklock::zk
