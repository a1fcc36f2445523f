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

// What the end of a command says about the item that it was run for.
enum class Verdict {
  done,     // 0
  failed,   // to be tried again
  dead,     // 65, or the last attempt
  later,    // 75: not the item's fault; to be tried again, and not counted
  left,     // interrupted: given back, and not counted
  useless,  // 126, 127: no item can be worked on by this command
};

Verdict verdict_on(const EndedCommand& ended, int64_t most_attempts) {
  if (ended.exec_error == E2BIG && ended.item_in_arguments) return Verdict::dead;
  if (ended.exec_error != 0) return Verdict::useless;
  if (ended.is_done()) return Verdict::done;
  if (ended.interrupted) return Verdict::left;
  const int status = WIFEXITED(ended.wait_status) ? WEXITSTATUS(ended.wait_status) : -1;
  if (status == static_cast<int>(ExitStatus::bad_data)) return Verdict::dead;
  if (status == static_cast<int>(ExitStatus::busy)) return Verdict::later;
  if (status == static_cast<int>(ExitStatus::not_executable) || status == static_cast<int>(ExitStatus::not_found)) {
    return Verdict::useless;
  }
  return ended.item.attempts < most_attempts ? Verdict::failed : Verdict::dead;
}

// Returns "exit status 3", "killed by SIGKILL" or "could not be executed: Argument list too long".
std::string describe(const EndedCommand& ended) {
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

void Settlement::settle(EndedCommand ended) {
  const Verdict verdict = verdict_on(ended, options_.most_attempts);
  returned_.erase(ended.item.path);
  last_ = {{}, ended.wait_status, ended.exec_error};
  if (verdict == Verdict::useless || (verdict != Verdict::done && options_.halt)) finish();
  switch (verdict) {
    case Verdict::done: lease_->drop(recipe::claim_of(ended.item.path)); return add_done(std::move(ended.item));
    case Verdict::dead: return bury(ended.item, describe(ended));
    case Verdict::failed: return delay(std::move(ended), Ack::retry);
    case Verdict::later: return delay(std::move(ended), Ack::release);
    case Verdict::left: ++left_; return give_back(ended.item);
    case Verdict::useless:
      if (!useless_) useless_ = last_;
      return give_back(ended.item);
  }
}

void Settlement::bury(const Item& item, const std::string& reason) {
  ++dead_;
  if (options_.halt) finish();
  host::remark(fmt::format("zklock: item {} of {} goes to the dead letters: {} (attempt {})\n", zk::name_of(item.path),
                           options_.pull.path, reason, item.attempts));
  part_with(Ack::dead_letter, item, why_dead(reason, item.attempts));
}

void Settlement::delay(EndedCommand ended, Ack ack) {
  Item& item = ended.item;
  if (source_.session().options().verbose) {
    host::remark(fmt::format("zklock: item {} of {} was not done: {} (attempt {} of {})\n", zk::name_of(item.path),
                             options_.pull.path, describe(ended), item.attempts, options_.most_attempts));
  }
  const Deadline due = deadline_in(retry_delay(options_.retry_delay, ack, item.attempts));
  // To go back, the item needs its path. It needs its bytes only if the attempt must not count.
  if (ack == Ack::retry) item.data = std::string();
  delayed_.push_back({std::move(item), ack, due});
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

void Settlement::remove_done() {
  source_.acks().remove(std::exchange(done_, {}));
}

Deadline Settlement::next_retry() const {
  Deadline next = kNever;
  for (const Delayed& delayed : delayed_) next = std::min(next, delayed.due);
  return next;
}

std::optional<Settlement::Delayed> Settlement::take_delayed(bool early) {
  const auto is_sooner = [](const Delayed& a, const Delayed& b) { return a.due < b.due; };
  const auto first = std::min_element(delayed_.begin(), delayed_.end(), is_sooner);
  if (first == delayed_.end() || (!early && left_until(first->due) > Duration::zero())) return std::nullopt;
  Delayed delayed = std::move(*first);
  delayed_.erase(first);
  return delayed;
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
