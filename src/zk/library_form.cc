// SPDX-License-Identifier: Apache-2.0
#include "zk/library_form.h"

#include "base/failure.h"

#include <algorithm>

#include <fmt/format.h>

namespace zklock::zk {

namespace {

// The server's jute.maxbuffer is 1 MiB less one byte for the whole request; more, and it drops the connection.
constexpr size_t kLargestRequest = 1048575;
constexpr size_t kRequestOverhead = 512;  // headers, ACL, flags

}  // namespace

std::vector<std::string> odd_number_of(std::vector<std::string> addresses) {
  if (addresses.size() % 2 == 0) addresses.push_back(addresses.front());
  return addresses;
}

std::string library_list(const std::vector<std::string>& addresses) {
  std::string list;
  for (std::string address : addresses) {
    std::erase_if(address, [](char c) { return c == '[' || c == ']'; });
    if (!list.empty()) list += ',';
    list += address;
  }
  return list;
}

void check_request_size(const std::string& path, size_t data_size) {
  const size_t rest = std::min(path.size() + kRequestOverhead, kLargestRequest);
  if (rest + data_size <= kLargestRequest) return;
  throw Failure(ExitStatus::bad_data, fmt::format("{} bytes are too many for {}: ZooKeeper takes at most {}", data_size,
                                                  path, kLargestRequest - rest));
}

}  // namespace zklock::zk
