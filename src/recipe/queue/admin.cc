// SPDX-License-Identifier: Apache-2.0
#include "recipe/queue/admin.h"

#include <algorithm>
#include <iterator>
#include <span>

namespace zklock::recipe {

using zk::Answer;
using zk::Code;
using Paths = std::vector<std::string>;

namespace {

constexpr size_t kShownBytes = 200;
constexpr size_t kFirstItems = 10;  // some go before they are looked at
constexpr int kSmall = 8 * 1024;    // read many at once; larger ones one by one

// Does not count a claim that is in no session, because another consumer can take the item.
int64_t count_in_work(zk::Session& session, SegmentWalk segments) {
  int64_t count = 0;
  while (!segments.is_at_end()) {
    const Paths items = segments.next().items;
    segments.ask_ahead();
    const std::vector<Answer> stats = stat_all(session, items);
    Paths claims;
    for (size_t i = 0; i < items.size(); ++i) {
      if (is_claimed(stats[i].stat)) claims.push_back(claim_of(items[i]));
    }
    count +=
        std::ranges::count_if(stat_all(session, claims), [](const Answer& claim) { return is_ephemeral(claim.stat); });
  }
  return count;
}

}  // namespace

QueueCounts count_queue(zk::Session& session, const QueueLayout& layout, bool exact) {
  FoundQueue found{true};
  for (const std::string& folder : {layout.items(), layout.dead()}) {
    found.lists.push_back(session.synced_children(folder));
  }
  return count_queue(session, layout, found, exact);
}

QueueCounts count_queue(zk::Session& session, const QueueLayout& layout, const FoundQueue& found, bool exact) {
  const std::vector<Segment> segments = segments_in(layout.items(), found.lists[0]);
  const std::vector<Segment> dead = segments_in(layout.dead(), found.lists[1]);
  Paths paths;
  for (const Segment& segment : segments) paths.push_back(segment_path(layout.items(), segment));
  for (const Segment& segment : dead) paths.push_back(segment_path(layout.dead(), segment));
  const std::vector<Answer> answers = stat_all(session, paths);
  QueueCounts counts;
  for (size_t i = 0; i < answers.size(); ++i) {
    const int64_t items = answers[i].stat.children;
    (i < segments.size() ? counts.items : counts.dead) += items;
    if (i >= segments.size()) continue;
    int64_t& of_priority = counts.priorities[segments[i].priority];
    if (of_priority == 0 && items > 0) counts.first_segments.push_back(segments[i]);
    of_priority += items;
  }
  if (exact) counts.in_work = count_in_work(session, {session, layout.items(), found.lists[0]});
  return counts;
}

// The items of one priority are in the order of their pushes, so only the first ones are read.
int64_t find_oldest(zk::Session& session, const QueueLayout& layout, const QueueCounts& counts) {
  Paths segments;
  for (const Segment& segment : counts.first_segments) segments.push_back(segment_path(layout.items(), segment));
  const std::vector<Answer> lists = children_all(session, segments);
  Paths first;
  for (size_t i = 0; i < segments.size(); ++i) {
    Paths items = item_paths(segments[i], lists[i].names);
    items.resize(std::min(items.size(), kFirstItems));
    std::ranges::move(items, std::back_inserter(first));
  }
  int64_t oldest_ms = 0;
  for (const Answer& answer : stat_all(session, first)) {
    const int64_t created_ms = answer.stat.created_ms;
    if (created_ms != 0 && (oldest_ms == 0 || created_ms < oldest_ms)) oldest_ms = created_ms;
  }
  return oldest_ms;
}

std::vector<QueueItem> QueueWalk::next(size_t most) {
  while (!segments_.is_at_end() && most > 0) {
    std::vector<QueueItem> items = read(segments_.next().items, most);
    if (!items.empty()) return items;
  }
  return {};
}

std::vector<QueueItem> QueueWalk::read(const Paths& paths, size_t most) {
  if (paths.size() < most) segments_.ask_ahead();
  std::vector<QueueItem> listed;
  for (std::span<const std::string> left = paths; !left.empty() && listed.size() < most;) {
    // Dead letters have the numbers of their items, so any of them can be the one that died first.
    const size_t some = dead_ ? left.size() : std::min(left.size(), most - listed.size());
    const Paths chosen(left.begin(), left.begin() + static_cast<ptrdiff_t>(some));
    left = left.subspan(some);
    const std::vector<Answer> stats = stat_all(session_, chosen);
    for (size_t i = 0; i < chosen.size(); ++i) {
      if (stats[i].code == Code::ok) listed.push_back({chosen[i], stats[i].stat});
    }
  }
  std::ranges::stable_sort(listed, {}, [](const QueueItem& item) { return item.stat.created; });
  if (listed.size() > most) listed.erase(listed.begin() + static_cast<ptrdiff_t>(most), listed.end());
  read_data(listed);
  read_children(listed);
  return listed;
}

void QueueWalk::read_data(std::vector<QueueItem>& items) {
  Paths paths;
  size_t bytes = 0;
  std::vector<QueueItem*> small;
  for (QueueItem& item : items) {
    if (item.stat.data_length > kSmall) {
      item.data = session_.read(item.path).data.substr(0, kShownBytes);
    } else if (item.stat.data_length > 0) {
      small.push_back(&item);
      paths.push_back(item.path);
      bytes += static_cast<size_t>(item.stat.data_length);
    }
  }
  const std::vector<Answer> answers = read_all(session_, paths, bytes);
  for (size_t i = 0; i < small.size(); ++i) small[i]->data = answers[i].data.substr(0, kShownBytes);
}

// Reads both children, because an item may have a claim, and a dead letter its reason.
void QueueWalk::read_children(std::vector<QueueItem>& items) {
  Paths paths;
  std::vector<QueueItem*> owners;
  for (QueueItem& item : items) {
    if (item.stat.children == 0) continue;
    for (const std::string& child : {claim_of(item.path), why_of(item.path)}) paths.push_back(child);
    owners.push_back(&item);
  }
  const std::vector<Answer> answers = read_all(session_, paths);
  for (size_t i = 0; i < owners.size(); ++i) {
    owners[i]->claim = answers[2 * i].data;
    owners[i]->claim_ms = answers[2 * i].stat.created_ms;
    owners[i]->claim_left = answers[2 * i].code == Code::ok && !is_ephemeral(answers[2 * i].stat);
    owners[i]->why = answers[2 * i + 1].data;
  }
}

}  // namespace zklock::recipe
