// SPDX-License-Identifier: Apache-2.0
#include "command/child/attended_command.h"
#include "command/child/nesting.h"
#include "command/lock/locks.h"
#include "host/notify.h"
#include "host/trace.h"
#include "recipe/lock/last_success.h"
#include "recipe/lock/lock_set.h"
#include "recipe/lock/slots.h"
#include "zk/timing.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>

#include <fmt/format.h>

namespace zklock::command {

namespace {

using namespace std::chrono_literals;
using recipe::Held;
using recipe::LockSet;
using recipe::Outcome;

constexpr size_t kLongestName = 80;        // more than "/leases/_c_<uuid>-lease-NNNNNNNNNN" has
constexpr Duration kUsuallyGranted = 40s;  // the servers' maxSessionTimeout by default
constexpr Duration kLookAgain = 1s;        // with -n, while a node of an earlier attempt may be in the way

class Job {
 public:
  // Forks the guard, so there must be no ZooKeeper handle yet. `course` records how far the job comes.
  Job(host::Program program, const host::Inherited& inherited, zk::SessionOptions session, JobOptions options,
      Course& course)
      : options_(std::move(options)),
        names_(fmt::format("{}{}", options_.any ? "any of " : "", fmt::join(options_.paths, ", "))),
        course_(course),
        session_(loop_, std::move(session)),
        guard_(host::Service::once, std::move(program), inherited, session_.closer()),
        nesting_(options_.paths, session_.options().servers.chroot, options_.slots) {}

  int run() {
    host::check_variables(variables(longest_held()));
    WaitReport report(console_, names_, options_.any);
    session_.set_purpose("cannot take " + names_);
    session_.open(options_.wait.until);
    course_.connected = true;
    check_grace();
    LockSet locks(
        loop_, session_, [&] { return make_locks(report); }, report);
    const Outcome outcome = acquire(locks, report);
    if (options_.any && outcome == Outcome::held) names_ = locks.held().front().path;
    report.end(names_, outcome == Outcome::held);
    if (outcome == Outcome::held) return run_under(locks);
    session_.close();
    throw Failure(ExitStatus::busy,
                  outcome == Outcome::busy
                      ? describe_busy(locks.holder())
                      : fmt::format("cannot take {}: our place in line was removed", locks.holder().path));
  }

 private:
  // -n does not mean the node of an earlier attempt of ours. It lives for at most T after a leader knows of it again.
  // Each look has a session of its own, with which whatever could not be withdrawn goes.
  Outcome acquire(LockSet& locks, WaitReport& report) {
    Outcome outcome = locks.acquire(options_.wait);
    if (!options_.again || options_.wait.in_line) return outcome;
    const Deadline gone = deadline_in(2 * session_.timeout());
    while (outcome == Outcome::busy && left_until(gone) > Duration::zero()) {
      report.on_holder(locks.holder());
      session_.close();
      const Deadline next = std::min(options_.wait.until, deadline_in(kLookAgain));
      while (left_until(next) > Duration::zero()) loop_.turn(next);
      if (left_until(options_.wait.until) == Duration::zero()) break;
      session_.open(options_.wait.until);
      outcome = locks.acquire(options_.wait);
    }
    return outcome;
  }

  std::string describe_busy(const recipe::Holder& holder) const {
    const std::string how = describe_holder(holder);
    if (holder.among == 1) return fmt::format("cannot take {}: {}", holder.path, how);
    return fmt::format("cannot take {}: all are busy; {}: {}", names_, holder.path, how);
  }

  // With --any, a lock that an outer zklock holds is taken whatever else is free, because it is ours already.
  LockSet::Locks make_locks(recipe::WaitObserver& observer) {
    options_.note.slots = options_.slots;
    const std::string data = to_json(options_.note);
    const auto slots_in = [](const std::string& text) { return parse_note(text).value_or(Note()).slots; };
    LockSet::Locks locks;
    recipe::AnyLock::Locks lines;
    std::vector<Held> outers;
    for (const std::string& path : options_.paths) {
      if (const auto outer = nesting_.find_outer(session_, path, options_.type, options_.slots)) {
        outers.push_back(*outer);
        locks.push_back(std::make_unique<recipe::OuterLock>(session_, *outer));
        if (options_.any) break;
      } else if (options_.slots > 0) {
        locks.push_back(std::make_unique<recipe::Slots>(session_, path, options_.slots, slots_in, data, observer));
      } else {
        auto lock = std::make_unique<recipe::Lock>(session_, path, options_.type, data, observer);
        if (options_.once_per) lock->set_besides({recipe::read_of_success(path)});
        options_.any ? lines.push_back(std::move(lock)) : locks.push_back(std::move(lock));
      }
    }
    nesting_.settle(outers);
    if (options_.any && !outers.empty()) return locks;
    warn_of_unseen();
    if (options_.any) locks.push_back(std::make_unique<recipe::AnyLock>(session_, std::move(lines), observer));
    return locks;
  }

  // Waiting for such a zklock may never end, because it may wait for us.
  void warn_of_unseen() const {
    if (nesting_.unseen().empty() || !options_.wait.in_line) return;
    say(
        fmt::format("{} is held by {}, which by ZKLOCK_NODE runs us, but is not seen from here: if it waits for us, so "
                    "do we for it",
                    names_, nesting_.unseen()));
  }

  int run_under(LockSet& locks) {
    const std::vector<Held>& held = locks.held();
    note_grant(held);
    options_.note.token = held.front().token;
    recipe::LastSuccess last(session_, held, to_json(options_.note),
                             [](const std::string& data) { return parse_note(data).has_value(); });
    // From the grant on, every wait has this lease in the loop.
    recipe::Lease lease(session_, held, grace());
    std::optional<host::Attached> holding(std::in_place, loop_, lease);
    if (options_.once_per) check_last_success(last, lease.fence(), locks);
    host::notify_status("active since " + utc_now());
    // From here on signals go to the command.
    loop_.leave_signals();
    loop_.signals().take_job_control();
    AttendedCommand command(loop_.signals(), guard_, console_, terms(lease, held));
    command.attend(loop_, variables(held));
    course_.over |= command.ending_wanted();
    holding.reset();
    const std::optional<Failure> loss = command.lost() ? std::optional(command.loss(names_)) : std::nullopt;
    if (options_.once_per && !loss && guard_.executed() && guard_.wait_status() == 0) {
      course_.over = true;
      record_success(last, locks);
    }
    give_back(locks, command.unproved());
    if (loss) throw *loss;
    guard_.check_execution();
    const std::string deleted = locks.deleted();
    if (!deleted.empty() && lease.proved() < command.ended()) {
      throw Failure(ExitStatus::lost,
                    fmt::format("lost {}: its node was deleted, maybe before the command had ended", deleted));
    }
    course_.wait_status = guard_.wait_status();
    return status_of_command(guard_.wait_status());
  }

  void note_grant(const std::vector<Held>& held) {
    course_.granted = BootClock::now();
    for (const Held& one : held) {
      course_.paths.push_back(one.path);
      course_.tokens.push_back(one.token);
      host::trace("granted", {{"node", one.node}, {"lock", one.path}, {"sent", one.sent}, {"proved", one.proved}});
    }
  }

  CommandTerms terms(recipe::Lease& lease, const std::vector<Held>& held) const {
    CommandTerms terms{"its lock", grace(), &lease};
    for (const Held& one : held) terms.tokens.push_back(one.token);
    terms.nested = nesting_.tokens();
    terms.wait_all = options_.wait_all;
    terms.hold_until = deadline_in(options_.min_hold);
    return terms;
  }

  std::vector<std::string> variables(const std::vector<Held>& held) const {
    std::vector<std::string> paths, nodes, tokens;
    for (const Held& one : held) {
      paths.push_back(one.path);
      nodes.push_back(one.node);
      tokens.push_back(fmt::format("{}", one.token));
    }
    std::vector<std::string> variables{fmt::format("ZKLOCK_PATH={}", fmt::join(paths, "\n")),
                                       fmt::format("ZKLOCK_NODE={}", fmt::join(nodes, "\n")),
                                       fmt::format("ZKLOCK_TOKEN={}", fmt::join(tokens, "\n"))};
    std::ranges::move(connection_variables(session_.options()), std::back_inserter(variables));
    if (const auto outer = nesting_.variable(held, session_.options().servers.text())) variables.push_back(*outer);
    return variables;
  }

  // Returns values as long as any that may be held, for a check of their size before anything is held.
  std::vector<Held> longest_held() const {
    std::vector<Held> all;
    for (const std::string& path : options_.paths) {
      all.push_back({path, path + std::string(kLongestName, 'x'), 0, std::numeric_limits<int64_t>::max()});
    }
    if (!options_.any) return all;
    return {*std::ranges::max_element(all, {}, [](const Held& one) { return one.path.size(); })};
  }

  // The answer must come before the fence, because after it another client may hold the lock.
  std::optional<Duration> age_of(recipe::LastSuccess& last, Deadline fence) {
    session_.set_purpose("cannot take " + names_);
    try {
      const zk::Within within(session_, std::min(options_.wait.until, fence));
      return last.age();
    } catch (const Failure& failure) {
      if (failure.status() != ExitStatus::busy || left_until(fence) > Duration::zero()) throw;
      throw Failure(ExitStatus::lost, fmt::format("lost {}: the record of the last success could not be read in "
                                                  "time; the command was not started",
                                                  names_));
    }
  }

  void check_last_success(recipe::LastSuccess& last, Deadline fence, LockSet& locks) {
    const auto age = age_of(last, fence);
    if (last.ahead() > Duration::zero()) {
      console_.detail(
          fmt::format("a success under {} is recorded {} in the future, by a server's clock that was ahead; "
                      "it does not count",
                      names_, format_duration(last.ahead())));
    }
    if (!age || *age >= *options_.once_per) return;
    course_.skipped = true;
    host::trace("skipped", {{"lock", locks.held().front().path}});
    locks.release(session_.timeout());
    session_.close();
    throw Failure(ExitStatus::busy, fmt::format("skipped: a run under {} succeeded {} ago (--once-per {})", names_,
                                                format_duration(*age), format_duration(*options_.once_per)));
  }

  void record_success(recipe::LastSuccess& last, LockSet& locks) {
    bool recorded = last.record(zk::beat_of(session_.timeout()));
    if (!recorded) {
      const bool finished = finish_unless_ended(
          [&] { recorded = last.record(session_.timeout()); },
          "while the command's success was recorded, so it may run again before --once-per is over");
      // Whether the success was recorded is certain only once the session, and with it the lock, is over.
      if (!finished) return locks.forget();
    }
    if (recorded) return locks.forget();
    throw Failure(ExitStatus::lost,
                  fmt::format("lost {} when the command had succeeded: that could not be recorded, so it may run again "
                              "before --once-per {} is over",
                              names_, format_duration(*options_.once_per)));
  }

  // Calls `finish` for what takes long at the end, after a first try that no signal disturbs. Signals that have come
  // until now are dropped. Returns false if a person's signal then ends the wait; the lock is left to the session's
  // end. The status stays the command's.
  bool finish_unless_ended(const std::function<void()>& finish, const std::string& otherwise) {
    drop_signals();
    host::EndOnSignal by_people(loop_.signals(), host::is_ending);
    const host::Attached ending(loop_, by_people);
    try {
      finish();
    } catch (const Failure& failure) {
      if (failure.signal() == 0) throw;
      course_.over = true;
      say(fmt::format("got SIG{} {}; {} is left to the end of the session", sigabbrev_np(failure.signal()), otherwise,
                      names_));
      return false;
    }
    return true;
  }

  void drop_signals() {
    while (const auto arrival = loop_.signals().take()) course_.over |= host::is_ending(arrival->signal);
  }

  void give_back(LockSet& locks, bool unproved) {
    // If no quorum was reached in time and there is no connection, our node is left to the session's end without
    // waiting.
    const bool reachable = !unproved || session_.connected();
    if (reachable && !locks.release(zk::beat_of(session_.timeout()))) {
      finish_unless_ended([&] { locks.release(session_.timeout()); }, "while the lock was given back");
    }
    course_.released = BootClock::now();
    host::trace("released");
    // Not earlier, because until now the guard would give the lock back if we were killed.
    guard_.dismiss();
    session_.close();
    drop_signals();
  }

  Duration longest_grace() const { return session_.timeout() / kGraceParts; }
  Duration grace() const {
    return std::min(longest_grace(), options_.grace.value_or(zk::usual_grace_of(session_.timeout())));
  }

  void check_grace() const {
    const Duration most = longest_grace();
    if (!options_.grace || *options_.grace <= most) return;
    const std::string text = fmt::format("--grace {} is more than an eighth of the session timeout, {}",
                                         format_duration(*options_.grace), format_duration(session_.timeout()));
    if (session_.timeout() < session_.options().session_timeout) {
      throw Failure(ExitStatus::usage,
                    fmt::format("{}, the longest that the servers grant: write at most {}ms", text, most / 1ms));
    }
    const auto needed = std::chrono::ceil<std::chrono::seconds>(*options_.grace * kGraceParts);
    const char* limited = needed > kUsuallyGranted ? ", which the servers' maxSessionTimeout has to allow" : "";
    throw Failure(ExitStatus::usage, fmt::format("{}: ask for --session-timeout {}s{}", text, needed.count(), limited));
  }

  JobOptions options_;
  std::string names_;  // of the locks
  Course& course_;
  host::SignalLoop loop_;
  zk::Session session_;  // outlives the guard, so whatever is thrown, the command is dead before the lock is free
  Console console_{session_};
  host::Guard guard_;
  host::Attached guarding_{loop_, guard_};
  Nesting nesting_;
};

}  // namespace

int run_job(host::Program program, const host::Inherited& inherited, zk::SessionOptions session, JobOptions options,
            Course& course) {
  return Job(std::move(program), inherited, std::move(session), std::move(options), course).run();
}

}  // namespace zklock::command
