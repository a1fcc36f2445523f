// SPDX-License-Identifier: Apache-2.0
#include "command/working.h"

#include "command/command_status.h"
#include "host/terminal.h"
#include "recipe/idle_line.h"
#include "recipe/own_node.h"
#include "recipe/queue_node.h"

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

std::string count_of(size_t items) {
  return items == 1 ? "an item" : fmt::format("{} items", items);
}

}  // namespace

Working::Working(const host::Program& program, const host::Inherited& inherited, zk::SessionOptions session,
                 WorkOptions options)
    : options_(std::move(options)),
      program_(program),
      layout_{options_.pull.path},
      tried_("cannot pull from " + layout_.queue),
      session_(loop_, std::move(session)),
      supervision_(signals_, workers_, layout_.queue),
      consumer_(session_, layout_, options_.pull.note),
      discharge_(session_, layout_, consumer_),
      kept_(options_.retry_delay) {
  for (size_t i = 0; i < options_.jobs; ++i) workers_.emplace_back(loop_, program_, inherited);
  for (Worker& one : workers_) {
    for (const Worker& other : workers_) {
      if (&one != &other) one.guard().spare(other.guard());
    }
  }
  signals_.take_job_control();
}

int Working::run() {
  session_.set_purpose(tried_);
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
    open_queue();
  }
  lease_.emplace(session_, std::vector<recipe::Held>(), grace(), recipe::Lease::Watched::nothing);
  const host::Attached holding(loop_, *lease_);
  supervision_.set_lease(&*lease_);
  // Behind the lease: what that decides ends the commands in the same turn.
  const host::Attached supervising(loop_, supervision_);
  const host::Attached keeping(loop_, kept_);
  while (stage_ == Stage::taking || supervision_.is_busy()) {
    settle_ended();
    discharge_.take_answers(kNever);
    look_after_session();
    give_back_due();
    give_back_ahead();
    go_on();
  }
  wind_up();
}

void Working::open_queue() {
  const PullOptions& pull = options_.pull;
  // The longest time to wait covers connecting too.
  const Deadline until = pull.waits() && pull.idle ? deadline_in(*pull.idle) : kNever;
  do {
    session_.open(until);
    open_ = true;
    // Who waits stands in line at a node of the queue; with --all there is nothing to wait for where there is no queue.
    pull.waits() && !pull.all ? recipe::make_queue(session_, layout_, tried_, kNever)
                              : recipe::look_at_queue(session_, layout_, tried_, kNever);
  } while (session_.expired());
}

void Working::settle_ended() {
  for (Worker& worker : workers_) {
    if (!worker.has_ended()) continue;
    const CommandEnd end = worker.end();
    usual_age_ = (7 * usual_age_ + worker.age()) / 8;
    Item item = worker.take_item();
    session_.set_enduring(supervision_.is_busy());
    settle(std::move(item), end);
  }
  if (supervision_.asked() != 0) stage_ = Stage::finishing;
  if (done_.empty()) return;
  discharge_.remove(done_, kNever);
  done_.clear();
}

void Working::settle(Item item, const CommandEnd& end) {
  const Verdict verdict = verdict_on(end, item.attempts, options_.most_attempts);
  if (!useless_) end_ = end;
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
      ++left_;
      part_with(Fate::untouched, item);
      break;
    case Verdict::useless:
      part_with(Fate::untouched, item);
      useless_ = true;
      stage_ = Stage::finishing;
      break;
  }
  if (options_.halt) stage_ = Stage::finishing;
}

void Working::keep(Item item, Fate fate, const CommandEnd& end) {
  if (session_.options().verbose) {
    host::remark(fmt::format("zklock: item {} of {} was not done: {} (attempt {} of {})\n", recipe::name_of(item.path),
                             layout_.queue, describe(end), item.attempts, options_.most_attempts));
  }
  kept_.add(std::move(item), fate);
}

void Working::bury(const Item& item, const std::string& reason) {
  ++dead_;
  host::remark(fmt::format("zklock: item {} of {} goes to the dead letters: {} (attempt {})\n",
                           recipe::name_of(item.path), layout_.queue, reason, item.attempts));
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
  if (stage_ == Stage::finishing) ++left_;
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
  if (supervision_.is_busy()) return;
  if (session_.expired()) return start_again();
  if (lease_->state() != recipe::Lease::State::held) prove_anew();
}

// What was claimed is somebody else's now; what was done may be removed already.
void Working::start_again() {
  discharge_.finish(kNever);
  taken_ -= waiting_.size();
  waiting_.clear();
  if (stage_ == Stage::finishing) left_ += kept_.size();
  kept_.clear();
  lease_->clear();
  consumer_.forget_all();
  open_queue();
  discharge_.look_again(kNever);
  check_lost();
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

void Working::check_lost() const {
  const size_t lost = discharge_.lost().size();
  if (lost == 0) return;
  throw Failure(ExitStatus::lost, fmt::format("{}: {} that was worked on could not be removed: the claim was lost; it "
                                              "will come again",
                                              tried_, count_of(lost)));
}

void Working::go_on() {
  start_commands();
  if (stage_ == Stage::taking && wanted() == 0 && waiting_.empty()) stage_ = Stage::finishing;
  if (stage_ == Stage::taking && wants_more()) {
    if (claim()) return start_commands();
    if (free_workers() > 0) return wait_for_items();
  }
  wait_for_own();
}

// Others may have time for what our workers have not; but short commands shall not have to wait for a claim each.
bool Working::wants_more() const {
  if (kept_.full() || wanted() == 0) return false;
  return free_workers() > 0 || (!dry_ && waiting_.size() <= ahead() / 2 && ahead() > 0);
}

bool Working::claim() {
  const size_t lot = free_workers() + ahead() - std::min(waiting_.size(), ahead());
  dry_ = !consumer_.begin(std::min(lot, wanted()), kNever);
  if (dry_) return false;
  take_in(consumer_.collect(kNever));
  return true;
}

void Working::take_in(std::vector<Item> items) {
  for (Item& item : items) {
    lease_->add({layout_.queue, recipe::claim_of(item.path), item.owner, item.token, 0, item.proved});
    waiting_.push_back(std::move(item));
    ++taken_;
    moved_ = BootClock::now();
    idle_until_.reset();
  }
}

void Working::start_commands() {
  while (!waiting_.empty() && stage_ == Stage::taking && !kept_.full()) {
    Worker* worker = free_worker();
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
  if (needs_attention() || (stage_ == Stage::finishing && !supervision_.is_busy())) return;
  session_.turn(ahead_until());
}

bool Working::needs_attention() const {
  const auto ended = [](const Worker& worker) { return worker.has_ended(); };
  return std::any_of(workers_.begin(), workers_.end(), ended) || left_until(kept_.next()) == Duration::zero() ||
         (lease_->state() != recipe::Lease::State::held && !supervision_.is_busy()) ||
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
  IdleLine line(session_, layout_, options_.pull.note, consumer_);
  // What is kept falling due is no failure to stand in line in time.
  const Deadline until = own ? kNever : *idle_until_;
  switch (line.wait({true, until, [this] { return needs_attention(); }}, options_.pull.all && !own)) {
    case IdleLine::End::taken:
      return take_in(std::move(line.items()));
    case IdleLine::End::nothing:
      stage_ = Stage::finishing;
      return;
    case IdleLine::End::removed:
      throw Failure(ExitStatus::busy, tried_ + ": our place in line was removed");
    case IdleLine::End::timeout:
      if (!own) end_for_lack();
      return;
    case IdleLine::End::expired:
    case IdleLine::End::disturbed:
      return;
  }
}

void Working::end_for_lack() {
  if (options_.pull.all)
    throw Failure(ExitStatus::busy, tried_ + ": what is left is in work, and was not done in time");
  stage_ = Stage::finishing;
  if (taken_ > 0) return;
  throw Failure(ExitStatus::busy,
                fmt::format("{}: {}", tried_, consumer_.some_in_work() ? "all items are in work" : "no items"));
}

void Working::wind_up() {
  while (const auto kept = kept_.take(true)) give_back(*kept);
  give_back_ahead();
  discharge_.finish(kNever);
  if (session_.expired() && !discharge_.lost().empty()) {
    session_.open(kNever);
    discharge_.look_again(kNever);
  }
  check_lost();
}

int Working::result() const {
  if (supervision_.asked() != 0) throw Failure::by_signal(supervision_.asked());
  if (useless_ && end_->exec_error != 0) throw host::cannot_execute(program_, end_->exec_error);
  if (useless_ || (options_.pull.most == 1u && end_ && end_->exec_error == 0))
    return status_of_command(end_->wait_status);
  if (dead_ + left_ == 0) return 0;
  std::string text = layout_.queue + ": ";
  if (dead_ > 0) text += count_of(dead_) + " went to the dead letters";
  if (left_ > 0) text += fmt::format("{}{} failed, to be tried again", dead_ > 0 ? ", " : "", count_of(left_));
  throw Failure(ExitStatus::items_failed, text);
}

// Whatever is thrown: nothing may run on without its claim.
void Working::stop_commands() {
  supervision_.stand_down();
  const host::Attached reporting(loop_, supervision_);
  for (Worker& worker : workers_) {
    if (worker.has_ended() && verdict_on(worker.end(), 0, 0) == Verdict::done) done_.push_back(worker.take_item());
    if (!worker.is_free()) worker.guard().finish(std::min(grace(), left_until(lease_->fence())));
  }
  for (const Worker& worker : workers_) {
    while (!worker.is_free() && !worker.guard().gone()) loop_.turn(kNever);
  }
}

void Working::clean_up() {
  if (!open_) return;
  const Deadline until = deadline_in(recipe::withdrawal_budget(session_));
  discharge_.send(done_, until);
  discharge_.settle(until);
  std::vector<Item> back = consumer_.settle_lots(until);
  back.insert(back.end(), waiting_.begin(), waiting_.end());
  for (Worker& worker : workers_) {
    if (!worker.is_free()) back.push_back(worker.take_item());
  }
  // The attempts of the others count, as the session's end has it.
  while (auto kept = kept_.take(true)) {
    if (kept->fate == Fate::untouched) back.push_back(std::move(kept->item));
  }
  discharge_.give_back(back, until);
  session_.close();
}

Worker* Working::free_worker() {
  const auto found = std::find_if(workers_.begin(), workers_.end(), [](const Worker& one) { return one.is_free(); });
  return found == workers_.end() ? nullptr : &*found;
}

size_t Working::free_workers() const {
  const auto count = std::count_if(workers_.begin(), workers_.end(), [](const Worker& one) { return one.is_free(); });
  return static_cast<size_t>(count);
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
