// SPDX-License-Identifier: Apache-2.0
// What many queues have in them, asked together and again and again, with a bounded number of questions for each.
#pragma once

#include "recipe/queue/layout.h"
#include "zk/session.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace zklock::recipe {

struct QueueFigures {
  std::string path;
  int64_t items = 0;  // those in work among them
  int64_t dead = 0;
  bool estimated = false;         // segments that were not asked count as full
  size_t in_work = 0;             // among the first kItemsLookedAt
  bool more_in_work = false;      // all of those were
  int64_t oldest_ms = 0;          // when the oldest of the first items was pushed, the server's clock; 0: none
  int64_t made = 0;               // items ever, about
  std::optional<double> in, out;  // a second, since the look before
  Deadline seen{};                // when
};

inline constexpr size_t kItemsLookedAt = 20;
inline constexpr size_t kSegmentsLookedAt = 50;  // at either end of the items, and of the dead
inline constexpr size_t kPrioritiesLookedAt = 4;

class QueueSurveyor {
 public:
  explicit QueueSurveyor(zk::Session& session) : session_(session) {}

  // Looks at as many of `paths` as `left` questions allow, those first that were looked at the longest time ago, and
  // counts them down. Nothing is known of one that was never looked at. False where some had to wait.
  bool look(const std::vector<std::string>& paths, size_t& left, Deadline until);

  // Of those that the last look was about, in the order of their paths.
  std::vector<QueueFigures> figures() const;

 private:
  struct Visit;
  void ask_sizes(std::vector<Visit>& visits, Deadline until);
  void ask_first_items(std::vector<Visit>& visits, Deadline until);
  void note(const Visit& visit);

  zk::Session& session_;
  std::map<std::string, QueueFigures> known_;
  std::map<std::string, size_t> costs_;  // of the last look at each
};

}  // namespace zklock::recipe
