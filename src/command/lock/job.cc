// SPDX-License-Identifier: Apache-2.0
#include "command/lock/job.h"

#include "command/child/command_status.h"
#include "command/child/guard_trouble.h"
#include "command/lock/waiting.h"
#include "host/terminal.h"
#include "recipe/lock/lease.h"
#include "recipe/lock/lock_set.h"
#include "recipe/lock/slots.h"
#include "zk/timing.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <sys/wait.h>
#include <utility>

#include <fmt/format.h>

namespace zklock::command {

namespace {

using End = Attendance::End;
using recipe::Held;
using recipe::Outcome;

constexpr Duration kUsuallyGranted = std::chrono::seconds(40);  // servers' maxSessionTimeout, unless they are told

bool succeeded(int wait_status) {
  return WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0;
}

std::string a_line_each(const std::vector<Held>& held, const std::function<std::string(const Held&)>& text) {
  std::string lines;
  for (const Held& one : held) {
    if (!lines.empty()) lines += '\n';
    lines += text(one);
  }
  return lines;
}

}  // namespace

Job::Job(host::Program program, const host::Inherited& inherited, zk::SessionOptions session, JobOptions options,
         Course& course)
    : options_(std::move(options)),
      course_(course),
      session_(loop_, std::move(session)),
      guard_(host::Service::once, std::move(program), inherited),
      nesting_(options_.paths, options_.slots) {}

int Job::run() {
  Waiting waiting(names(), session_.options().verbose);
  session_.set_purpose("cannot take " + names());
  session_.open(options_.patience.until);
  course_.connected = true;
  check_grace();
  recipe::LockSet locks(
      loop_, session_, [&] { return make_locks(waiting); }, waiting);
  const Outcome outcome = locks.acquire(options_.patience);
  waiting.end(outcome == Outcome::held);
  if (outcome == Outcome::held) return run_under(locks);
  session_.close();
  const std::string& path = locks.holder().path;
  throw Failure(ExitStatus::busy, outcome == Outcome::busy
                                      ? fmt::format("cannot take {}: {}", path, describe_holder(locks.holder()))
                                      : fmt::format("cannot take {}: our place in line was removed", path));
}

recipe::LockSet::Locks Job::make_locks(recipe::WaitObserver& observer) {
  recipe::LockSet::Locks locks;
  std::vector<Held> outers;
  options_.note.slots = options_.slots;
  const std::string data = to_json(options_.note);
  const auto slots_in = [](const std::string& text) { return parse_note(text).value_or(Note()).slots; };
  for (const std::string& path : options_.paths) {
    const auto outer = nesting_.find_outer(session_, path, options_.type, options_.slots, options_.patience.until);
    if (outer) {
      outers.push_back(*outer);
      locks.push_back(std::make_unique<recipe::OuterLock>(session_, *outer));
    } else if (options_.slots > 0) {
      locks.push_back(std::make_unique<recipe::Slots>(session_, path, options_.slots, slots_in, data, observer));
    } else {
      locks.push_back(std::make_unique<recipe::Lock>(session_, path, options_.type, data, observer));
    }
  }
  nesting_.settle(outers);
  return locks;
}

int Job::run_under(recipe::LockSet& locks) {
  const std::vector<Held>& held = locks.held();
  options_.note.token = held.front().token;
  recipe::LastSuccess last(session_, held, to_json(options_.note));
  // From the grant on nothing waits without it.
  recipe::Lease lease(session_, held, grace());
  std::optional<host::Attached> holding(std::in_place, loop_, lease);
  if (options_.once_per) check_last_success(last, lease.fence(), locks);
  const End end = attend(lease, held);
  holding.reset();
  const Duration unproved = BootClock::now() - lease.proved();
  const bool success = end == End::own && guard_.executed() && succeeded(guard_.wait_status());
  if (options_.once_per && success) {
    course_.over = true;
    record_success(last, locks);
  }
  guard_.dismiss();
  give_back(locks, end);
  drop_signals();
  if (end != End::own) throw lost(end, lease.lost(), unproved);
  guard_.check_execution();
  // Deleted while the command ran, for all we know.
  if (!locks.deleted().empty() && lease.proved() < ended_) throw lost(End::found_deleted, locks.deleted(), unproved);
  return status_of_command(guard_.wait_status());
}

End Job::attend(recipe::Lease& lease, const std::vector<Held>& held) {
  // From here on signals are the command's.
  loop_.remove(end_on_signal_);
  signals_.take_job_control();
  std::vector<int64_t> tokens;
  for (const Held& one : held) tokens.push_back(one.token);
  const Terms terms{grace(), options_.wait_all, session_.options().verbose, deadline_in(options_.min_hold)};
  Attendance attendance(loop_, signals_, guard_, session_, lease, tokens, terms);
  const End end = attendance.attend(variables(held));
  course_.over |= attendance.ending_wanted();
  ended_ = attendance.ended();
  return end;
}

std::vector<std::string> Job::variables(const std::vector<Held>& held) const {
  std::vector<std::string> variables{
      "ZKLOCK_PATH=" + a_line_each(held, [](const Held& one) { return one.path; }),
      "ZKLOCK_NODE=" + a_line_each(held, [](const Held& one) { return one.node; }),
      "ZKLOCK_TOKEN=" + a_line_each(held, [](const Held& one) { return fmt::format("{}", one.token); }),
      "ZKLOCK_SERVERS=" + session_.options().servers.text()};
  if (const auto outer = nesting_.variable(held)) variables.push_back(*outer);
  return variables;
}

// By the fence the lock may be somebody else's.
void Job::check_last_success(recipe::LastSuccess& last, Deadline fence, recipe::LockSet& locks) {
  const auto age = last.age(std::min(options_.patience.until, fence));
  if (session_.expired()) {
    throw zk::expired(fmt::format("cannot take {}", names()));
  }
  if (last.ahead() > Duration::zero() && session_.options().verbose) {
    host::remark(
        fmt::format("zklock: a success under {} is recorded {} in the future, by a server's clock that was "
                    "ahead; it does not count\n",
                    names(), format_duration(last.ahead())));
  }
  if (!age || *age >= *options_.once_per) return;
  locks.release(session_.timeout());
  session_.close();
  throw Failure(ExitStatus::busy, fmt::format("skipped: a run under {} succeeded {} ago (--once-per {})", names(),
                                              format_duration(*age), format_duration(*options_.once_per)));
}

void Job::record_success(recipe::LastSuccess& last, recipe::LockSet& locks) {
  bool recorded = last.record(zk::beat_of(session_.timeout()));
  if (!recorded) {
    const bool finished =
        finish_unless_ended([&] { recorded = last.record(session_.timeout()); },
                            "while the command's success was recorded, so it may run again before --once-per is over");
    // Whether it was recorded shows when the session, and with it the lock, is over.
    if (!finished) return locks.forget();
  }
  if (recorded) return locks.forget();
  throw Failure(ExitStatus::lost,
                fmt::format("lost {} when the command had succeeded: that could not be recorded, so it may run again "
                            "before --once-per {} is over",
                            names(), format_duration(*options_.once_per)));
}

// For what takes long at the end. The first try is not disturbed by what came with the command's end. False where
// somebody did not want to wait for it: then the lock is left to the session's end. The status stays the command's.
bool Job::finish_unless_ended(const std::function<void()>& finish, const std::string& otherwise) {
  drop_signals();
  host::EndOnSignal by_people(signals_, host::EndedBy::people);
  const host::Attached ending(loop_, by_people);
  try {
    finish();
  } catch (const Failure& failure) {
    if (failure.signal() == 0) throw;
    course_.over = true;
    host::remark(fmt::format("zklock: got SIG{} {}; {} is left to the end of the session\n",
                             sigabbrev_np(failure.signal()), otherwise, names()));
    return false;
  }
  return true;
}

void Job::drop_signals() {
  while (const auto arrival = signals_.take()) course_.over |= host::is_ending(arrival->signal);
}

void Job::give_back(recipe::LockSet& locks, End end) {
  // Where no quorum was to be reached in time, our node is left to the session's end rather than waited for.
  const bool reachable = end != End::unproved || session_.connected();
  if (reachable && !locks.release(zk::beat_of(session_.timeout()))) {
    finish_unless_ended([&] { locks.release(session_.timeout()); }, "while the lock was given back");
  }
  session_.close();
}

Duration Job::grace() const {
  const Duration most = session_.timeout() / kGraceParts;
  return std::min(most, options_.grace.value_or(zk::usual_grace_of(session_.timeout())));
}

void Job::check_grace() const {
  const Duration most = session_.timeout() / kGraceParts;
  if (!options_.grace || *options_.grace <= most) return;
  const std::string text = fmt::format("--grace {} is more than an eighth of the session timeout, {}",
                                       format_duration(*options_.grace), format_duration(session_.timeout()));
  if (session_.timeout() < session_.options().session_timeout) {
    throw Failure(ExitStatus::usage, fmt::format("{}, the longest that the servers grant: write at most {}ms", text,
                                                 most / std::chrono::milliseconds(1)));
  }
  const auto needed = std::chrono::ceil<std::chrono::seconds>(*options_.grace * kGraceParts);
  const char* limited = needed > kUsuallyGranted ? ", which the servers' maxSessionTimeout has to allow" : "";
  throw Failure(ExitStatus::usage, fmt::format("{}: ask for --session-timeout {}s{}", text, needed.count(), limited));
}

std::string Job::names() const {
  std::string names;
  for (const std::string& path : options_.paths) names += (names.empty() ? "" : ", ") + path;
  return names;
}

Failure Job::lost(End end, const std::string& which, Duration unproved) const {
  std::string reason;
  switch (end) {
    case End::own:
      break;
    case End::node_deleted:
      reason = "its node was deleted";
      break;
    case End::revoked:
      reason = "somebody asked for it (zklock break)";
      break;
    case End::expired:
      reason = "the session expired";
      break;
    case End::unproved:
      reason = fmt::format("no quorum confirmed the lock for {}", format_duration(unproved));
      break;
    case End::guard_killed:
      reason = "the guard was killed";
      break;
    case End::found_deleted:
      return {ExitStatus::lost,
              fmt::format("lost {}: its node was deleted, maybe before the command had ended", which)};
  }
  return {ExitStatus::lost, fmt::format("lost {}: {}; {}", which.empty() ? names() : which, reason,
                                        end_of("the command", guard_.overrun()))};
}

}  // namespace zklock::command
