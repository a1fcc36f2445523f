// SPDX-License-Identifier: Apache-2.0
#include "command/working.h"

#include "command/command_status.h"
#include "host/terminal.h"
#include "recipe/idle_line.h"

#include <algorithm>

#include <fmt/format.h>

namespace zklock::command {

using recipe::Fate;
using recipe::IdleLine;
using recipe::Item;

namespace {

using namespace std::chrono_literals;

constexpr int kGrace = 10;              // T / kGrace
constexpr Duration kAhead = 50ms;       // of work is claimed before a worker is free for it
constexpr size_t kMostAhead = 32;       // items
constexpr Duration kLongestAhead = 1s;  // that they wait for a worker

}  // namespace

Working::Working(const host::Program& program, const host::Inherited& inherited, zk::SessionOptions session,
                 WorkOptions options)
    : options_(std::move(options)),
      program_(program),
      intake_(loop_, std::move(session), options_.pull, "worked on"),
      crew_(loop_, program_, inherited, options_.jobs),
      supervision_(signals_, crew_, options_.pull.path),
      kept_(options_.retry_delay) {
  signals_.take_job_control();
}

int Working::run() {
  try {
    work();
    session_.close();
  } catch (...) {
    stop_commands();
    clean_up();
    throw;
  }
  return result();
}

void Working::work() {
  {
    const host::Attached supervising(loop_, supervision_);
    intake_.open();
  }
  lease_.emplace(session_, std::vector<recipe::Held>(), grace(), recipe::Lease::Watched::nothing);
  const host::Attached holding(loop_, *lease_);
  supervision_.set_lease(&*lease_);
  // Behind the lease: what that decides ends the commands in the same turn.
  const host::Attached supervising(loop_, supervision_);
  const host::Attached keeping(loop_, kept_);
  while (stage_ == Stage::taking || crew_.is_busy()) {
    settle_ended();
    discharge_.take_answers(kNever);
    look_after_session();
    give_back_due();
    give_back_ahead();
    go_on();
  }
  wind_up();
}

void Working::settle_ended() {
  for (Worker& worker : crew_) {
    if (!worker.has_ended()) continue;
    const CommandEnd end = worker.end();
    usual_age_ = (7 * usual_age_ + worker.age()) / 8;
    Item item = worker.take_item();
    session_.set_enduring(crew_.is_busy());
    settle(std::move(item), end);
  }
  if (supervision_.asked() != 0) stage_ = Stage::finishing;
  if (done_.empty()) return;
  discharge_.remove(done_, kNever);
  done_.clear();
}

void Working::settle(Item item, const CommandEnd& end) {
  const Verdict verdict = verdict_on(end, item.attempts, options_.most_attempts);
  tally_.ended(end, verdict);
  switch (verdict) {
    case Verdict::done:
      lease_->drop(recipe::claim_of(item.path));
      done_.push_back(std::move(item));
      return;
    case Verdict::dead:
      bury(item, describe(end));
      break;
    case Verdict::failed:
      keep(std::move(item), Fate::failed, end);
      break;
    case Verdict::later:
      keep(std::move(item), Fate::untouched, end);
      break;
    case Verdict::left:
      tally_.left();
      part_with(Fate::untouched, item);
      break;
    case Verdict::useless:
      part_with(Fate::untouched, item);
      stage_ = Stage::finishing;
      break;
  }
  if (options_.halt) stage_ = Stage::finishing;
}

void Working::keep(Item item, Fate fate, const CommandEnd& end) {
  if (session_.options().verbose) {
    host::remark(fmt::format("zklock: item {} of {} was not done: {} (attempt {} of {})\n", recipe::name_of(item.path),
                             options_.pull.path, describe(end), item.attempts, options_.most_attempts));
  }
  kept_.add(std::move(item), fate);
}

void Working::bury(const Item& item, const std::string& reason) {
  tally_.buried();
  host::remark(fmt::format("zklock: item {} of {} goes to the dead letters: {} (attempt {})\n",
                           recipe::name_of(item.path), options_.pull.path, reason, item.attempts));
  part_with(Fate::dead, item, why_dead(reason, item.attempts));
}

void Working::part_with(Fate fate, const Item& item, const std::string& why) {
  lease_->drop(recipe::claim_of(item.path));
  discharge_.discharge(fate, item, why, kNever);
}

void Working::give_back_due() {
  while (const auto kept = kept_.take()) give_back(*kept);
}

// While more is taken, it may come again.
void Working::give_back(const KeptItems::Kept& kept) {
  if (stage_ == Stage::finishing) tally_.left();
  part_with(kept.fate, kept.item);
}

// Claimed for commands as short as those before them; but those that run now take longer, and others may have time.
void Working::give_back_ahead() {
  if (stage_ == Stage::taking && !kept_.full() && BootClock::now() < ahead_until()) return;
  for (; !waiting_.empty(); waiting_.pop_front(), --taken_) part_with(Fate::untouched, waiting_.front());
  dry_ = true;
}

// While commands run, that is for the supervision to see.
void Working::look_after_session() {
  if (crew_.is_busy()) return;
  if (session_.expired()) return start_again();
  if (lease_->state() != recipe::Lease::State::held) prove_anew();
}

// What was claimed is somebody else's now; what was done may be removed already.
void Working::start_again() {
  discharge_.finish(kNever);
  taken_ -= waiting_.size();
  waiting_.clear();
  if (stage_ == Stage::finishing) {
    for (size_t i = 0; i < kept_.size(); ++i) tally_.left();
  }
  kept_.clear();
  lease_->clear();
  intake_.open_again();
}

// After a pause of ours, in which no command ran.
void Working::prove_anew() {
  lease_->clear();
  while (const auto kept = kept_.take(true)) give_back(*kept);
  const std::vector<Item> confirmed = discharge_.confirm({waiting_.begin(), waiting_.end()}, kNever);
  taken_ -= waiting_.size();
  waiting_.clear();
  take_in(confirmed);
}

void Working::go_on() {
  start_commands();
  if (stage_ == Stage::taking && wanted() == 0 && waiting_.empty()) stage_ = Stage::finishing;
  if (stage_ == Stage::taking && wants_more()) {
    if (claim()) return start_commands();
    if (crew_.free_count() > 0) return wait_for_items();
  }
  wait_for_own();
}

// Others may have time for what our workers have not; but short commands shall not have to wait for a claim each.
bool Working::wants_more() const {
  if (kept_.full() || wanted() == 0) return false;
  return crew_.free_count() > 0 || (!dry_ && waiting_.size() <= ahead() / 2 && ahead() > 0);
}

bool Working::claim() {
  const size_t lot = crew_.free_count() + ahead() - std::min(waiting_.size(), ahead());
  dry_ = !consumer_.begin(std::min(lot, wanted()), kNever);
  if (dry_) return false;
  take_in(consumer_.collect(kNever));
  return true;
}

void Working::take_in(std::vector<Item> items) {
  for (Item& item : items) {
    lease_->add({options_.pull.path, recipe::claim_of(item.path), item.owner, item.token, 0, item.proved});
    waiting_.push_back(std::move(item));
    ++taken_;
    moved_ = BootClock::now();
    idle_until_.reset();
  }
}

void Working::start_commands() {
  while (!waiting_.empty() && stage_ == Stage::taking && !kept_.full()) {
    Worker* worker = crew_.free();
    // Nothing is begun on claims that are to be proved first.
    const bool proved = lease_->state() == recipe::Lease::State::held && BootClock::now() < lease_->fence() - grace();
    if (!worker || !proved) return;
    const Item& item = waiting_.front();
    if (const auto reason = options_.command.unfit(item)) {
      bury(item, *reason);
      if (options_.halt) stage_ = Stage::finishing;
    } else {
      worker->start(item, options_.command.launch(item), lease_->fence());
      moved_ = BootClock::now();
      session_.set_enduring(true);
    }
    waiting_.pop_front();
  }
}

void Working::wait_for_own() {
  if (needs_attention() || (stage_ == Stage::finishing && !crew_.is_busy())) return;
  session_.turn(ahead_until());
}

bool Working::needs_attention() const {
  const auto ended = [](const Worker& worker) { return worker.has_ended(); };
  return std::any_of(crew_.begin(), crew_.end(), ended) || left_until(kept_.next()) == Duration::zero() ||
         (lease_->state() != recipe::Lease::State::held && !crew_.is_busy()) ||
         (supervision_.asked() != 0 && stage_ == Stage::taking);
}

void Working::wait_for_items() {
  if (!discharge_.finished()) {
    // The look that found nothing has left out what was still on its way back.
    return discharge_.finish(kNever);
  }
  if (session_.expired()) return;
  const bool own = has_own();
  if (!own && options_.pull.all && !consumer_.some_in_work()) {
    stage_ = Stage::finishing;
    return;
  }
  if (!options_.pull.waits()) return own ? wait_for_own() : end_for_lack();
  if (!own && !idle_until_) idle_until_ = options_.pull.idle ? deadline_in(*options_.pull.idle) : kNever;
  if (!own && left_until(*idle_until_) == Duration::zero()) return end_for_lack();
  IdleLine line(session_, intake_.layout(), options_.pull.note, consumer_);
  // What is kept falling due is no failure to stand in line in time.
  const Deadline until = own ? kNever : *idle_until_;
  switch (line.wait({true, until, [this] { return needs_attention(); }}, options_.pull.all && !own)) {
    case IdleLine::End::taken:
      return take_in(std::move(line.items()));
    case IdleLine::End::nothing:
      stage_ = Stage::finishing;
      return;
    case IdleLine::End::removed:
      throw Failure(ExitStatus::busy, intake_.tried() + ": our place in line was removed");
    case IdleLine::End::timeout:
      if (!own) end_for_lack();
      return;
    case IdleLine::End::expired:
    case IdleLine::End::disturbed:
      return;
  }
}

void Working::end_for_lack() {
  intake_.check_lack(taken_);
  stage_ = Stage::finishing;
}

void Working::wind_up() {
  while (const auto kept = kept_.take(true)) give_back(*kept);
  give_back_ahead();
  discharge_.finish(kNever);
  if (session_.expired() && !discharge_.lost().empty()) {
    session_.open(kNever);
    discharge_.look_again(kNever);
  }
  intake_.check_lost();
}

int Working::result() const {
  if (supervision_.asked() != 0) throw Failure::by_signal(supervision_.asked());
  const auto& useless = tally_.useless();
  if (useless && useless->exec_error != 0) throw host::cannot_execute(program_, useless->exec_error);
  if (useless) return status_of_command(useless->wait_status);
  const auto& last = tally_.last();
  if (options_.pull.most == 1u && last && last->exec_error == 0) return status_of_command(last->wait_status);
  const std::string failures = tally_.failures();
  if (failures.empty()) return 0;
  throw Failure(ExitStatus::items_failed, fmt::format("{}: {}", options_.pull.path, failures));
}

// Whatever is thrown: nothing may run on without its claim.
void Working::stop_commands() {
  supervision_.stand_down();
  const host::Attached reporting(loop_, supervision_);
  for (Worker& worker : crew_) {
    if (worker.has_ended() && verdict_on(worker.end(), 0, 0) == Verdict::done) done_.push_back(worker.take_item());
  }
  if (crew_.is_busy()) crew_.stop(loop_, std::min(grace(), left_until(lease_->fence())));
}

void Working::clean_up() {
  std::vector<Item> unused(waiting_.begin(), waiting_.end());
  for (Worker& worker : crew_) {
    if (!worker.is_free()) unused.push_back(worker.take_item());
  }
  // The attempts of the others count, as the session's end has it.
  while (auto kept = kept_.take(true)) {
    if (kept->fate == Fate::untouched) unused.push_back(std::move(kept->item));
  }
  intake_.clean_up(done_, std::move(unused));
}

size_t Working::ahead() const {
  const auto fits = static_cast<size_t>(kAhead * options_.jobs / std::max<Duration>(usual_age_, 1us));
  return std::min(kMostAhead, fits);
}

Deadline Working::ahead_until() const {
  return waiting_.empty() ? kNever : moved_ + kLongestAhead;
}

// How many more may be taken.
size_t Working::wanted() const {
  return options_.pull.most ? *options_.pull.most - taken_ : SIZE_MAX;
}

Duration Working::grace() const {
  return session_.timeout() / kGrace;
}

}  // namespace zklock::command
