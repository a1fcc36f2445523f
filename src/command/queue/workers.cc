// SPDX-License-Identifier: Apache-2.0
#include "command/queue/workers.h"

#include "command/child/nesting.h"
#include "command/cli/options.h"
#include "host/terminal.h"
#include "zk/path.h"

#include <csignal>
#include <utility>

#include <fmt/format.h>

namespace zklock::command {

namespace {

using namespace std::chrono_literals;
using recipe::Item;
using recipe::LeaseState;

constexpr Duration kAhead = 50ms;       // of work, besides what is done in a round trip
constexpr size_t kMostAhead = 32;       // items, if that is more than
constexpr size_t kMostAheadPerJob = 2;  // so many for each worker

// The longest argument on Linux, its end included: MAX_ARG_STRLEN.
constexpr size_t kLongestArgument = 128 * 1024;

std::string replaced(const std::string& word, const std::string& placeholder, const std::string& text) {
  std::string result;
  size_t from = 0;
  for (size_t at = word.find(placeholder); at != std::string::npos; at = word.find(placeholder, from)) {
    result += word.substr(from, at - from) + text;
    from = at + placeholder.size();
  }
  return result + word.substr(from);
}

}  // namespace

bool WorkerPool::Worker::has_ended() const {
  // A guard that was killed after the end of the command has still seen it.
  return command && !guard.fenced() && guard.phase() >= host::CommandPhase::ended;
}

ItemCommand WorkerPool::Worker::take_command() {
  guard.let_go();
  return *std::exchange(command, std::nullopt);
}

WorkerPool::WorkerPool(host::Loop& loop, host::Signals& signals, const WorkOptions& options, zk::Session& session,
                       const host::Inherited& inherited, const std::optional<recipe::Lease>& lease)
    : loop_(loop),
      signals_(signals),
      options_(options),
      connection_(connection_variables(session.options())),
      lease_(lease) {
  if (const auto outer = outer_variable(session.options().servers.text())) connection_.push_back(*outer);
  for (size_t i = 0; i < options_.jobs; ++i) workers_.emplace_back(loop, options_.program, inherited, session);
  for (Worker& one : workers_) {
    for (const Worker& other : workers_) {
      if (&one != &other) one.guard.spare(other.guard);
    }
  }
}

size_t WorkerPool::free_count() const {
  return static_cast<size_t>(std::ranges::count_if(workers_, &Worker::is_free));
}

std::optional<std::string> WorkerPool::start(Item& item) {
  host::Launch launch{variables_for(item)};
  if (!options_.placeholder) {
    launch.input = item.data;
  } else {
    if (item.data.find('\0') != std::string::npos) return "it holds a NUL byte, which no argument (-I) can";
    launch.arguments = options_.program.arguments;
    for (size_t i = 1; i < launch.arguments.size(); ++i) {
      std::string& argument = launch.arguments[i];
      argument = replaced(argument, *options_.placeholder, item.data);
      if (argument.size() >= kLongestArgument) return "it is too long for an argument (-I)";
    }
  }
  Worker& worker = *std::ranges::find_if(workers_, &Worker::is_free);
  const Deadline began = BootClock::now();
  worker.guard.set_fence(lease_->fence());
  worker.guard.start(launch);
  worker.command = ItemCommand{std::move(item), began};
  return std::nullopt;
}

std::vector<std::string> WorkerPool::variables_for(const Item& item) const {
  std::vector<std::string> variables{"ZKLOCK_PATH=" + options_.pull.path,
                                     "ZKLOCK_NODE=" + recipe::claim_of(item.path),
                                     fmt::format("ZKLOCK_TOKEN={}", item.token),
                                     "ZKLOCK_ITEM_ID=" + recipe::id_of(item.path),
                                     fmt::format("ZKLOCK_ATTEMPT={}", item.attempts),
                                     fmt::format("ZKLOCK_PRIORITY={}", recipe::segment_of(item.path).priority),
                                     "ZKLOCK_ENQUEUED=" + format_utc(item.created_ms)};
  variables.insert(variables.end(), connection_.begin(), connection_.end());
  return variables;
}

bool WorkerPool::has_ended() const {
  return std::ranges::any_of(workers_, &Worker::has_ended);
}

std::optional<ItemCommand> WorkerPool::take_ended(bool done_only) {
  for (Worker& worker : workers_) {
    if (!worker.has_ended()) continue;
    worker.command->wait_status = worker.guard.wait_status();
    worker.command->exec_error = worker.guard.exec_error();
    if (!done_only || worker.command->is_done()) return worker.take_command();
  }
  return std::nullopt;
}

std::vector<Item> WorkerPool::stop(Duration grace) {
  told_ = true;
  std::vector<Item> items;
  if (!is_busy()) return items;
  const host::Attached reporting(loop_, *this);
  const Duration left = std::min(grace, left_until(lease_->fence()));
  for (Worker& worker : workers_) {
    if (!worker.is_free()) worker.guard.finish(left);
  }
  for (const Worker& worker : workers_) {
    while (!worker.is_free() && !worker.guard.gone()) loop_.turn(kNever);
  }
  for (Worker& worker : workers_) {
    if (!worker.is_free()) items.push_back(worker.take_command().item);
  }
  return items;
}

Duration WorkerPool::overrun() const {
  Duration longest{};
  for (const Worker& worker : workers_) longest = std::max(longest, worker.guard.overrun());
  return longest;
}

void WorkerPool::decide() {
  for (Worker& worker : workers_) worker.trouble.report();
  if (told_) return;
  while (const auto arrival = signals_.take()) take(*arrival);
  if (!is_busy()) return;
  for (Worker& worker : workers_) {
    if (!worker.is_free()) worker.guard.set_fence(lease_->fence());
  }
  look_at_claims();
}

void WorkerPool::take(host::Arrival arrival) {
  switch (arrival.signal) {
    case SIGTSTP:
      host::remark("zklock: not stopped: a consumer that is stopped would lose its claims\n");
      [[fallthrough]];
    case SIGCONT:
    case SIGTTOU:
    case SIGWINCH: return;
  }
  if (!is_busy()) {
    told_ = true;
    throw Failure::by_signal(arrival.signal);
  }
  if (host::is_ending(arrival.signal) && asked_ == 0) {
    asked_ = arrival.signal;
    return;
  }
  for (Worker& worker : workers_) {
    if (worker.is_free()) continue;
    worker.command->interrupted |= host::is_ending(arrival.signal);
    worker.guard.forward(arrival.signal);
  }
}

void WorkerPool::look_at_claims() {
  for (const Worker& worker : workers_) {
    if (worker.is_free()) continue;
    if (worker.guard.killed()) lose("a guard was killed");
    if (worker.guard.fenced()) lose(unproved());
  }
  switch (lease_->state()) {
    case LeaseState::held: break;
    case LeaseState::node_deleted:
    case LeaseState::revoked: lose("it was deleted");
    case LeaseState::session_over: lose("the session expired");
    case LeaseState::unproved: lose(unproved());
  }
}

std::string WorkerPool::unproved() const {
  return fmt::format("no quorum confirmed it for {}", format_duration(BootClock::now() - lease_->proved()));
}

void WorkerPool::lose(const std::string& reason) {
  told_ = true;
  loss_ = fmt::format("lost the claim on an item of {}: {}", options_.pull.path, reason);
  throw Failure(ExitStatus::lost, loss_);
}

size_t Prefetch::target() const {
  const auto fits = static_cast<size_t>((kAhead + round_trip_) * jobs_ / std::max<Duration>(usual_age_, 1us));
  return std::min(std::max(kMostAhead, kMostAheadPerJob * jobs_), fits);
}

size_t Prefetch::lacking(size_t free, size_t underway, bool ahead) const {
  const size_t had = items_.size() + underway;
  const size_t stock = ahead ? target() : 0;
  const bool is_low = stock > 0 && had <= free + stock / 2;
  if (had >= free && !is_low) return 0;
  const size_t lack = free + target() - std::min(had, free + target());
  return lack < underway ? 0 : lack;
}

std::vector<Item> Prefetch::take_all() {
  std::vector<Item> all(std::make_move_iterator(items_.begin()), std::make_move_iterator(items_.end()));
  items_.clear();
  return all;
}

}  // namespace zklock::command
