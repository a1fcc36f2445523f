// SPDX-License-Identifier: Apache-2.0
#include "zk/log_thinner.h"

#include <algorithm>
#include <utility>

namespace zklock::zk {

namespace {

using namespace std::chrono_literals;

constexpr Duration kFirstPause = 1s;
constexpr Duration kLongestPause = 30s;
constexpr size_t kMostLines = 100;  // that are remembered; an outage has a few for each server

// What stays the same: not date and process in front, nor the order in which the servers were tried.
std::string_view kind_of(std::string_view line) {
  const size_t begin = line.find("ZOO_");
  if (begin != line.npos) line.remove_prefix(begin);
  return line.substr(0, line.find("servers ["));
}

}  // namespace

std::optional<int64_t> LogThinner::show(std::string_view line, Deadline now) {
  if (said_.size() >= kMostLines) said_.clear();
  Said& said = said_[std::string(kind_of(line))];
  if (now < said.next) {
    ++said.left_out;
    return std::nullopt;
  }
  // Another outage begins anew.
  const bool again = said.pause > 0s && now < said.next + kLongestPause;
  said.pause = again ? std::min(2 * said.pause, kLongestPause) : kFirstPause;
  said.next = now + said.pause;
  return std::exchange(said.left_out, 0);
}

}  // namespace zklock::zk
