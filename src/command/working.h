// SPDX-License-Identifier: Apache-2.0
// Items from a queue, each worked on by a command of its own, several at a time: taken under claims, kept under a lease
// while the command runs, and then removed, given back or buried, as the command's end has it.
#pragma once

#include "command/crew.h"
#include "command/intake.h"
#include "command/item_command.h"
#include "command/kept_items.h"
#include "command/pull_options.h"
#include "command/supervision.h"
#include "command/tally.h"
#include "host/inherited.h"
#include "host/signals.h"
#include "recipe/lease.h"

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

  size_t ahead() const;
  Deadline ahead_until() const;
  size_t wanted() const;
  bool has_own() const { return crew_.is_busy() || !kept_.empty(); }
  Duration grace() const;

  WorkOptions options_;
  host::Program program_;
  host::Loop loop_;
  host::Signals signals_;
  host::Attached receiving_{loop_, signals_};
  Intake intake_;  // outlives the guards: whatever is thrown, the commands are dead before their claims are free
  zk::Session& session_{intake_.session()};
  recipe::Consumer& consumer_{intake_.consumer()};
  recipe::Discharge& discharge_{intake_.discharge()};
  Crew crew_;
  Supervision supervision_;
  std::optional<recipe::Lease> lease_;
  KeptItems kept_;
  Stage stage_ = Stage::taking;
  std::deque<recipe::Item> waiting_;  // ours, for a worker to be free
  Deadline moved_{};                  // when the last one came, or went to a worker
  std::vector<recipe::Item> done_;    // to be removed
  size_t taken_ = 0;                  // items, ever
  bool dry_ = false;                  // there was nothing to take, lately
  std::optional<Deadline> idle_until_;
  Duration usual_age_{std::chrono::seconds(1)};  // of a command at its end, lately
  Tally tally_;
};

}  // namespace zklock::command
