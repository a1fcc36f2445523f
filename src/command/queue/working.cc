// SPDX-License-Identifier: Apache-2.0
#include "command/queue/working.h"

#include "command/child/attended_command.h"
#include "zk/timing.h"

#include <algorithm>

#include <fmt/format.h>

namespace zklock::command {

using recipe::IdleEnd;
using recipe::IdleLine;
using recipe::Item;
using recipe::Lease;

Working::Working(const host::Program& program, const host::Inherited& inherited, zk::SessionOptions session,
                 WorkOptions options)
    : options_(std::move(options)),
      program_(program),
      intake_(loop_, std::move(session), options_.pull, "worked on"),
      crew_(loop_, program_, inherited, options_.jobs),
      supervision_(signals_, crew_, options_.pull.path) {
  signals_.take_job_control();
}

int Working::run() {
  try {
    work();
    session_.close();
  } catch (...) {
    stop_commands();
    clean_up();
    if (supervision_.loss().empty()) intake_.rethrow();
    throw Failure(ExitStatus::lost, fmt::format("{}; {}", supervision_.loss(), end_of("what ran", crew_.overrun())));
  }
  return result();
}

void Working::work() {
  {
    const host::Attached supervising(loop_, supervision_);
    intake_.open();
  }
  lease_.emplace(session_, std::vector<recipe::Held>(), grace(), Lease::Watched::nothing);
  const host::Attached holding(loop_, *lease_);
  supervision_.set_lease(&*lease_);
  settlement_.set_lease(*lease_);
  // Behind the lease: what that decides ends the commands in the same turn.
  const host::Attached supervising(loop_, supervision_);
  const host::Attached keeping(loop_, settlement_.kept());
  while (stage_ == Stage::taking || crew_.is_busy()) {
    settle_ended();
    acks_.take_answers(kNever);
    look_after_session();
    settlement_.give_back_due(stage_);
    give_back_stock();
    go_on();
  }
  wind_up();
}

void Working::settle_ended() {
  for (Worker& worker : crew_) {
    if (!worker.has_ended()) continue;
    const CommandEnd end = worker.end();
    stock_.learn(worker.age());
    Item item = worker.take_item();
    session_.set_enduring(crew_.is_busy());
    move_to(settlement_.settle(std::move(item), end));
  }
  if (supervision_.asked() != 0) stage_ = Stage::finishing;
  settlement_.remove_done();
}

// Nothing leads back.
void Working::move_to(Stage stage) {
  if (stage == Stage::finishing) stage_ = stage;
}

// Claimed for commands as short as those before them; but those that run now take longer, and others may have time.
void Working::give_back_stock() {
  if (stage_ == Stage::taking && !settlement_.kept().full() && BootClock::now() < stock_.until()) return;
  for (; !stock_.empty(); stock_.pop(), --taken_) settlement_.give_back(stock_.front());
  dry_ = true;
}

// While commands run, that is for the supervision to see.
void Working::look_after_session() {
  if (crew_.is_busy()) return;
  if (session_.expired()) return start_again();
  if (lease_->state() != Lease::State::held) prove_anew();
}

// What was claimed is somebody else's now; what was done may be removed already.
void Working::start_again() {
  acks_.finish(kNever);
  taken_ -= stock_.take_all().size();
  settlement_.forget(stage_);
  intake_.open_again();
}

// After a pause of ours, in which no command ran.
void Working::prove_anew() {
  lease_->clear();
  settlement_.give_back_kept(stage_);
  const std::vector<Item> unproved = stock_.take_all();
  taken_ -= unproved.size();
  take_in(consumer_.confirm(unproved, kNever));
}

void Working::go_on() {
  start_commands();
  if (stage_ == Stage::taking && wanted() == 0 && stock_.empty()) stage_ = Stage::finishing;
  if (stage_ == Stage::taking && wants_more()) {
    if (claim()) return start_commands();
    if (crew_.free_count() > 0) return wait_for_items();
  }
  wait_for_own();
}

bool Working::wants_more() const {
  if (settlement_.kept().full() || wanted() == 0) return false;
  return crew_.free_count() > 0 || (!dry_ && stock_.is_low());
}

bool Working::claim() {
  dry_ = !consumer_.begin(std::min(stock_.lacking(crew_.free_count()), wanted()), kNever);
  if (dry_) return false;
  take_in(consumer_.collect(kNever));
  return true;
}

void Working::take_in(std::vector<Item> items) {
  for (Item& item : items) {
    lease_->add({options_.pull.path, recipe::claim_of(item.path), item.owner, item.token, 0, item.proved});
    stock_.add(std::move(item));
    ++taken_;
    intake_.note_items();
  }
}

void Working::start_commands() {
  while (may_start()) {
    Worker* worker = crew_.free();
    if (!worker) return;
    const Item& item = stock_.front();
    if (const auto reason = options_.command.unfit(item)) {
      move_to(settlement_.bury(item, *reason));
    } else {
      worker->start(item, options_.command.launch(item), lease_->fence());
      session_.set_enduring(true);
    }
    stock_.pop();
  }
}

// Nothing is begun on claims that are to be proved first.
bool Working::may_start() const {
  if (stage_ == Stage::finishing || stock_.empty() || settlement_.kept().full()) return false;
  return lease_->state() == Lease::State::held && BootClock::now() < lease_->fence() - grace();
}

void Working::wait_for_own() {
  if (needs_attention() || (stage_ == Stage::finishing && !crew_.is_busy())) return;
  session_.turn(stock_.until());
}

bool Working::needs_attention() const {
  const auto ended = [](const Worker& worker) { return worker.has_ended(); };
  return std::any_of(crew_.begin(), crew_.end(), ended) || left_until(settlement_.kept().next()) == Duration::zero() ||
         (lease_->state() != Lease::State::held && !crew_.is_busy()) ||
         (supervision_.asked() != 0 && stage_ == Stage::taking);
}

void Working::wait_for_items() {
  if (!acks_.finished()) {
    // The look that found nothing has left out what was still on its way back.
    return acks_.finish(kNever);
  }
  if (session_.expired()) return;
  if (!has_own() && options_.pull.all && !consumer_.some_in_work()) {
    stage_ = Stage::finishing;
    return;
  }
  if (options_.pull.waits()) return stand_in_line();
  if (has_own()) return wait_for_own();
  end_for_lack();
}

void Working::stand_in_line() {
  const bool own = has_own();
  // What is kept falling due is no failure to stand in line in time.
  const Deadline until = own ? kNever : intake_.idle_until();
  if (left_until(until) == Duration::zero()) return end_for_lack();
  IdleLine& line = intake_.idle_line();
  switch (line.wait({true, until, [this] { return needs_attention(); }}, options_.pull.all && !own)) {
    case IdleEnd::taken:
      return take_in(std::move(line.items()));
    case IdleEnd::nothing:
      stage_ = Stage::finishing;
      return;
    case IdleEnd::removed:
      throw Failure(ExitStatus::busy, intake_.tried() + ": our place in line was removed");
    case IdleEnd::timeout:
      if (!own) end_for_lack();
      return;
    case IdleEnd::expired:
    case IdleEnd::disturbed:
      return;
  }
}

void Working::end_for_lack() {
  intake_.check_lack(taken_);
  stage_ = Stage::finishing;
}

void Working::wind_up() {
  settlement_.give_back_kept(stage_);
  give_back_stock();
  acks_.finish(kNever);
  if (session_.expired() && !acks_.doubtful().empty()) intake_.open_again();
  intake_.check_lost();
}

int Working::result() const {
  const Tally& tally = settlement_.tally();
  if (supervision_.asked() != 0) throw Failure::by_signal(supervision_.asked());
  const auto& useless = tally.useless();
  if (useless && useless->exec_error != 0) throw host::cannot_execute(program_, useless->exec_error);
  if (useless) return status_of_command(useless->wait_status);
  const auto& last = tally.last();
  if (options_.pull.most == 1u && last && last->exec_error == 0) return status_of_command(last->wait_status);
  const std::string failures = tally.failures();
  if (failures.empty()) return 0;
  throw Failure(ExitStatus::items_failed, fmt::format("{}: {}", options_.pull.path, failures));
}

// Whatever is thrown: nothing may run on without its claim.
void Working::stop_commands() {
  supervision_.stand_down();
  const host::Attached reporting(loop_, supervision_);
  for (Worker& worker : crew_) {
    if (worker.has_ended() && verdict_on(worker.end(), 0, 0) == Verdict::done) settlement_.add_done(worker.take_item());
  }
  if (crew_.is_busy()) crew_.stop(loop_, std::min(grace(), left_until(lease_->fence())));
}

void Working::clean_up() {
  std::vector<Item> unused = stock_.take_all();
  for (Worker& worker : crew_) {
    if (!worker.is_free()) unused.push_back(worker.take_item());
  }
  for (Item& item : settlement_.take_uncounted()) unused.push_back(std::move(item));
  intake_.clean_up(settlement_.done(), std::move(unused));
}

// How many more may be taken.
size_t Working::wanted() const {
  return options_.pull.most ? *options_.pull.most - taken_ : SIZE_MAX;
}

Duration Working::grace() const {
  return zk::usual_grace_of(session_.timeout());
}

}  // namespace zklock::command
