// SPDX-License-Identifier: Apache-2.0
// The figures of queues.
#include "base/contains.h"
#include "recipe/overview/overview.h"

#include <algorithm>
#include <set>
#include <utility>

namespace zklock::recipe {

namespace {

using zk::Answer;
using Names = std::vector<std::string>;

// True for the segments that are asked. The others, in the middle, count as full.
bool is_looked_at(size_t index, size_t count) {
  return index < kSegmentsLookedAt || index + kSegmentsLookedAt >= count;
}

// A list comes with the Stat.
zk::Session::Send look_at(const std::string& segment, bool with_list) {
  return [=](zk::Client& client) { return with_list ? client.children(segment) : client.exists(segment); };
}

}  // namespace

// What is below the items or the dead letters of a queue.
struct FolderSizes {
  std::vector<Segment> segments;
  std::vector<Answer> looks;  // a Stat of each segment, or also its list; empty for those that were not asked

  const zk::Stat& stat(size_t index) const { return looks[index].stat; }

  int64_t count() const {
    int64_t count = 0;
    for (size_t i = 0; i < segments.size(); ++i) {
      count += is_looked_at(i, segments.size()) ? stat(i).children : kSegmentSize;
    }
    return count;
  }
  bool estimated() const { return segments.size() > 2 * kSegmentsLookedAt; }

  // Returns how many items were ever made. For each priority, that is the segments before its last one, and what was
  // made in the last one.
  int64_t made() const {
    int64_t made = 0;
    for (size_t i = 0; i < segments.size(); ++i) {
      const bool last = i + 1 == segments.size() || segments[i + 1].priority != segments[i].priority;
      if (last) made += segments[i].number * kSegmentSize + made_in(stat(i));
    }
    return made;
  }

  // Returns the first segments of the first few priorities; if `with_items`, the first ones that have items.
  std::vector<size_t> first(bool with_items) const {
    std::vector<size_t> first;
    for (size_t i = 0; i < segments.size() && first.size() < kPrioritiesLookedAt; ++i) {
      const bool more = !first.empty() && segments[first.back()].priority == segments[i].priority;
      if (!more && (!with_items || stat(i).children > 0)) first.push_back(i);
    }
    return first;
  }
};

struct QueueSurveyor::Visit {
  QueueLayout layout;
  FolderSizes items, dead;
  QueueFigures now;
};

bool QueueSurveyor::look(const Names& paths, size_t& left) {
  const std::set<std::string> present(paths.begin(), paths.end());
  std::erase_if(known_, [&](const auto& one) { return !present.contains(one.first); });
  Names turn = paths;
  std::ranges::stable_sort(turn, {}, [this](const std::string& path) { return known(path).seen; });
  std::vector<Visit> visits;
  constexpr size_t kLeastCost = 4;
  for (const std::string& path : turn) {
    const size_t cost = std::max(known(path).cost, kLeastCost);
    if (cost > left) break;
    left -= cost;
    visits.push_back({{path}, {}, {}, {}});
  }
  ask_sizes(visits);
  ask_first_items(visits);
  for (Visit& visit : visits) note(visit);
  return visits.size() == paths.size();
}

const QueueFigures& QueueSurveyor::known(const std::string& path) const {
  static const QueueFigures nothing;
  const auto found = known_.find(path);
  return found == known_.end() ? nothing : found->second;
}

void QueueSurveyor::ask_sizes(std::vector<Visit>& visits) {
  Names folders;
  for (const Visit& visit : visits) {
    folders.push_back(visit.layout.items());
    folders.push_back(visit.layout.dead());
  }
  const std::vector<Answer> lists = zk::children_all(session_, folders);
  Names paths;
  std::vector<zk::Session::Send> asked;
  std::vector<Answer*> wanted;
  for (size_t i = 0; i < folders.size(); ++i) {
    FolderSizes& sizes = i % 2 == 0 ? visits[i / 2].items : visits[i / 2].dead;
    sizes.segments = segments_of(lists[i].names);
    sizes.looks.resize(sizes.segments.size());
    // The first items are asked next.
    const std::vector<size_t> listed = i % 2 == 0 ? sizes.first(false) : std::vector<size_t>();
    for (size_t n = 0; n < sizes.segments.size(); ++n) {
      if (!is_looked_at(n, sizes.segments.size())) continue;
      paths.push_back(segment_path(folders[i], sizes.segments[n]));
      asked.push_back(look_at(paths.back(), contains(listed, n)));
      wanted.push_back(&sizes.looks[n]);
    }
    visits[i / 2].now.cost += 1 + std::min(sizes.segments.size(), 2 * kSegmentsLookedAt);
  }
  std::vector<Answer> looks = zk::answer_all(session_, asked);
  Names hidden;
  for (size_t i = 0; i < looks.size(); ++i) {
    *wanted[i] = std::move(looks[i]);
    if (wanted[i]->code == zk::Code::no_auth) hidden.push_back(paths[i]);
  }
  // Everyone may have the Stat.
  std::vector<Answer> stats = zk::stat_all(session_, hidden);
  auto stat = stats.begin();
  for (Answer* look : wanted) {
    if (look->code == zk::Code::no_auth) *look = std::move(*stat++);
  }
}

// Lists the first segments with items, as far as they were not listed before.
void QueueSurveyor::list_first_segments(std::vector<Visit>& visits) {
  Names listed;
  std::vector<Answer*> wanted;
  for (Visit& visit : visits) {
    for (const size_t index : visit.items.first(true)) {
      if (!visit.items.looks[index].names.empty()) continue;
      listed.push_back(segment_path(visit.layout.items(), visit.items.segments[index]));
      wanted.push_back(&visit.items.looks[index]);
      ++visit.now.cost;
    }
  }
  std::vector<Answer> lists = zk::children_all(session_, listed);
  for (size_t i = 0; i < lists.size(); ++i) wanted[i]->names = std::move(lists[i].names);
}

void QueueSurveyor::ask_first_items(std::vector<Visit>& visits) {
  list_first_segments(visits);
  Names asked;
  std::vector<QueueFigures*> figures_of;
  for (Visit& visit : visits) {
    bool first = true;
    for (const size_t index : visit.items.first(true)) {
      Names items =
          item_paths(segment_path(visit.layout.items(), visit.items.segments[index]), visit.items.looks[index].names);
      // In the first segment, the first items are asked. In the others, one item shows how old they are.
      items.resize(std::min(items.size(), first ? kItemsLookedAt : 1));
      visit.now.more_in_work |= first && items.size() == kItemsLookedAt;
      visit.now.cost += items.size();
      asked.insert(asked.end(), items.begin(), items.end());
      figures_of.insert(figures_of.end(), items.size(), &visit.now);
      first = false;
    }
  }
  const std::vector<Answer> stats = zk::stat_all(session_, asked);
  for (size_t i = 0; i < stats.size(); ++i) {
    const zk::Stat& stat = stats[i].stat;
    QueueFigures& now = *figures_of[i];
    if (is_claimed(stat)) ++now.in_work;
    const bool older = now.oldest_ms == 0 || stat.created_ms < now.oldest_ms;
    if (stat.created != 0 && older) now.oldest_ms = stat.created_ms;
  }
}

void QueueSurveyor::note(Visit& visit) {
  QueueFigures& now = visit.now;
  now.path = visit.layout.queue;
  now.items = visit.items.count();
  now.dead = visit.dead.count();
  now.estimated = visit.items.estimated() || visit.dead.estimated();
  now.more_in_work = now.more_in_work && now.in_work >= kItemsLookedAt;
  now.made = visit.items.made();
  now.seen = BootClock::now();
  QueueFigures& before = known_[now.path];
  if (before.seen != Deadline{}) {
    const double seconds = seconds_of(now.seen - before.seen);
    const int64_t in = std::max<int64_t>(now.made - before.made, 0);
    const int64_t out = std::max<int64_t>(in - (now.items - before.items), 0);
    if (seconds > 0) now.in = static_cast<double>(in) / seconds;
    if (seconds > 0) now.out = static_cast<double>(out) / seconds;
  }
  before = std::move(now);
}

std::vector<QueueFigures> QueueSurveyor::figures() const {
  std::vector<QueueFigures> all;
  for (const auto& [path, figures] : known_) all.push_back(figures);
  return all;
}

}  // namespace zklock::recipe
