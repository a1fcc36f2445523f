// SPDX-License-Identifier: Apache-2.0
// Puts items into a queue, in order, in batches of which several are in flight.
//
// Batch k is one transaction. It checks that the segment is open, writes the marker from version k - 1 to k, and
// creates the items. The first batch creates the marker, an ephemeral node. If a batch fails because its segment was
// sealed, all later ones fail too, because the marker does not have the version that they expect. They are sent again
// in order. When the connection is lost, the marker tells which batches were done. So no item is lost, and none is
// there twice while the session lives.
//
// If there is no queue, a transaction that makes it goes ahead of the first items, without a wait for its answer. It
// makes the first segment and the marker too, and counts as a batch without items. So if another client makes the queue
// first, all batches behind it fail, and the marker tells whether a transaction without an answer was done.
//
// The marker of an awaited push is persistent and made ahead of its items. So its items are there once, whatever
// becomes of its sessions.
#pragma once

#include "base/rounds.h"
#include "recipe/queue/awaited.h"
#include "recipe/queue/nodes.h"

#include <deque>
#include <string>
#include <vector>

namespace zklock::recipe {

// A range of items by their numbers, counted from 1. Both ends are included.
struct ItemSpan {
  int64_t first = 0;
  int64_t last = 0;
};

class Pusher {
 public:
  // `tried` is for messages: "cannot push to /q". `awaited`: null, or outlives this.
  Pusher(zk::Session& session, const QueueLayout& layout, int priority, const std::string& tried,
         AwaitedPush* awaited = nullptr);

  // Opens a session, and finds the queue's open segment. If there is no queue, sends what makes it: then is_done()
  // tells when it is there. An awaited push waits for that, and makes its nodes. All functions may throw what the
  // session throws, and a Failure for an answer that they cannot handle.
  void open();

  // True if another item may be added. If not, call settle() first.
  bool has_room() const;
  // Adds an item. It is sent with its batch: when the batch is full, or by flush().
  void add(std::string item);
  void flush();

  // Takes in the answers that have come, and sends again what has failed. Opens a new session if this one has expired.
  // To be called after each turn of the session.
  void settle();

  bool is_filling() const { return filling_.items > 0; }  // flush() would send something
  bool is_done() const { return in_flight_.empty(); }     // the queue is there, and what was flushed is in
  int64_t in() const { return in_; }                      // items that are in the queue, or were
  // The items that were pushed again without knowing whether their first push was done: they may be there twice.
  const std::vector<ItemSpan>& doubles() const { return doubles_; }
  // Returns the items that may be in the queue besides in(); first 0: none.
  ItemSpan unanswered() const;

 private:
  struct Batch {
    std::vector<zk::Step> steps;  // check, marker, items, and the seal if they fill the segment
    int64_t items = 0;            // 0: it makes the queue
    size_t bytes = 0;
    int64_t first = 0;  // its first item's number; 0: it has none
    int marker = 0;     // the version to which it brings the marker
    Segment segment;
    zk::Call call;  // none: not sent
  };

  // The node whose version counts our batches.
  struct Marker {
    std::string path;
    int next = 0;  // the version to which the next batch brings it
    int done = 0;  // how many batches with this marker are known to be done
  };

  void open_awaited();
  void send_making(const Site& site);
  bool is_making() const { return !in_flight_.empty() && in_flight_.front().items == 0; }
  zk::Step marker_step(const Batch& batch) const;
  void send(Batch& batch);
  void take_in(const Batch& batch);
  void recover();
  void await_all();
  void read_marker();
  void find_tail();
  void take_in_up_to(int done);
  void note_progress();
  void send_again();
  void renew();

  zk::Session& session_;
  QueueLayout layout_;
  std::string tried_;
  QueueTail tail_;
  AwaitedPush* awaited_;
  Marker marker_;
  std::deque<Batch> in_flight_;
  Batch filling_;
  int64_t added_ = 0;
  int64_t in_ = 0;
  int vain_ = 0;      // how often the connection was lost without a batch done in between
  Rounds overtaken_;  // bounds how often a transaction fails without a batch done in between
  std::vector<ItemSpan> doubles_;
};

}  // namespace zklock::recipe
