// SPDX-License-Identifier: Apache-2.0
// An awaited push (`queue push --wait`): what it keeps in the queue, so that it learns how each of its items ends.
// tests/model/batch_model.cc shows that it never reports less, or more, than what became of them.
//
//   <queue>/awaited/<token>          persistent: the pusher's marker. Its data is the number of items that are in
//   <queue>/awaited/<token>/done     counters, of which only the versions count
//   <queue>/awaited/<token>/dead
//   <queue>/awaited/<token>/purged   by `queue purge`, before they were done; not from the dead letters
//   <queue>/awaited/<token>/back     dead letters that were put back
//   <queue>/pushing/<token>          ephemeral: the pusher lives
//
// The transaction that ends an item, or puts it back, writes the counter, so the counters are exact whatever fails. The
// item's name has the token. If a person deletes these nodes, items end without them, and the pusher ends with 65.
#pragma once

#include "recipe/queue/layout.h"
#include "recipe/queue/nodes.h"
#include "zk/session.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace zklock::recipe {

enum class Count { done, dead, purged, back };

// In the order in which the counters are read: a letter that is put back and dies again must not count as two ends.
inline constexpr std::array kCounts{Count::done, Count::dead, Count::purged, Count::back};

// Returns the path of a counter of the awaited push at `push`.
std::string counter_of(const std::string& push, Count count);

// Adds the step that counts the end of this item, if its push is awaited. `item_path` may be a dead letter's.
void put_count(const QueueLayout& layout, const std::string& item_path, Count count, std::vector<zk::Step>& steps);

// Returns for each of these items whether its push is awaited and its counter is gone, so that a transaction with
// put_count() never passes. Throws what the session throws.
std::vector<bool> without_counter(zk::Session& session, const QueueLayout& layout,
                                  const std::vector<std::string>& item_paths, Count count);

// How the items of a push have ended so far.
struct Tally {
  int64_t items = 0;
  int64_t done = 0;
  int64_t dead = 0;  // and not put back
  int64_t purged = 0;

  int64_t left() const { return items - done - dead - purged; }
};

// All functions throw what the session throws, and a Failure: 65 if the queue or its nodes are gone, 77.
class AwaitedPush {
 public:
  AwaitedPush(zk::Session& session, QueueLayout layout, std::string tried)
      : session_(session), layout_(std::move(layout)), tried_(std::move(tried)) {}

  const std::string& token() const { return token_; }
  std::string path() const { return layout_.awaited_push(token_); }

  // Makes its nodes in a queue that was just `found` with layout.items() and layout.awaited() listed. The queue has the
  // mark kTaggedQueue from then on. May be called again in another session.
  void make(FoundQueue found);
  // To be called first in another session: shows that we live, so that no client takes our nodes for those of a killed
  // pusher.
  void renew();

  // Reads how the `items` of this push have ended, and watches for a change. If nothing is left, this read decides.
  Tally look(int64_t items);
  // True if something has ended since look(), or the watches were lost.
  bool is_woken() const;

  // Sends the deletion of its nodes, and waits for no answer. A later sweep() repeats what fails. To be called
  // once look() has shown that nothing is left. If a letter was put back meanwhile, the nodes stay.
  void remove();
  // Sends the deletion of the nodes of killed pushers, of which nothing is left and which have not changed for a day.
  // Looks at 100 at most.
  void sweep();

 private:
  bool is_made();
  void send_sweep(const std::string& push, int version, int back_version);
  std::vector<zk::Step> steps_to_make(const FoundQueue& found) const;
  [[noreturn]] void fail_gone() const;

  zk::Session& session_;
  QueueLayout layout_;
  std::string tried_;
  std::string token_ = make_token();
  std::vector<zk::Watch> watches_;
  int back_version_ = 0;  // as of the last look()
};

}  // namespace zklock::recipe
