// SPDX-License-Identifier: Apache-2.0
// Reports what many queues contain, again and again. The queues are asked together, with a bounded number of questions
// for each.
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
  int64_t items = 0;  // including those in work
  int64_t dead = 0;
  bool estimated = false;         // segments that were not asked count as full
  size_t in_work = 0;             // among the items that were asked
  bool more_in_work = false;      // all of the first kItemsLookedAt are, so there may be more
  int64_t oldest_ms = 0;          // when the oldest of the first items was pushed, by the server's clock; 0: no items
  int64_t made = 0;               // how many items were ever made, about
  std::optional<double> in, out;  // per second, since the last look
  Deadline seen{};                // when it was asked
};

inline constexpr size_t kItemsLookedAt = 20;
inline constexpr size_t kSegmentsLookedAt = 50;  // at either end of the items, and of the dead letters
inline constexpr size_t kPrioritiesLookedAt = 4;

class QueueSurveyor {
 public:
  explicit QueueSurveyor(zk::Session& session) : session_(session) {}

  // Asks as many of `paths` as `left` questions allow, those first that were asked the longest time ago. Counts `left`
  // down by what each cost the last time. A queue that was never asked has no figures. Returns false if some must wait
  // for the next look.
  bool look(const std::vector<std::string>& paths, size_t& left);

  // Returns the figures of the queues that the last look was about, in the order of their paths.
  std::vector<QueueFigures> figures() const;

 private:
  struct Visit;
  void ask_sizes(std::vector<Visit>& visits);
  void ask_first_items(std::vector<Visit>& visits);
  void note(const Visit& visit);

  zk::Session& session_;
  std::map<std::string, QueueFigures> known_;
  std::map<std::string, size_t> costs_;  // the questions that each queue cost the last time
};

}  // namespace zklock::recipe
