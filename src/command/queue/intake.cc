// SPDX-License-Identifier: Apache-2.0
#include "command/queue/intake.h"

#include "recipe/lock/protected_node.h"
#include "recipe/queue/nodes.h"

#include <fmt/format.h>

namespace zklock::command {

Intake::Intake(host::Loop& loop, zk::SessionOptions session, const PullOptions& options, std::string use)
    : options_(options),
      layout_{options.path},
      tried_("cannot pull from " + options.path),
      use_(std::move(use)),
      session_(loop, std::move(session)),
      consumer_(session_, layout_, options.note),
      acks_(session_, layout_, consumer_),
      idle_line_(loop, session_, layout_, options.note, consumer_) {
  session_.set_purpose(tried_);
  if (options_.waits()) consumer_.remember_work();
}

void Intake::open() {
  // The longest time to wait covers connecting too. Where it is over, something else is to be finished, or looked at
  // once more.
  const Deadline idle = options_.waits() ? idle_until() : kNever;
  const Deadline until = left_until(idle) > Duration::zero() ? idle : kNever;
  do {
    session_.open(until);
    open_ = true;
    // Who waits stands in line at a node of the queue; with --all there is nothing to wait for where there is no queue.
    options_.waits() && !options_.all ? recipe::make_queue(session_, layout_, tried_, kNever)
                                      : recipe::look_at_queue(session_, layout_, tried_, kNever);
  } while (session_.expired());
}

Deadline Intake::idle_until() {
  if (!idle_until_) idle_until_ = options_.idle ? deadline_in(*options_.idle) : kNever;
  return *idle_until_;
}

void Intake::open_again() {
  consumer_.forget_all();
  idle_line_.forget();
  open();
  acks_.look_again(kNever);
  check_lost();
}

void Intake::check_lost() const {
  const std::string loss = this->loss();
  if (!loss.empty()) throw Failure(ExitStatus::lost, loss);
}

void Intake::rethrow() const {
  try {
    throw;
  } catch (const Failure& failure) {
    const std::string loss = this->loss();
    if (loss.empty() || failure.status() == ExitStatus::lost) throw;
    throw Failure(ExitStatus::lost, failure.text().empty() ? loss : fmt::format("{}; {}", loss, failure.text()));
  }
}

// What is to be said of items that are not known to be removed; empty: there are none.
std::string Intake::loss() const {
  const size_t lost = acks_.lost().size();
  const size_t doubtful = acks_.doubtful().size();
  const auto items = [this](size_t count) {
    return count == 1 ? fmt::format("an item that was {}", use_) : fmt::format("{} items that were {}", count, use_);
  };
  if (lost > 0 && doubtful == 0) {
    return fmt::format("{}: {} could not be removed: the claim was lost; {} will come again", tried_, items(lost),
                       lost == 1 ? "it" : "they");
  }
  if (lost + doubtful == 0) return "";
  return fmt::format("{}: {} not known to be removed; {} may be {} twice", tried_,
                     items(lost + doubtful) + (lost + doubtful == 1 ? " is" : " are"),
                     lost + doubtful == 1 ? "it" : "they", use_);
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
  acks_.settle(done, until);
  const std::vector<recipe::Item> claimed = consumer_.settle(until);
  unused.insert(unused.end(), claimed.begin(), claimed.end());
  acks_.release(unused, until);
  session_.close();
  idle_line_.forget();
}

}  // namespace zklock::command
