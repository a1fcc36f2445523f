// SPDX-License-Identifier: Apache-2.0
#include "command/intake.h"

#include "recipe/own_node.h"
#include "recipe/queue_node.h"

#include <fmt/format.h>

namespace zklock::command {

Intake::Intake(host::Loop& loop, zk::SessionOptions session, const PullOptions& options, std::string use)
    : options_(options),
      layout_{options.path},
      tried_("cannot pull from " + options.path),
      use_(std::move(use)),
      session_(loop, std::move(session)),
      consumer_(session_, layout_, options.note),
      discharge_(session_, layout_, consumer_),
      idle_line_(loop, session_, layout_, options.note, consumer_) {
  session_.set_purpose(tried_);
}

void Intake::open() {
  // The longest time to wait covers connecting too.
  const Deadline until = options_.waits() && options_.idle ? deadline_in(*options_.idle) : kNever;
  do {
    session_.open(until);
    open_ = true;
    // Who waits stands in line at a node of the queue; with --all there is nothing to wait for where there is no queue.
    options_.waits() && !options_.all ? recipe::make_queue(session_, layout_, tried_, kNever)
                                      : recipe::look_at_queue(session_, layout_, tried_, kNever);
  } while (session_.expired());
}

void Intake::open_again() {
  consumer_.forget_all();
  idle_line_.forget();
  open();
  discharge_.look_again(kNever);
  check_lost();
}

void Intake::check_lost() const {
  const size_t lost = discharge_.lost().size();
  if (lost == 0) return;
  throw Failure(ExitStatus::lost,
                fmt::format("{}: {} that {} {} could not be removed: the claim was lost; {} will come again", tried_,
                            lost == 1 ? "an item" : fmt::format("{} items", lost), lost == 1 ? "was" : "were", use_,
                            lost == 1 ? "it" : "they"));
}

void Intake::check_lack(size_t taken) const {
  if (options_.all) throw Failure(ExitStatus::busy, tried_ + ": what is left is in work, and was not done in time");
  if (taken > 0) return;
  throw Failure(ExitStatus::busy,
                fmt::format("{}: {}", tried_, consumer_.some_in_work() ? "all items are in work" : "no items"));
}

void Intake::clean_up(const std::vector<recipe::Item>& done, std::vector<recipe::Item> unused) {
  if (!open_) return;
  const Deadline until = deadline_in(recipe::withdrawal_budget(session_));
  discharge_.send(done, until);
  discharge_.settle(until);
  const std::vector<recipe::Item> claimed = consumer_.settle_lots(until);
  unused.insert(unused.end(), claimed.begin(), claimed.end());
  discharge_.give_back(unused, until);
  session_.close();
  idle_line_.forget();
}

}  // namespace zklock::command
