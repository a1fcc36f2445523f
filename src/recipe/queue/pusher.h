// SPDX-License-Identifier: Apache-2.0
// Puts items into a queue, in order, in batches of which several are in flight.
//
// Batch k is one transaction: check that the segment is open, write the marker from version k - 1 to k, create the
// items; the first one creates the marker, an ephemeral. A batch that fails, because its segment was sealed, takes
// all later ones with it, since the marker's version does not fit them any more; they are sent again in order. When the
// connection is lost the marker tells which batches were done. So no item is lost, and none is there twice while the
// session lives.
#pragma once

#include "base/rounds.h"
#include "recipe/queue/nodes.h"

#include <deque>
#include <string>
#include <vector>

namespace zklock::recipe {

// Items by their numbers, counted from 1; both included.
struct ItemSpan {
  int64_t first = 0;
  int64_t last = 0;
};

class Pusher {
 public:
  // `tried` is for messages: "cannot push to /q".
  Pusher(zk::Session& session, const QueueLayout& layout, int priority, const std::string& tried);

  // Makes the queue where there is none, and finds its end. What all functions may throw: a Failure for what has no way
  // round, and what the session throws.
  void open();

  // Another item may be added. Else first settle().
  bool has_room() const;
  // It goes with its batch: when that is full, or with flush().
  void add(std::string item);
  void flush();

  // Takes in what is answered, and sends again what has to be. To be called after each turn of the session. An expired
  // session is replaced.
  void settle();

  bool is_filling() const { return filling_.items > 0; }  // flush() would send something
  bool is_done() const { return in_flight_.empty(); }     // what was flushed is in
  int64_t in() const { return in_; }                      // items that are in the queue, or were
  // What was pushed again when the outcome of its first push could not be known.
  const std::vector<ItemSpan>& doubles() const { return doubles_; }
  // What may be in besides those; first 0: nothing.
  ItemSpan unanswered() const;

 private:
  struct Batch {
    std::vector<zk::Step> steps;  // check, marker, items, and what seals the segment
    int64_t items = 0;
    size_t bytes = 0;
    int64_t first = 0;  // its first item's number
    int marker = 0;     // the version that it gives the marker
    Segment segment;
    zk::Call call;  // none: not sent
  };

  void send(Batch& batch);
  void take_in(const Batch& batch);
  void recover();
  bool read_marker();
  void take_in_up_to(int done);
  void note_progress();
  void send_again();
  void renew();

  zk::Session& session_;
  QueueLayout layout_;
  std::string tried_;
  QueueTail tail_;
  std::string marker_;   // its path
  int next_marker_ = 0;  // the version that the next batch gives it
  int marked_ = 0;       // how many batches are known to have given it one
  std::deque<Batch> in_flight_;
  Batch filling_;
  int64_t added_ = 0;
  int64_t in_ = 0;
  int vain_ = 0;      // how often the connection was lost without a batch done in between
  Rounds overtaken_;  // likewise how often a transaction failed
  std::vector<ItemSpan> doubles_;
};

}  // namespace zklock::recipe
