// SPDX-License-Identifier: Apache-2.0
// bare drain PATH [JOBS]: takes all items out of a queue without other users, with exactly the requests of `zklock
// queue pull --all`. One transaction claims the next 128 items, which are then read. Another one removes the items
// before, claims and all, after they are written to standard output. With JOBS it handles each item alone, JOBS at a
// time: a claim with a read, and a removal.
#include "bare.h"
#include "bare_client.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>

namespace {

constexpr size_t kLot = 128;
constexpr size_t kInFlight = 4;

// The library writes to it, so it must not move.
struct Lot {
  std::vector<std::string> paths;
  bare::Answer claimed;
  std::deque<bare::Answer> read;
  bare::Answer removed;
};

class Drain {
 public:
  Drain(const std::string& queue, size_t lot, size_t jobs) : lot_(lot), jobs_(jobs), items_(queue + "/items") {}

  void run() {
    bare::Answer segments;
    client_.children(items_, segments);
    client_.await(segments, "cannot list");
    std::sort(segments.names.begin(), segments.names.end());
    for (const std::string& segment : segments.names) empty(items_ + "/" + segment);
    while (!claimed_.empty()) work_off();
    while (!removing_.empty()) take_oldest();
  }

 private:
  void empty(const std::string& segment) {
    bare::Answer listed;
    client_.children(segment, listed);
    client_.await(listed, "cannot list");
    std::sort(listed.names.begin(), listed.names.end(), [](const std::string& a, const std::string& b) {
      return a.compare(a.size() - 10, 10, b, b.size() - 10, 10) < 0;
    });
    for (size_t i = 0; i < listed.names.size(); i += lot_) {
      Lot& lot = *claimed_.emplace_back(std::make_unique<Lot>());
      for (size_t j = i; j < std::min(i + lot_, listed.names.size()); ++j) {
        lot.paths.push_back(segment + "/" + listed.names[j]);
      }
      claim(lot);
      while (claimed_.size() >= jobs_) work_off();
    }
  }

  void claim(Lot& lot) {
    for (const std::string& path : lot.paths) client_.add_create(path + "/claim", "", ZOO_EPHEMERAL);
    client_.transact(lot.claimed);
    for (const std::string& path : lot.paths) client_.read(path, false, lot.read.emplace_back());
    client_.turn(false);
  }

  void work_off() {
    Lot& lot = *removing_.emplace_back(std::move(claimed_.front()));
    claimed_.pop_front();
    client_.await(lot.claimed, "cannot claim");
    for (const bare::Answer& item : lot.read) {
      client_.await(item, "cannot read");
      std::fwrite(item.data.data(), 1, item.data.size(), stdout);
      std::fputc('\n', stdout);
    }
    std::fflush(stdout);
    for (const std::string& path : lot.paths) {
      client_.add_remove(path + "/claim");
      client_.add_remove(path);
    }
    client_.transact(lot.removed);
    while (removing_.size() >= kInFlight) take_oldest();
  }

  void take_oldest() {
    client_.await(removing_.front()->removed, "cannot remove");
    removing_.pop_front();
  }

  bare::Client client_;
  size_t lot_;   // items
  size_t jobs_;  // lots
  std::string items_;
  std::deque<std::unique_ptr<Lot>> claimed_;
  std::deque<std::unique_ptr<Lot>> removing_;
};

}  // namespace

bool bare::drain(const Words& words) {
  if (words.empty() || words.size() > 2) return false;
  const size_t jobs = words.size() == 2 ? std::strtoul(words[1].c_str(), nullptr, 10) : 0;
  Drain(words[0], jobs > 0 ? 1 : kLot, jobs > 0 ? jobs : 2).run();
  return true;
}
