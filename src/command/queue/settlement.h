// SPDX-License-Identifier: Apache-2.0
// Decides what becomes of the items of `queue pull -- COMMAND` when their commands have ended, and computes the exit
// status. An item that is done gets an ack, which removes it. A failed item stays under our claim for its retry delay
// and then goes back. So no consumer tries it again at once, or is held up by it. Other items become dead letters.
#pragma once

#include "command/queue/pull.h"
#include "command/queue/workers.h"
#include "host/loop.h"
#include "recipe/lock/lease.h"
#include "recipe/queue/ack.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace zklock::command {

// While a Settlement is in the loop, a turn ends when the next retry delay is over.
class Settlement : public host::Source {
 public:
  // All must outlive it. The claims are kept under `lease`. Without one, only the functions for cleaning up may be
  // called.
  Settlement(const WorkOptions& options, ConsumerSession& source, std::optional<recipe::Lease>& lease)
      : options_(options), source_(source), lease_(lease) {}

  // Sends the ack for the item of the command, or keeps the item for its retry delay or for remove_done().
  void settle(ItemCommand ended);
  // Makes `item` a dead letter because of `reason`: for example, no command can be run for it.
  void bury(const recipe::Item& item, const std::string& reason);
  // Gives `item` back. Its attempt does not count.
  void give_back(const recipe::Item& item) { part_with(recipe::Ack::release, item); }
  // Sends the removal of the items that are done, without waiting for its answer.
  void remove_done() { source_.acks().remove(take_done()); }

  // True if no new command may start, while running ones may end: no command can be run at all, or finish() was called.
  // It stays true.
  bool is_finishing() const { return finishing_; }
  void finish() { finishing_ = true; }

  // True if so many items are delayed that the cause cannot be the items: it must be the command. No more may be taken
  // or started then.
  bool is_full() const { return delayed_.size() >= kMostDelayed; }
  bool has_delayed() const { return !delayed_.empty(); }
  // Returns when the first retry delay is over; kNever: no item is delayed.
  Deadline next_retry() const { return delayed_.empty() ? kNever : delayed_.begin()->first; }
  // Gives back the items whose retry delay is over, or with `early` all delayed items.
  void give_back_delayed(bool early);
  // Forgets the delayed items. To be called when the session is over, and with it all claims.
  void forget();

  // Returns the exit status of the run. It is the command's if there was a single item, or if the command has said that
  // it cannot work on any item; otherwise 0.
  // Throws a Failure if items were not done (123), if the command cannot be executed, or if a signal ended it.
  int status() const;

  // For cleaning up: take_done() returns the items that are done and not removed, and add_done() adds one.
  // take_uncounted() returns the delayed items whose attempt must not count. The other ones go back with the end of the
  // session, which counts their attempts.
  std::vector<recipe::Item> take_done() { return std::exchange(done_, {}); }
  void add_done(recipe::Item item);
  std::vector<recipe::Item> take_uncounted();

  void arm(host::PollSet& set) override;
  void record(const host::PollSet&) override {}
  void decide() override;

 private:
  static constexpr size_t kMostDelayed = 64;

  struct Delayed {
    recipe::Item item;
    recipe::Ack ack;  // to be sent after the delay
  };

  void delay(ItemCommand ended, recipe::Ack ack);
  std::optional<Delayed> take_delayed(bool early);
  void count(const recipe::Item& item);
  void part_with(recipe::Ack ack, const recipe::Item& item, const std::string& why = "");

  const WorkOptions& options_;
  ConsumerSession& source_;
  std::optional<recipe::Lease>& lease_;
  bool finishing_ = false;
  std::vector<recipe::Item> done_;            // to be removed
  std::multimap<Deadline, Delayed> delayed_;  // by the ends of their delays
  Deadline told_{};                           // what next_retry() returned when its moment last ended a turn
  size_t dead_ = 0;                           // items that went to the dead letters
  size_t left_ = 0;                           // items given back that will not come to us again
  std::set<std::string> returned_;            // paths of failed items that were given back and not taken again so far
  std::optional<ItemCommand> last_;           // the last one that has ended, without its item
  std::optional<ItemCommand> useless_;        // the first one that showed that the command cannot work on any item
};

}  // namespace zklock::command
