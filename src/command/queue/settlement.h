// SPDX-License-Identifier: Apache-2.0
// What becomes of the items of `queue pull -- COMMAND` when their commands have ended, and the exit status that this
// makes. Done ones are acknowledged, which removes them. Failed ones stay under our claim for their retry delay, so
// that neither we nor others try them again at once and nobody is held up by them, and then go back. Others are dead
// letters.
#pragma once

#include "command/queue/pull.h"
#include "command/queue/workers.h"
#include "recipe/lock/lease.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace zklock::command {

// In the loop it sees to it that this turns when the next retry delay is over, whatever is waited for.
class Settlement : public host::Source {
 public:
  // Both outlive it. There is no lease yet: nothing but set_lease() may be called, and what is for cleaning up.
  Settlement(const WorkOptions& options, ConsumerSession& source) : options_(options), source_(source) {}
  // Which the claims are kept under.
  void set_lease(recipe::Lease& lease) { lease_ = &lease; }

  void settle(EndedCommand ended);
  // `item` is one that no command can be run for.
  void bury(const recipe::Item& item, const std::string& reason);
  // The attempt that the claim of `item` stands for is taken back.
  void give_back(const recipe::Item& item) { part_with(recipe::Fate::untouched, item); }
  // Those that were done leave the queue: sent, and not waited for.
  void remove_done();

  // Nothing new is begun, what runs may end: because of a failure, or of who calls finish(). Nothing leads back.
  bool is_finishing() const { return finishing_; }
  void finish() { finishing_ = true; }

  // There are so many whose retry delay runs that it is not the items that are bad: no more may fail.
  bool is_full() const { return delayed_.size() >= kMostDelayed; }
  bool has_delayed() const { return !delayed_.empty(); }
  // When the first retry delay is over; kNever: none runs.
  Deadline next_retry() const;
  // Those whose delay is over go back, or with `early` all.
  void give_back_delayed(bool early);
  // The session is over, and with it all claims.
  void forget();

  // At the end: that of the command, for a single item or where no item can be worked on by it; else 0. Throws a
  // Failure for items that were not done (123), and for a command that cannot be executed.
  int status() const;

  // For whoever cleans up: done, and not removed yet; another one; and those delayed whose attempts do not count. Those
  // of the others do, as the session's end has it.
  const std::vector<recipe::Item>& done() const { return done_; }
  void add_done(recipe::Item item);
  std::vector<recipe::Item> take_uncounted();

  void arm(host::PollSet& set) override;
  void record(const host::PollSet&) override {}
  void decide() override;

 private:
  static constexpr size_t kMostDelayed = 64;

  struct Delayed {
    recipe::Item item;
    recipe::Fate fate;  // what then becomes of it
    Deadline due;
  };

  void delay(EndedCommand ended, recipe::Fate fate);
  std::optional<Delayed> take_delayed(bool early);
  void count(const recipe::Item& item);
  void part_with(recipe::Fate fate, const recipe::Item& item, const std::string& why = "");

  const WorkOptions& options_;
  ConsumerSession& source_;
  recipe::Lease* lease_ = nullptr;
  bool finishing_ = false;
  std::vector<recipe::Item> done_;  // to be removed
  std::vector<Delayed> delayed_;
  Deadline told_{};                      // the last next_retry() for which the loop has turned
  size_t dead_ = 0;                      // items that went to the dead letters
  size_t left_ = 0;                      // that were not done, for good
  std::set<std::string> returned_;       // paths of those that were not, and were not taken again so far
  std::optional<EndedCommand> last_;     // without its item, as the next one
  std::optional<EndedCommand> useless_;  // what no item can be worked on by has shown itself
};

}  // namespace zklock::command
