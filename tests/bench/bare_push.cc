// SPDX-License-Identifier: Apache-2.0
// bare push PATH <FILE: makes the requests of `zklock queue push PATH <FILE`, as fast as the client library can. After
// a look, a transaction makes the queue, and the items follow in the same flight: batches of 500, eight transactions in
// flight, a thousand items a segment. The queue PATH must not exist yet, and lies just below the root.
#include "bare.h"
#include "bare_client.h"

#include <cstdio>
#include <deque>

namespace {

constexpr int kBatch = 500;
constexpr int kSegment = 1000;
constexpr size_t kInFlight = 8;

std::string segment_path(const std::string& queue, int number) {
  char name[32];
  std::snprintf(name, sizeof name, "/items/100-%010d", number);
  return queue + name;
}

class Push {
 public:
  explicit Push(std::string queue) : queue_(std::move(queue)), marker_(queue_ + "/pushing/bare") {
    look();
    make();
  }

  void add(const std::string& item) {
    if (items_ == 0) begin();
    client_.add_create(segment_path(queue_, segment_) + "/bareitemabcd-", item, ZOO_PERSISTENT_SEQUENTIAL);
    ++in_segment_;
    if (++items_ == kBatch) flush();
  }

  void flush() {
    if (items_ == 0) return;
    if (in_segment_ == kSegment) seal();
    client_.transact(in_flight_.emplace_back());
    items_ = 0;
    client_.turn(false);
    while (in_flight_.size() >= kInFlight) take_oldest();
  }

  void finish() {
    flush();
    while (!in_flight_.empty()) take_oldest();
  }

 private:
  void look() {
    bare::Answer synced;
    bare::Answer mark;
    bare::Answer segments;
    bare::Answer above;
    client_.sync(queue_, synced);
    client_.read(queue_, false, mark);
    client_.children(queue_ + "/items", segments);
    client_.exists("", above);
    client_.await(above, "cannot look");
    if (mark.code != ZNONODE) bare::die("the queue is there already");
  }

  void make() {
    client_.add_create(queue_, "zklock queue 1", 0);
    for (const char* folder : {"/items", "/dead", "/pushing", "/waiting"}) client_.add_create(queue_ + folder, "", 0);
    client_.add_write(queue_ + "/items", 0);
    client_.add_create(segment_path(queue_, 0), "", 0);
    client_.add_create(marker_, "", ZOO_EPHEMERAL);
    client_.transact(in_flight_.emplace_back());
  }

  void begin() {
    client_.add_check(segment_path(queue_, segment_), 0);
    client_.add_write(marker_, batch_++);
  }

  void seal() {
    client_.add_write(segment_path(queue_, segment_), 0);
    client_.add_create(segment_path(queue_, ++segment_), "", 0);
    in_segment_ = 0;
  }

  void take_oldest() {
    client_.await(in_flight_.front(), "cannot push");
    in_flight_.pop_front();
  }

  bare::Client client_;
  std::string queue_;
  std::string marker_;
  std::deque<bare::Answer> in_flight_;
  int batch_ = 0;
  int items_ = 0;  // in the batch
  int segment_ = 0;
  int in_segment_ = 0;
};

}  // namespace

bool bare::push(const Words& words) {
  if (words.size() != 1) return false;
  Push push(words[0]);
  for (std::string item; next_line(item);) push.add(item);
  push.finish();
  return true;
}
