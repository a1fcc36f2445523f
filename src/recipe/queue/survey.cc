// SPDX-License-Identifier: Apache-2.0
#include "recipe/queue/survey.h"

#include "zk/batch.h"

#include <algorithm>

#include <fmt/format.h>

namespace zklock::recipe {

using zk::Answer;
using zk::Code;

namespace {

constexpr size_t kShownBytes = 200;
constexpr int kSmall = 8 * 1024;  // read many at once; larger ones one by one

void check(const zk::Session& session) {
  if (session.expired())
    throw Failure(ExitStatus::unavailable, "cannot read the queue: the session expired; run it again");
}

int64_t count_children(zk::Session& session, const std::string& folder, Deadline until) {
  std::vector<std::string> paths;
  for (const Segment& segment : list_segments(session, folder, until)) paths.push_back(segment_path(folder, segment));
  int64_t count = 0;
  for (const Answer& answer : stat_all(session, paths, until)) count += answer.stat.children;
  check(session);
  return count;
}

int64_t count_in_work(zk::Session& session, const std::string& folder, Deadline until) {
  int64_t count = 0;
  for (const Segment& segment : list_segments(session, folder, until)) {
    std::vector<std::string> paths;
    for (const std::string& name : list_items(session, folder, segment, until)) {
      paths.push_back(item_path(folder, segment, name));
    }
    const std::vector<Answer> stats = stat_all(session, paths, until);
    count += std::ranges::count_if(stats, [](const Answer& answer) { return is_claimed(answer.stat); });
  }
  check(session);
  return count;
}

}  // namespace

QueueCount count_queue(zk::Session& session, const QueueLayout& layout, bool exact, Deadline until) {
  QueueCount count;
  count.items = count_children(session, layout.items(), until);
  count.dead = count_children(session, layout.dead(), until);
  if (exact) count.in_work = count_in_work(session, layout.items(), until);
  return count;
}

std::vector<Segment> list_segments(zk::Session& session, const std::string& folder, Deadline until) {
  const Answer list = session.synced_children(folder, until);
  check(session);
  if (list.code != Code::ok && list.code != Code::no_node) {
    throw zk::failure_of(fmt::format("cannot list {}", folder), list);
  }
  return segments_of(list.names);
}

std::vector<std::string> list_items(zk::Session& session, const std::string& folder, const Segment& segment,
                                    Deadline until) {
  const std::string path = segment_path(folder, segment);
  const Answer list = session.children(path, until);
  check(session);
  if (list.code != Code::ok && list.code != Code::no_node) {
    throw zk::failure_of(fmt::format("cannot list {}", path), list);
  }
  std::vector<std::string> names;
  for (ItemName& item : items_of(list.names)) names.push_back(std::move(item.name));
  return names;
}

std::vector<QueueItem> QueueWalk::next(size_t most, Deadline until) {
  if (!begun_) ahead_ = list_segments(session_, folder_, until);
  if (!begun_) std::ranges::reverse(ahead_);
  begun_ = true;
  while (!ahead_.empty() && most > 0) {
    const Segment segment = ahead_.back();
    ahead_.pop_back();
    std::vector<QueueItem> items = read(segment, most, until);
    if (!items.empty()) return items;
  }
  return {};
}

std::vector<QueueItem> QueueWalk::read(const Segment& segment, size_t most, Deadline until) {
  std::vector<std::string> paths;
  std::vector<QueueItem> listed;
  for (std::string& name : list_items(session_, folder_, segment, until)) {
    listed.push_back({segment, std::move(name), {}, "", "", 0, ""});
    paths.push_back(path_of(listed.back()));
  }
  const std::vector<Answer> stats = stat_all(session_, paths, until);
  for (size_t i = 0; i < listed.size(); ++i) listed[i].stat = stats[i].stat;
  std::erase_if(listed, [](const QueueItem& item) { return item.stat.created == 0; });
  // Dead ones have the numbers of the segments that they came from.
  std::ranges::stable_sort(listed, {}, [](const QueueItem& item) { return item.stat.created; });
  if (listed.size() > most) listed.erase(listed.begin() + static_cast<ptrdiff_t>(most), listed.end());
  read_data(listed, until);
  read_children(listed, until);
  check(session_);
  return listed;
}

void QueueWalk::read_data(std::vector<QueueItem>& items, Deadline until) {
  std::vector<std::string> paths;
  std::vector<QueueItem*> small;
  for (QueueItem& item : items) {
    if (item.stat.data_length > kSmall) {
      item.data = session_.read(path_of(item), until).data.substr(0, kShownBytes);
    } else if (item.stat.data_length > 0) {
      small.push_back(&item);
      paths.push_back(path_of(item));
    }
  }
  const std::vector<Answer> answers = read_all(session_, paths, until);
  for (size_t i = 0; i < small.size(); ++i) small[i]->data = answers[i].data.substr(0, kShownBytes);
}

// An item has a claim or none, a dead one says why.
void QueueWalk::read_children(std::vector<QueueItem>& items, Deadline until) {
  std::vector<std::string> paths;
  std::vector<QueueItem*> owners;
  for (QueueItem& item : items) {
    if (item.stat.children == 0) continue;
    for (const std::string& child : {claim_of(path_of(item)), why_of(path_of(item))}) paths.push_back(child);
    owners.push_back(&item);
  }
  const std::vector<Answer> answers = read_all(session_, paths, until);
  for (size_t i = 0; i < owners.size(); ++i) {
    owners[i]->claim = answers[2 * i].data;
    owners[i]->claim_ms = answers[2 * i].stat.created_ms;
    owners[i]->why = answers[2 * i + 1].data;
  }
}

}  // namespace zklock::recipe
