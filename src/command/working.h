// SPDX-License-Identifier: Apache-2.0
// Items from a queue, each worked on by a command of its own, several at a time: taken under claims, kept under a lease
// while the command runs, and then removed, given back or buried, as the command's end has it.
#pragma once

#include "command/item_command.h"
#include "command/kept_items.h"
#include "command/pull_options.h"
#include "command/supervision.h"
#include "command/worker.h"
#include "host/inherited.h"
#include "host/signals.h"
#include "recipe/consumer.h"
#include "recipe/discharge.h"
#include "recipe/lease.h"
#include "zk/session.h"

#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace zklock::command {

struct WorkOptions {
  static constexpr Duration kUsualRetryDelay = std::chrono::seconds(1);

  PullOptions pull;
  ItemCommand command;
  size_t jobs = 1;
  int64_t most_attempts = 5;
  Duration retry_delay = kUsualRetryDelay;
  bool halt = false;  // the first failure is the last
};

class Working {
 public:
  // Forks the guards: before there is a ZooKeeper handle.
  Working(const host::Program& program, const host::Inherited& inherited, zk::SessionOptions session,
          WorkOptions options);

  // 0, or for a single item the status of its command. Throws a Failure for what is not success: 65 where there is no
  // queue, 69, 75 where nothing was there, 76 where claims were lost, 77, 123 where items of many failed, a signal.
  int run();

 private:
  enum class Stage {
    taking,
    finishing,  // nothing new is begun; what runs may end
  };

  void work();
  void open_queue();
  void settle_ended();
  void settle(recipe::Item item, const CommandEnd& end);
  void keep(recipe::Item item, recipe::Fate fate, const CommandEnd& end);
  void bury(const recipe::Item& item, const std::string& reason);
  void part_with(recipe::Fate fate, const recipe::Item& item, const std::string& why = "");
  void give_back_due();
  void give_back_ahead();
  void give_back(const KeptItems::Kept& kept);
  void look_after_session();
  void start_again();
  void prove_anew();
  void check_lost() const;
  void go_on();
  bool wants_more() const;
  bool claim();
  void take_in(std::vector<recipe::Item> items);
  void start_commands();
  void wait_for_own();
  void wait_for_items();
  void end_for_lack();
  bool needs_attention() const;
  void wind_up();
  int result() const;
  void stop_commands();
  void clean_up();

  Worker* free_worker();
  size_t free_workers() const;
  size_t ahead() const;
  Deadline ahead_until() const;
  size_t wanted() const;
  bool has_own() const { return supervision_.is_busy() || !kept_.empty(); }
  Duration grace() const;

  WorkOptions options_;
  host::Program program_;
  recipe::QueueLayout layout_;
  std::string tried_;
  host::Loop loop_;
  host::Signals signals_;
  host::Attached receiving_{loop_, signals_};
  zk::Session session_;  // outlives the guards: whatever is thrown, the commands are dead before their claims are free
  std::deque<Worker> workers_;
  Supervision supervision_;
  std::optional<recipe::Lease> lease_;
  recipe::Consumer consumer_;
  recipe::Discharge discharge_;
  KeptItems kept_;
  bool open_ = false;  // there is a session
  Stage stage_ = Stage::taking;
  std::deque<recipe::Item> waiting_;  // ours, for a worker to be free
  Deadline moved_{};                  // when the last one came, or went to a worker
  std::vector<recipe::Item> done_;    // to be removed
  size_t taken_ = 0;                  // items, ever
  bool dry_ = false;                  // there was nothing to take, lately
  std::optional<Deadline> idle_until_;
  Duration usual_age_{std::chrono::seconds(1)};  // of a command at its end, lately
  size_t dead_ = 0;                              // items
  size_t left_ = 0;                              // items that were not done, and stay in the queue
  std::optional<CommandEnd> end_;                // the last one's, or the one that ended it all
  bool useless_ = false;                         // and it was this
};

}  // namespace zklock::command
