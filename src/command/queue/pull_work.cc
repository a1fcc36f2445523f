// SPDX-License-Identifier: Apache-2.0
// queue pull with a command: items are taken under claims, and kept under a lease while a command works on each,
// several at a time. Settlement decides what then becomes of them (settlement.h).
#include "command/child/attended_command.h"
#include "command/queue/pull.h"
#include "command/queue/settlement.h"
#include "command/queue/workers.h"
#include "host/signals.h"
#include "recipe/lock/lease.h"
#include "zk/timing.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

namespace zklock::command {

namespace {

using recipe::Item;
using recipe::LeaseState;

class CommandConsumer {
 public:
  // Forks the guards. To be called before there is a ZooKeeper handle.
  CommandConsumer(zk::SessionOptions session, WorkOptions options, const host::Inherited& inherited)
      : options_(std::move(options)),
        source_(loop_, std::move(session), options_.pull, "worked on"),
        workers_(loop_, loop_.signals(), options_, session_, inherited, lease_) {
    loop_.leave_signals();
    loop_.signals().take_job_control();
  }

  int run() {
    try {
      work();
      session_.close();
    } catch (...) {
      clean_up();
      if (workers_.loss().empty()) source_.rethrow();
      throw Failure(ExitStatus::lost, fmt::format("{}; {}", workers_.loss(), end_of("what ran", workers_.overrun())));
    }
    if (workers_.asked() != 0) throw Failure::by_signal(workers_.asked());
    return settlement_.status();
  }

 private:
  void work() {
    {
      const host::Attached attending(loop_, workers_);
      source_.open();
    }
    lease_.emplace(session_, std::vector<recipe::Held>(), grace(), recipe::LeaseWatch::nothing);
    const host::Attached holding(loop_, *lease_);
    // The pool comes after the lease, so that a decision of the lease ends the commands in the same turn.
    const host::Attached attending(loop_, workers_);
    const host::Attached delaying(loop_, settlement_);
    while (is_taking() || workers_.is_busy()) {
      try {
        settle_ended();
        acks_.take_answers();
        look_after_session();
        settlement_.give_back_delayed(false);
        take_arrived();
        give_back_prefetched();
        go_on();
      } catch (const zk::SessionOver&) {
        survive_session();
      }
    }
    wind_up();
  }

  void settle_ended() {
    while (auto ended = workers_.take_ended()) {
      prefetch_.learn(BootClock::now() - ended->began);
      session_.set_enduring(workers_.is_busy());
      settlement_.settle(*std::move(ended));
    }
    if (workers_.asked() != 0) settlement_.finish();
    settlement_.remove_done();
  }

  // Prefetched items were claimed because commands were short. If those that run now take longer, other consumers may
  // have time for the items.
  void give_back_prefetched() {
    if (is_taking() && !settlement_.is_full() && BootClock::now() < prefetch_.until()) return;
    dry_ = true;
    while (!prefetch_.empty()) {
      --taken_;
      settlement_.give_back(prefetch_.take());
    }
  }

  // Goes on after the session has expired. Commands that have ended are settled first. The lease ends the running ones
  // in the next turn of the loop.
  void survive_session() {
    if (workers_.has_ended()) return;
    workers_.is_busy() ? session_.turn(kNever) : start_again();
  }

  // While commands run, the worker pool sees to that.
  void look_after_session() {
    if (workers_.is_busy()) return;
    if (session_.expired()) return start_again();
    if (lease_->state() != LeaseState::held) prove_anew();
  }

  // Items that were claimed may be another consumer's now. Items that were done may be removed already.
  void start_again() {
    taken_ -= prefetch_.take_all().size();
    settlement_.forget();
    source_.open_again(settlement_.take_done());
  }

  // For a pause of zklock's in which no command ran.
  void prove_anew() {
    lease_->clear();
    settlement_.give_back_delayed(true);
    std::vector<Item> unproved = prefetch_.take_all();
    taken_ -= unproved.size();
    take_in(consumer_.confirm(std::move(unproved)));
  }

  // Takes in the items whose claims are answered. Nothing waits for the others.
  void take_arrived() {
    while (consumer_.is_answered()) take_in(proved_anew(consumer_.collect()));
    prefetch_.note_round_trip(session_.round_trip());
  }

  void go_on() {
    start_commands();
    if (is_taking() && wanted() == 0 && prefetch_.empty() && consumer_.batches() == 0) settlement_.finish();
    const size_t count = lacking();
    if (count > 0 && !claim(count) && workers_.free_count() > 0) return wait_for_items();
    wait_for_own();
  }

  // Returns how many items to claim now. Among others, a batch that fails would cost all behind it a second try.
  size_t lacking() const {
    if (!is_taking() || settlement_.is_full() || workers_.asked() != 0) return 0;
    if (!consumer_.is_alone() && consumer_.batches() > 0) return 0;
    return std::min(prefetch_.lacking(workers_.free_count(), consumer_.underway(), !dry_), wanted());
  }

  // Returns false if there is nothing to take. Behind claims on their way, that is not certain.
  bool claim(size_t count) {
    const bool begun = consumer_.begin(count);
    if (begun || consumer_.batches() == 0) dry_ = !begun;
    return begun || consumer_.batches() > 0;
  }

  // The lease is as old as the oldest proof in it. If answers were lost, that of new items may be older than the lease.
  std::vector<Item> proved_anew(std::vector<Item> items) {
    const Deadline old = BootClock::now() - zk::fence_of(session_.timeout()) / 2;
    if (std::ranges::none_of(items, [&](const Item& item) { return item.proved <= old; })) return items;
    try {
      return consumer_.confirm(items);
    } catch (const zk::SessionOver&) {
      throw;
    } catch (...) {
      // So that they are given back.
      for (Item& item : items) prefetch_.add(std::move(item));
      throw;
    }
  }

  void take_in(std::vector<Item> items) {
    for (Item& item : items) {
      lease_->add({options_.pull.path, recipe::claim_of(item.path), item.owner, item.token, 0, item.proved});
      prefetch_.add(std::move(item));
      ++taken_;
      source_.note_items();
    }
  }

  void start_commands() {
    while (may_start()) {
      if (const auto unfit = workers_.start(prefetch_.front())) {
        settlement_.bury(prefetch_.take(), *unfit);
      } else {
        session_.set_enduring(true);
        prefetch_.pop();
      }
    }
  }

  // No command is started if its claim must be proved first, or after a signal that ends zklock.
  bool may_start() const {
    if (workers_.asked() != 0 || settlement_.is_finishing() || settlement_.is_full() || prefetch_.empty() ||
        workers_.free_count() == 0) {
      return false;
    }
    return lease_->state() == LeaseState::held && BootClock::now() < lease_->fence() - grace();
  }

  void wait_for_own() {
    if (needs_attention() || consumer_.is_answered() || (settlement_.is_finishing() && !workers_.is_busy())) return;
    session_.turn(prefetch_.until());
  }

  bool needs_attention() const {
    return workers_.has_ended() || left_until(settlement_.next_retry()) == Duration::zero() ||
           (lease_->state() != LeaseState::held && !workers_.is_busy()) || (workers_.asked() != 0 && is_taking());
  }

  void wait_for_items() {
    if (!acks_.finished()) {
      // The look that found nothing has left out what was still on its way back.
      return acks_.finish();
    }
    const bool own = has_own();
    if (own && !options_.pull.waits()) return wait_for_own();
    auto items = source_.wait_for_items(taken_, own, [this] { return needs_attention(); });
    if (!items) return settlement_.finish();
    take_in(proved_anew(*std::move(items)));
  }

  void wind_up() {
    try {
      while (consumer_.batches() > 0) take_in(consumer_.collect());
      settlement_.give_back_delayed(true);
      give_back_prefetched();
      acks_.finish();
    } catch (const zk::SessionOver&) {
      prefetch_.take_all();
      settlement_.forget();
      acks_.end_session(settlement_.take_done());
      if (!acks_.doubtful().empty()) source_.open_again({});
    }
    source_.check_lost();
  }

  // Whatever was thrown, no command may run on without its claim.
  void clean_up() {
    while (auto ended = workers_.take_ended(true)) settlement_.add_done(std::move(ended->item));
    std::vector<Item> stopped = workers_.stop(grace());
    std::vector<Item> unused = prefetch_.take_all();
    for (Item& item : stopped) unused.push_back(std::move(item));
    for (Item& item : settlement_.take_uncounted()) unused.push_back(std::move(item));
    source_.clean_up(settlement_.take_done(), std::move(unused));
  }

  bool has_own() const { return workers_.is_busy() || settlement_.has_delayed(); }
  bool is_taking() const { return !settlement_.is_finishing(); }
  // Returns how many more items may be taken, besides those whose claims are on their way.
  size_t wanted() const { return options_.pull.most ? *options_.pull.most - taken_ - consumer_.underway() : SIZE_MAX; }
  Duration grace() const { return zk::usual_grace_of(session_.timeout()); }

  WorkOptions options_;
  host::SignalLoop loop_;
  // The session outlives the guards, so whatever is thrown, the commands are dead before their claims are free.
  ConsumerSession source_;
  zk::Session& session_{source_.session()};
  recipe::Consumer& consumer_{source_.consumer()};
  recipe::Acks& acks_{source_.acks()};
  std::optional<recipe::Lease> lease_;  // over the claims on all items
  WorkerPool workers_;
  Settlement settlement_{options_, source_, lease_};
  Prefetch prefetch_{options_.jobs};
  size_t taken_ = 0;  // items, ever
  bool dry_ = false;  // there was nothing to take lately, or prefetched items were given back
};

}  // namespace

int work_on_items(zk::SessionOptions session, WorkOptions options, const host::Inherited& inherited) {
  return CommandConsumer(std::move(session), std::move(options), inherited).run();
}

}  // namespace zklock::command
