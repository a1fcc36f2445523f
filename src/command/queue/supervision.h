// SPDX-License-Identifier: Apache-2.0
// What must not wait while a consumer's commands run, whatever else is being waited for: signals, the fence, the loss
// of the claims. In the loop, behind the lease and the workers.
#pragma once

#include "command/queue/crew.h"
#include "host/signals.h"
#include "recipe/lock/lease.h"

#include <string>

namespace zklock::command {

class Supervision : public host::Source {
 public:
  Supervision(host::Signals& signals, Crew& crew, std::string queue)
      : signals_(signals), crew_(crew), queue_(std::move(queue)) {}

  // From now on the commands run under this.
  void set_lease(const recipe::Lease* lease) { lease_ = lease; }

  // The signal by which somebody wants zklock to end; 0: none. Kept while commands run: the running ones may finish.
  // The next ones go to them.
  int asked() const { return asked_; }

  // The text with which it has thrown 76; what became of the commands belongs behind it. "": it has not.
  const std::string& loss() const { return loss_; }

  // From now on it throws nothing: what runs is being ended.
  void stand_down() { told_ = true; }

  void arm(host::PollSet&) override {}
  void record(const host::PollSet&) override {}
  // Throws a Failure, once: by the signal where no command runs, 76 where the claims of running ones are lost.
  void decide() override;

 private:
  void take(host::Arrival arrival);
  void look_at_claims();
  std::string unproved() const;
  [[noreturn]] void lose(const std::string& reason);

  host::Signals& signals_;
  Crew& crew_;
  std::string queue_;  // for messages
  const recipe::Lease* lease_ = nullptr;
  int asked_ = 0;
  bool told_ = false;
  std::string loss_;
};

}  // namespace zklock::command
