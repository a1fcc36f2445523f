// SPDX-License-Identifier: Apache-2.0
#include "command/queue/settlement.h"

#include "command/child/attended_command.h"
#include "command/child/note.h"
#include "host/terminal.h"
#include "zk/path.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/wait.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace zklock::command {

namespace {

using recipe::Ack;
using recipe::Item;

// Returns what becomes of the item of a command that has ended; nothing: no item can be worked on by this command.
std::optional<Ack> ack_for(const ItemCommand& ended, const WorkOptions& options) {
  // If the arguments are too long, the item in them is to blame.
  if (ended.exec_error == E2BIG && options.placeholder) return Ack::dead_letter;
  if (ended.exec_error != 0) return std::nullopt;
  if (ended.is_done()) return Ack::done;
  if (ended.interrupted) return Ack::release;
  const int status = WIFEXITED(ended.wait_status) ? WEXITSTATUS(ended.wait_status) : -1;
  if (status == static_cast<int>(ExitStatus::bad_data)) return Ack::dead_letter;
  if (status == static_cast<int>(ExitStatus::busy)) return Ack::release;
  if (status == static_cast<int>(ExitStatus::not_executable) || status == static_cast<int>(ExitStatus::not_found)) {
    return std::nullopt;
  }
  return ended.item.attempts < options.most_attempts ? Ack::retry : Ack::dead_letter;
}

// Returns "exit status 3", "killed by SIGKILL" or "could not be executed: Argument list too long".
std::string describe(const ItemCommand& ended) {
  if (ended.exec_error != 0) return fmt::format("could not be executed: {}", std::strerror(ended.exec_error));
  if (WIFEXITED(ended.wait_status)) return fmt::format("exit status {}", WEXITSTATUS(ended.wait_status));
  const int signal = WTERMSIG(ended.wait_status);
  const char* name = sigabbrev_np(signal);
  return name ? fmt::format("killed by SIG{}", name) : fmt::format("killed by signal {}", signal);
}

// Returns the text of a dead letter's `why`: a JSON object with the reason, the number of attempts, this host and the
// time.
std::string why_dead(const std::string& reason, int64_t attempts) {
  nlohmann::ordered_json why;
  why["reason"] = reason;
  why["attempts"] = attempts;
  why["host"] = host_name();
  why["time"] = utc_now();
  return why.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Returns the delay after a failed attempt, which doubles with each attempt up to the longest. If the item is not to
// blame (Ack::release), it is the first delay.
Duration retry_delay(Duration first, Ack ack, int64_t attempts) {
  Duration delay = first;
  if (ack == Ack::retry) {
    for (int64_t attempt = 1; attempt < attempts && delay < WorkOptions::kLongestRetryDelay; ++attempt) delay *= 2;
  }
  return std::min(delay, WorkOptions::kLongestRetryDelay);
}

std::string count_of(size_t items) {
  return items == 1 ? "an item" : fmt::format("{} items", items);
}

}  // namespace

void Settlement::settle(ItemCommand ended) {
  const std::optional<Ack> ack = ack_for(ended, options_);
  returned_.erase(ended.item.path);
  last_ = {{}, ended.began, ended.interrupted, ended.wait_status, ended.exec_error};
  if (!ack || (ack != Ack::done && options_.halt)) finish();
  if (!ack) {
    if (!useless_) useless_ = last_;
    return give_back(ended.item);
  }
  switch (*ack) {
    case Ack::done: lease_->drop(recipe::claim_of(ended.item.path)); return add_done(std::move(ended.item));
    case Ack::dead_letter: return bury(ended.item, describe(ended));
    case Ack::retry: return delay(std::move(ended), Ack::retry);
    case Ack::release:
      if (!ended.interrupted) return delay(std::move(ended), Ack::release);
      ++left_;
      return give_back(ended.item);
  }
}

void Settlement::bury(const Item& item, const std::string& reason) {
  ++dead_;
  if (options_.halt) finish();
  host::remark(fmt::format("zklock: item {} of {} goes to the dead letters: {} (attempt {})\n",
                           recipe::id_of(item.path), options_.pull.path, reason, item.attempts));
  part_with(Ack::dead_letter, item, why_dead(reason, item.attempts));
}

void Settlement::delay(ItemCommand ended, Ack ack) {
  Item& item = ended.item;
  if (source_.session().options().verbose) {
    host::remark(fmt::format("zklock: item {} of {} was not done: {} (attempt {} of {})\n", recipe::id_of(item.path),
                             options_.pull.path, describe(ended), item.attempts, options_.most_attempts));
  }
  const Deadline due = deadline_in(retry_delay(options_.retry_delay, ack, item.attempts));
  // To go back, the item needs its path. It needs its bytes only if the attempt must not count.
  if (ack == Ack::retry) item.data = std::string();
  delayed_.emplace(due, Delayed{std::move(item), ack});
}

void Settlement::part_with(Ack ack, const Item& item, const std::string& why) {
  lease_->drop(recipe::claim_of(item.path));
  source_.acks().send(ack, item, why);
}

// Its path is enough to remove an item.
void Settlement::add_done(Item item) {
  item.data.clear();
  done_.push_back(std::move(item));
}

std::optional<Settlement::Delayed> Settlement::take_delayed(bool early) {
  if (delayed_.empty() || (!early && left_until(next_retry()) > Duration::zero())) return std::nullopt;
  return std::move(delayed_.extract(delayed_.begin()).mapped());
}

void Settlement::give_back_delayed(bool early) {
  while (const auto delayed = take_delayed(early)) {
    count(delayed->item);
    part_with(delayed->ack, delayed->item);
  }
}

// A consumer that takes more items may get this one again. So an item counts as failed if no more are taken, or if the
// number to take is reached before it comes again.
void Settlement::count(const Item& item) {
  if (finishing_) {
    ++left_;
  } else if (options_.pull.most) {
    returned_.insert(item.path);
  }
}

void Settlement::forget() {
  while (const auto delayed = take_delayed(true)) count(delayed->item);
  lease_->clear();
}

std::vector<Item> Settlement::take_uncounted() {
  std::vector<Item> uncounted;
  while (auto delayed = take_delayed(true)) {
    if (delayed->ack == Ack::release) uncounted.push_back(std::move(delayed->item));
  }
  return uncounted;
}

int Settlement::status() const {
  if (useless_ && useless_->exec_error != 0) throw host::cannot_execute(options_.program, useless_->exec_error);
  if (useless_) return status_of_command(useless_->wait_status);
  if (options_.pull.most == 1u && last_ && last_->exec_error == 0) return status_of_command(last_->wait_status);
  const size_t left = left_ + returned_.size();
  if (dead_ + left == 0) return 0;
  std::string failures = dead_ > 0 ? count_of(dead_) + " went to the dead letters" : "";
  if (left > 0) failures += fmt::format("{}{} failed, to be tried again", dead_ > 0 ? ", " : "", count_of(left));
  throw Failure(ExitStatus::items_failed, fmt::format("{}: {}", options_.pull.path, failures));
}

void Settlement::arm(host::PollSet& set) {
  if (next_retry() != told_) set.wake_at(next_retry());
}

// Each moment ends a turn only once, because it may not be possible to give the item back yet.
void Settlement::decide() {
  if (left_until(next_retry()) == Duration::zero()) told_ = next_retry();
}

}  // namespace zklock::command
