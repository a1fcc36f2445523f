// SPDX-License-Identifier: Apache-2.0
// bare drain PATH [JOBS]: takes all items out of a queue of one priority without other users, with the requests of
// `zklock queue pull --all`. A transaction claims 128 items, which are then read. Up to eight such lots are on their
// way, and the next lists are asked for meanwhile. When a lot is written to standard output, another transaction
// removes its items, claims and all. A synced look comes last. The program leaves out what zklock does because of other
// consumers: small lots at first, and new lists now and then. With JOBS, a lot has half as many items, and two are on
// their way. An item then costs one write, as it costs `zklock queue pull -j 4` if its command is short.
#include "bare.h"
#include "bare_client.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>

namespace {

constexpr size_t kLot = 128;
constexpr size_t kLots = 8;
constexpr size_t kRemovals = 16;    // transactions in flight
constexpr size_t kListsAtOnce = 8;  // after the first one
constexpr size_t kFewItems = 1000;  // with fewer left, the next lists are asked for

// The library writes to the answers, so a Lot or a List must not move.
struct Lot {
  std::vector<std::string> paths;
  bare::Answer claimed;
  std::deque<bare::Answer> read;
};

struct List {
  std::string segment;
  bare::Answer answer;
};

class Drain {
 public:
  Drain(std::string queue, size_t lot, size_t lots)
      : lot_(lot), lots_(lots), queue_(std::move(queue)), items_(queue_ + "/items") {}

  void run() {
    look();
    while (claim_ahead()) work_off();
    look_again();
    while (!removing_.empty()) take_oldest();
  }

 private:
  void look() {
    bare::Answer synced;
    bare::Answer mark;
    bare::Answer segments;
    client_.sync(queue_, synced);
    client_.read(queue_, false, mark);
    client_.children(items_, segments);
    client_.await(segments, "cannot list");
    std::sort(segments.names.begin(), segments.names.end());
    for (const std::string& name : segments.names) segments_.push_back(items_ + "/" + name);
    if (!segments_.empty()) last_ = segments_.back();
    ask_for_lists(1);
  }

  // zklock looks for items that came meanwhile, in the flight of its last removal.
  void look_again() {
    bare::Answer synced;
    bare::Answer segments;
    bare::Answer listed;
    client_.sync(items_, synced);
    client_.children(items_, segments);
    if (!last_.empty()) client_.children(last_, listed);
    client_.await(segments, "cannot list");
    if (!last_.empty()) client_.await(listed, "cannot list");
  }

  void ask_for_lists(size_t most) {
    for (; most > 0 && !segments_.empty(); --most) {
      List& list = lists_.emplace_back();
      list.segment = std::move(segments_.front());
      segments_.pop_front();
      client_.children(list.segment, list.answer);
    }
  }

  // Returns false if there is no list to take in yet. Waits for one only if there is nothing else to do.
  bool take_list() {
    if (lists_.empty() && waiting_.size() < kFewItems) ask_for_lists(kListsAtOnce);
    const bool idle = waiting_.empty() && claimed_.empty();
    if (lists_.empty() || (!lists_.front().answer.done && !idle)) return false;
    auto& [segment, answer] = lists_.front();
    client_.await(answer, "cannot list");
    std::sort(answer.names.begin(), answer.names.end(), [](const std::string& a, const std::string& b) {
      return a.compare(a.size() - 10, 10, b, b.size() - 10, 10) < 0;
    });
    for (const std::string& name : answer.names) waiting_.push_back(segment + "/" + name);
    if (segment != last_ && !answer.names.empty()) sealed_[waiting_.back()] = segment;
    lists_.pop_front();
    return true;
  }

  // Returns false if nothing is left.
  bool claim_ahead() {
    while (claimed_.size() < lots_) {
      while (take_list()) {
      }
      if (waiting_.empty()) break;
      claim();
    }
    return !claimed_.empty();
  }

  void claim() {
    Lot& lot = claimed_.emplace_back();
    for (; lot.paths.size() < lot_ && !waiting_.empty(); waiting_.pop_front()) lot.paths.push_back(waiting_.front());
    for (const std::string& path : lot.paths) client_.add_create(path + "/claim", "", ZOO_EPHEMERAL);
    client_.transact(lot.claimed);
    for (const std::string& path : lot.paths) client_.read(path, false, lot.read.emplace_back());
    client_.turn(false);
  }

  void work_off() {
    const Lot& lot = claimed_.front();
    client_.await(lot.claimed, "cannot claim");
    for (const bare::Answer& item : lot.read) {
      client_.await(item, "cannot read");
      std::fwrite(item.data.data(), 1, item.data.size(), stdout);
      std::fputc('\n', stdout);
    }
    std::fflush(stdout);
    remove(lot.paths);
    claimed_.pop_front();
  }

  void remove(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
      client_.add_remove(path + "/claim");
      client_.add_remove(path);
    }
    client_.transact(removing_.emplace_back());
    for (const std::string& path : paths) {
      const auto ended = sealed_.find(path);
      if (ended == sealed_.end()) continue;
      client_.add_remove(ended->second);
      client_.transact(removing_.emplace_back());
      sealed_.erase(ended);
    }
    while (removing_.size() >= kRemovals) take_oldest();
  }

  void take_oldest() {
    client_.await(removing_.front(), "cannot remove");
    removing_.pop_front();
  }

  bare::Client client_;
  size_t lot_;   // items
  size_t lots_;  // on their way
  std::string queue_;
  std::string items_;
  std::string last_;                           // segment
  std::deque<std::string> segments_;           // not listed yet
  std::deque<List> lists_;                     // on their way
  std::deque<std::string> waiting_;            // items that were listed
  std::map<std::string, std::string> sealed_;  // segments that get no more items, by the last one in them
  std::deque<Lot> claimed_;
  std::deque<bare::Answer> removing_;
};

}  // namespace

bool bare::drain(const Words& words) {
  if (words.empty() || words.size() > 2) return false;
  const size_t jobs = words.size() == 2 ? std::strtoul(words[1].c_str(), nullptr, 10) : 0;
  Drain(words[0], jobs > 0 ? (jobs + 1) / 2 : kLot, jobs > 0 ? 2 : kLots).run();
  return true;
}
