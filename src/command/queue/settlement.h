// SPDX-License-Identifier: Apache-2.0
// What becomes of the items that a consumer has claimed when their commands have ended: removed, kept for a while and
// given back, or buried.
#pragma once

#include "command/queue/intake.h"
#include "command/queue/kept_items.h"
#include "command/queue/tally.h"
#include "command/queue/work_options.h"
#include "recipe/lock/lease.h"

#include <string>
#include <vector>

namespace zklock::command {

// Of a consumer.
enum class Stage {
  taking,
  finishing,  // nothing new is begun; what runs may end
};

class Settlement {
 public:
  // Both outlive it. There is no lease yet: nothing but set_lease() may be called.
  Settlement(const WorkOptions& options, Intake& intake)
      : options_(options), intake_(intake), kept_(options.retry_delay) {}
  // Which the claims are kept under.
  void set_lease(recipe::Lease& lease) { lease_ = &lease; }

  // What follows for the consumer; `Stage::taking`: nothing.
  Stage settle(recipe::Item item, const CommandEnd& end);
  // `item` is one that no command can be run for.
  Stage bury(const recipe::Item& item, const std::string& reason);
  // Those that were done leave the queue: sent, and not waited for.
  void remove_done();

  // The attempt that the claim of `item` stands for is taken back.
  void give_back(const recipe::Item& item) { part_with(recipe::Ack::release, item); }
  // Kept ones, those that are due or all. Of a consumer that takes more they may come again: they count as failed only
  // if it takes a number of items, and that has been reached before they did.
  void give_back_due(Stage stage);
  void give_back_kept(Stage stage);
  // The session is over, and with it all claims.
  void forget(Stage stage);

  KeptItems& kept() { return kept_; }
  const KeptItems& kept() const { return kept_; }
  const Tally& tally() const { return tally_; }

  // For whoever cleans up: an item was done.
  void add_done(recipe::Item item) { done_.push_back(std::move(item)); }
  // Done, and not removed yet.
  const std::vector<recipe::Item>& done() const { return done_; }
  // Kept ones whose attempts do not count. Those of the others do, as the session's end has it.
  std::vector<recipe::Item> take_uncounted();

 private:
  void keep(recipe::Item item, recipe::Ack ack, const CommandEnd& end);
  void return_kept(const KeptItems::Kept& kept, Stage stage);
  void count_kept(const KeptItems::Kept& kept, Stage stage);
  void part_with(recipe::Ack ack, const recipe::Item& item, const std::string& why = "");

  const WorkOptions& options_;
  Intake& intake_;
  recipe::Lease* lease_ = nullptr;
  KeptItems kept_;
  std::vector<recipe::Item> done_;  // to be removed
  Tally tally_;
};

}  // namespace zklock::command
