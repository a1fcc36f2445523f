// SPDX-License-Identifier: Apache-2.0
// The commands of `queue pull -- COMMAND`: a pool of workers, each a guard that runs one command after the other, and
// the items that wait for a worker to be free.
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

// How a command ended, and what it has worked on.
struct EndedCommand {
  recipe::Item item;
  int wait_status = 0;             // as from waitpid
  int exec_error = 0;              // errno, where it could not be executed
  bool interrupted = false;        // by a signal that was sent to zklock, and passed on
  bool item_in_arguments = false;  // if they were too long, it is the item's fault, not the command's
  Duration age{};                  // how long it ran

  bool is_done() const { return exec_error == 0 && wait_status == 0; }
};

// While it is in the loop, behind the lease, it attends to what must not wait while commands run, whatever else is
// being waited for: signals, the fence, the loss of the claims.
class WorkerPool : public host::Source {
 public:
  // Forks the guards, which spare each other: before there is a ZooKeeper handle. `options` outlive it; the claims will
  // be `session`'s.
  WorkerPool(host::Loop& loop, host::Signals& signals, const WorkOptions& options, zk::Session& session,
             const host::Inherited& inherited);

  // Which the commands run under.
  void set_lease(const recipe::Lease& lease) { lease_ = &lease; }

  bool is_busy() const { return free_count() < workers_.size(); }
  size_t free_count() const;
  // Only where a worker is free: takes `item`, and runs a command for it, which must be dead by the fence. Else `item`
  // stays as it is: where that throws, and where no command can be run for it; then it returns why.
  std::optional<std::string> start(recipe::Item& item);

  // Some command itself has ended, in its own way: not by its guard, nor with it.
  bool has_ended() const;
  // One of them, if any, once; then its worker is free, and what the command left behind runs on. `done_only`: only one
  // that has ended well.
  std::optional<EndedCommand> take_ended(bool done_only = false);

  // The signal by which somebody wants zklock to end; 0: none. Kept while commands run: the running ones may finish.
  // The next ones go to them.
  int asked() const { return asked_; }
  // The text with which it has thrown 76; what became of the commands belongs behind it. "": it has not.
  const std::string& loss() const { return loss_; }

  // For whoever cleans up: ends all that runs, TERM first, and KILL after `grace`, or at the fence; waits until nothing
  // of it is left. From now on it throws nothing. Returns the items.
  std::vector<recipe::Item> stop(Duration grace);
  // After that: how long something of it lived after the fence.
  Duration overrun() const;

  void arm(host::PollSet&) override {}
  void record(const host::PollSet&) override {}
  // Throws a Failure, once: by the signal where no command runs, 76 where the claims of running ones are lost.
  void decide() override;

 private:
  struct Worker {
    Worker(host::Loop& loop, const host::Program& program, const host::Inherited& inherited, zk::Session& session)
        : guard(host::Service::again, program, inherited, session.closer()), guarding(loop, guard) {}

    bool is_free() const { return !item; }
    bool has_ended() const;
    recipe::Item take_item();

    host::Guard guard;
    GuardTrouble trouble{guard, "a command"};
    host::Attached guarding;
    std::optional<recipe::Item> item;  // that its command works on
    Deadline began{};
    bool interrupted = false;
    bool item_in_arguments = false;
  };

  std::vector<std::string> variables_for(const recipe::Item& item) const;
  void take(host::Arrival arrival);
  void look_at_claims();
  std::string unproved() const;
  [[noreturn]] void lose(const std::string& reason);

  host::Loop& loop_;
  host::Signals& signals_;
  const WorkOptions& options_;
  std::vector<std::string> connection_;  // variables
  std::deque<Worker> workers_;
  const recipe::Lease* lease_ = nullptr;
  int asked_ = 0;
  bool told_ = false;
  std::string loss_;
};

// Items that are claimed, for a worker to be free. Short commands shall not have to wait for a claim each; but others
// may have time for what our workers have not, so no more is claimed ahead than what takes 50 ms.
class Prefetch {
 public:
  explicit Prefetch(size_t jobs) : jobs_(jobs) {}

  // A command has run for `age`.
  void learn(Duration age) { usual_age_ = (7 * usual_age_ + age) / 8; }
  // It has fallen so far below its target that it is worth a request.
  bool is_low() const { return target() > 0 && items_.size() <= target() / 2; }
  // How many are missing, also for `free` workers.
  size_t lacking(size_t free) const { return free + target() - std::min(items_.size(), target()); }
  // Then they have waited too long for a worker: those that run take longer than those before. kNever: it is empty.
  Deadline until() const;

  void add(recipe::Item item);
  recipe::Item& front() { return items_.front(); }
  // The first one went to a worker, or elsewhere.
  void pop();
  std::vector<recipe::Item> take_all();
  bool empty() const { return items_.empty(); }

 private:
  size_t target() const;

  size_t jobs_;
  std::deque<recipe::Item> items_;
  Deadline moved_{};                             // when the last one came or went
  Duration usual_age_{std::chrono::seconds(1)};  // of a command at its end, lately
};

}  // namespace zklock::command
