// SPDX-License-Identifier: Apache-2.0
#include "command/job.h"

#include "command/note.h"
#include "command/waiting.h"
#include "recipe/lease.h"
#include "zk/timing.h"

#include <algorithm>
#include <sys/wait.h>

#include <fmt/format.h>

namespace zklock::command {

namespace {

using End = Attendance::End;
using Outcome = recipe::Lock::Outcome;

constexpr int kUsualGrace = 10;   // T / kUsualGrace
constexpr int kLargestGrace = 8;  // T / kLargestGrace: more leaves no time to find a third server before SIGTERM

int status_of(int wait_status) {
  if (WIFEXITED(wait_status)) return WEXITSTATUS(wait_status);
  const int signal = WTERMSIG(wait_status);
  if (host::is_ending(signal)) throw Failure::by_signal(signal);
  return 128 + signal;
}

}  // namespace

Job::Job(host::Program program, const host::Inherited& inherited, zk::SessionOptions session, JobOptions options)
    : options_(std::move(options)), session_(loop_, std::move(session)), guard_(std::move(program), inherited) {}

int Job::run() {
  Waiting waiting(options_.path, session_.options().verbose);
  session_.open(options_.patience.until);
  check_grace();
  recipe::Lock lock(session_, options_.path, options_.type, options_.note, waiting);
  const Outcome outcome = lock.acquire(options_.patience.in_line, options_.patience.until);
  waiting.end(outcome == Outcome::held);
  switch (outcome) {
    case Outcome::held:
      return run_under(lock);
    case Outcome::busy:
      session_.close();
      throw Failure(ExitStatus::busy, fmt::format("cannot take {}: {}", options_.path, describe_holder(lock.holder())));
    case Outcome::removed:
      session_.close();
      throw Failure(ExitStatus::busy, fmt::format("cannot take {}: our place in line was removed", options_.path));
  }
  return 0;
}

int Job::run_under(recipe::Lock& lock) {
  // From here on signals are the command's.
  loop_.remove(end_on_signal_);
  signals_.take_job_control();
  recipe::Lease lease(session_, lock.node(), lock.proved(), grace());
  End end = End::own;
  {
    const host::Attached holding(loop_, lease);
    const Terms terms{grace(), options_.wait_all, session_.options().verbose};
    Attendance attendance(loop_, signals_, guard_, session_, lease, terms);
    end = attendance.attend({"ZKLOCK_PATH=" + options_.path, "ZKLOCK_NODE=" + lock.node(),
                             fmt::format("ZKLOCK_TOKEN={}", lock.token()),
                             "ZKLOCK_SERVERS=" + session_.options().servers.text()});
  }
  const Duration unproved = BootClock::now() - lease.proved();
  give_back(lock, end);
  if (end != End::own) throw lost(end, unproved);
  guard_.check_execution();
  return status_of(guard_.wait_status());
}

void Job::give_back(recipe::Lock& lock, End end) {
  // Where no quorum was to be reached in time, our node is left to the session's end rather than waited for.
  const bool reachable = end != End::unproved || session_.connected();
  if (reachable && !lock.release(zk::beat_of(session_.timeout()))) {
    // It takes long, so a signal may end it. The first try is not disturbed by what came with the command's end.
    while (signals_.take()) {
    }
    const host::Attached ending(loop_, end_on_signal_);
    lock.release(session_.timeout());
  }
  session_.close();
}

Duration Job::grace() const {
  const Duration most = session_.timeout() / kLargestGrace;
  return std::min(most, options_.grace.value_or(session_.timeout() / kUsualGrace));
}

void Job::check_grace() const {
  if (!options_.grace || *options_.grace <= session_.timeout() / kLargestGrace) return;
  throw Failure(
      ExitStatus::usage,
      fmt::format("--grace {} is more than an eighth of the session timeout, {}: ask for --session-timeout {}",
                  format_duration(*options_.grace), format_duration(session_.timeout()),
                  format_duration(*options_.grace * kLargestGrace)));
}

Failure Job::lost(End end, Duration unproved) const {
  std::string reason;
  switch (end) {
    case End::own:
      break;
    case End::node_deleted:
      reason = "its node was deleted";
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
  }
  return {ExitStatus::lost, fmt::format("lost {}: {}; the command was stopped", options_.path, reason)};
}

}  // namespace zklock::command
