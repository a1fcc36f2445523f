// SPDX-License-Identifier: Apache-2.0
// The commands of `queue pull -- COMMAND`: a pool of workers, and the items that wait for a free worker. Each worker is
// a guard that runs one command after the other.
#pragma once

#include "command/child/attended_command.h"
#include "command/queue/pull.h"
#include "host/loop.h"
#include "host/process/guard.h"
#include "host/signals.h"
#include "recipe/lock/lease.h"
#include "recipe/queue/layout.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace zklock::command {

// A command that runs for an item, and how it has ended.
struct ItemCommand {
  recipe::Item item;
  Deadline began{};
  bool interrupted = false;  // a signal that ends programs was passed on to it
  int wait_status = 0;       // as from waitpid
  int exec_error = 0;        // errno if it could not be executed; 0: it was

  bool is_done() const { return exec_error == 0 && wait_status == 0; }
};

// While the pool is in the loop, after the lease, it handles what must not wait: signals, the fence, and the loss of
// claims.
class WorkerPool : public host::Source {
 public:
  // Forks the guards, which spare each other. To be called before there is a ZooKeeper handle. `options` and `lease`
  // must outlive it. The claims will be those of `session`. `lease` covers them from the first start() on. Throws a
  // Failure if a guard cannot be started.
  WorkerPool(host::Loop& loop, host::Signals& signals, const WorkOptions& options, zk::Session& session,
             const host::Inherited& inherited, const std::optional<recipe::Lease>& lease);

  bool is_busy() const { return free_count() < workers_.size(); }
  size_t free_count() const;
  // Takes `item` and runs a command for it, which must be dead by the fence. May be called only if a worker is free.
  // Returns the reason if no command can be run for the item, and throws what Guard::start() throws; then `item` stays
  // as it is.
  std::optional<std::string> start(recipe::Item& item);

  // True if some command has ended by itself. It has not if its guard killed it, or if the guard was killed before.
  bool has_ended() const;
  // Returns one of these commands, if any, and frees its worker. Processes that outlive the command run on. With
  // `done_only`, it returns only a command that has succeeded.
  std::optional<ItemCommand> take_ended(bool done_only = false);

  // The first signal to end zklock that came while commands ran; 0: none. The running commands may finish. Later
  // signals are passed on to them.
  int asked() const { return asked_; }
  // The text of the Failure (76) that decide() has thrown; empty: it has not. The last message adds what became of the
  // commands.
  const std::string& loss() const { return loss_; }

  // For cleaning up: ends all running commands, first with TERM, then with KILL after `grace` or at the fence. Waits
  // until none of their processes is left, and returns their items. From now on decide() throws nothing.
  std::vector<recipe::Item> stop(Duration grace);
  // Returns the longest time that a process of a command lived after its fence. To be called after stop().
  Duration overrun() const;

  void arm(host::PollSet&) override {}
  void record(const host::PollSet&) override {}
  // Throws a Failure, once at most: for a signal if no command runs, or 76 if claims are lost while commands run.
  void decide() override;

 private:
  struct Worker {
    Worker(host::Loop& loop, const host::Program& program, const host::Inherited& inherited, zk::Session& session)
        : guard(host::Service::again, program, inherited, session.closer()), guarding(loop, guard) {}

    bool is_free() const { return !command; }
    bool has_ended() const;
    ItemCommand take_command();

    host::Guard guard;
    GuardTrouble trouble{guard, "a command"};
    host::Attached guarding;
    std::optional<ItemCommand> command;
  };

  std::vector<std::string> variables_for(const recipe::Item& item) const;
  void take(host::Arrival arrival);
  void look_at_claims();
  std::string unproved() const;
  [[noreturn]] void lose(const std::string& reason);

  host::Loop& loop_;
  host::Signals& signals_;
  const WorkOptions& options_;
  std::vector<std::string> connection_;  // environment variables that say how to connect
  std::deque<Worker> workers_;
  const std::optional<recipe::Lease>& lease_;
  int asked_ = 0;
  bool told_ = false;  // it has thrown, or has been stopped
  std::string loss_;
};

// Items that are claimed ahead and wait for a free worker, so that short commands need not wait for a claim each. No
// more than 50 ms and one round trip of work is claimed ahead, because other consumers may have time for it.
class Prefetch {
 public:
  explicit Prefetch(size_t jobs) : jobs_(jobs) {}

  // Notes that a command has run for `age`.
  void learn(Duration age) { usual_age_ = (7 * usual_age_ + age) / 8; }
  // Notes how long an answer takes now.
  void note_round_trip(Duration round_trip) { round_trip_ = std::min(round_trip, kLongestWait); }
  // Returns how many items to claim, so that there is one for each of `free` workers and enough are claimed ahead; 0:
  // it is not worth a request. `underway` is the number of items whose claims are on their way. Further claims are at
  // least as many, or a burst of short commands would make a request for each. Without `ahead`, it is 0 if there is an
  // item for each free worker.
  size_t lacking(size_t free, size_t underway, bool ahead) const;
  // Returns when the items will have waited too long for a worker, because the running commands take longer than those
  // before; kNever: there are none.
  Deadline until() const { return items_.empty() ? kNever : moved_ + kLongestWait; }

  void add(recipe::Item item) {
    items_.push_back(std::move(item));
    moved_ = BootClock::now();
  }
  recipe::Item& front() { return items_.front(); }
  // Removes the first item, which has gone to a worker.
  void pop() {
    items_.pop_front();
    moved_ = BootClock::now();
  }
  // Removes the first item and returns it.
  recipe::Item take() {
    recipe::Item item = std::move(front());
    pop();
    return item;
  }
  std::vector<recipe::Item> take_all();
  bool empty() const { return items_.empty(); }

 private:
  static constexpr Duration kLongestWait = std::chrono::seconds(1);

  size_t target() const;

  size_t jobs_;
  std::deque<recipe::Item> items_;
  Duration round_trip_{};
  Deadline moved_{};                             // when an item last came or went
  Duration usual_age_{std::chrono::seconds(1)};  // how long commands have run lately, on average
};

}  // namespace zklock::command
