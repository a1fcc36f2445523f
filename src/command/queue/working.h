// SPDX-License-Identifier: Apache-2.0
// Items from a queue, each worked on by a command of its own, several at a time: taken under claims, kept under a lease
// while the command runs, and then removed, given back or buried, as the command's end has it.
#pragma once

#include "command/queue/crew.h"
#include "command/queue/intake.h"
#include "command/queue/settlement.h"
#include "command/queue/stock.h"
#include "command/queue/supervision.h"
#include "command/queue/work_options.h"
#include "host/inherited.h"
#include "host/signals.h"
#include "recipe/lock/lease.h"

#include <optional>
#include <vector>

namespace zklock::command {

class Working {
 public:
  // Forks the guards: before there is a ZooKeeper handle.
  Working(const host::Program& program, const host::Inherited& inherited, zk::SessionOptions session,
          WorkOptions options);

  // 0, or for a single item the status of its command. Throws a Failure for what is not success: 65 where there is no
  // queue, 69, 75 where nothing was there, 76 where claims were lost, 77, 123 where items of many failed, a signal.
  int run();

 private:
  void work();
  void settle_ended();
  void move_to(Stage stage);
  void give_back_stock();
  void look_after_session();
  void start_again();
  void prove_anew();
  void go_on();
  bool wants_more() const;
  bool claim();
  void take_in(std::vector<recipe::Item> items);
  void start_commands();
  bool may_start() const;
  void wait_for_own();
  void wait_for_items();
  void stand_in_line();
  void end_for_lack();
  bool needs_attention() const;
  void wind_up();
  int result() const;
  void stop_commands();
  void clean_up();

  size_t wanted() const;
  bool has_own() const { return crew_.is_busy() || !settlement_.kept().empty(); }
  Duration grace() const;

  WorkOptions options_;
  host::Program program_;
  host::Loop loop_;
  host::Signals signals_;
  host::Attached receiving_{loop_, signals_};
  Intake intake_;  // outlives the guards: whatever is thrown, the commands are dead before their claims are free
  zk::Session& session_{intake_.session()};
  recipe::Consumer& consumer_{intake_.consumer()};
  recipe::Acks& acks_{intake_.acks()};
  Crew crew_;
  Supervision supervision_;
  std::optional<recipe::Lease> lease_;
  Settlement settlement_{options_, intake_};
  Stage stage_ = Stage::taking;
  Stock stock_{options_.jobs};
  size_t taken_ = 0;  // items, ever
  bool dry_ = false;  // there was nothing to take, lately
};

}  // namespace zklock::command
