// SPDX-License-Identifier: Apache-2.0
#include "command/group/join_job.h"

#include "base/text.h"
#include "base/time.h"
#include "command/child/attended_command.h"
#include "command/child/nesting.h"
#include "host/process/survivor.h"
#include "zk/path.h"
#include "zk/timing.h"

#include <algorithm>
#include <csignal>
#include <functional>
#include <utility>

#include <fmt/format.h>

namespace zklock::command {

namespace {

using namespace std::chrono_literals;
using recipe::GroupMember;
using recipe::MemberState;

// Before the next attempt to join again, after a failure that may pass. It doubles each time.
constexpr Duration kFirstPause = 1s;
constexpr Duration kLongestPause = 1min;

// Takes the signals while there is no command. HUP has the data read again if they come from a file that can change;
// any other signal ends what zklock waits for.
class Stay : public host::Source {
 public:
  Stay(host::Signals& signals, const JoinPlan& plan)
      : signals_(signals), reloads_(!plan.program && plan.data.can_change()) {}

  bool take_reload() { return std::exchange(reload_, false); }

  void arm(host::PollSet&) override {}
  void record(const host::PollSet&) override {}
  void decide() override {
    while (!ended_) {
      const auto arrival = signals_.take();
      if (!arrival) return;
      // A HUP from the terminal itself means that the terminal is gone, even if only we received it.
      const bool reload = arrival->signal == SIGHUP && reloads_ && !arrival->of_terminal;
      reload_ |= reload;
      ended_ = !reload;
      if (ended_) throw Failure::by_signal(arrival->signal);
    }
  }

 private:
  host::Signals& signals_;
  const bool reloads_;
  bool reload_ = false;
  bool ended_ = false;
};

// The command that runs while we are a member.
class MemberCommand {
 public:
  // Forks the guard.
  MemberCommand(host::Loop& loop, const host::Program& program, const host::Inherited& inherited,
                const std::function<void()>& closer)
      : guard_(host::Service::once, program, inherited, closer), guarding_(loop, guard_) {}

  // Starts it in `loop`. From here on signals go to it.
  void start(host::Loop& loop, host::Signals& signals, Console& console, Duration grace,
             const std::vector<std::string>& variables) {
    signals.take_job_control();
    command_.emplace(signals, guard_, console, CommandTerms{"its membership", grace});
    attending_.emplace(loop, *command_);
    command_->start(variables);
  }
  bool is_running() const { return command_ && !command_->is_over(); }
  bool is_over() const { return command_ && command_->is_over(); }
  // See AttendedCommand::status.
  int status(const std::string& group) const { return command_->status(group); }

 private:
  host::Guard guard_;
  host::Attached guarding_;
  std::optional<AttendedCommand> command_;
  std::optional<host::Attached> attending_;
};

class JoinJob {
 public:
  JoinJob(const Call& call, JoinPlan plan)
      : plan_(std::move(plan)),
        asked_(session_options(call.global)),
        stay_(signals_, plan_),
        session_(loop_, std::move(asked_)),
        member_(session_, plan_.membership) {
    if (plan_.program) {
      command_.emplace(loop_, *plan_.program, call.inherited, session_.closer());
    } else {
      survivor_.emplace(session_.closer());
    }
  }

  int run() {
    session_.set_purpose(tried());
    try {
      join();
      keep();
    } catch (...) {
      member_.leave(recipe::withdrawal_budget(session_));
      session_.close();
      if (!command_ || !command_->is_over()) throw;
    }
    return command_->status(group());
  }

 private:
  void join() {
    {
      const zk::Within within(session_, plan_.until);
      zk::in_sessions(session_, [this] { enter(plan_.waits); });
    }
    session_.set_enduring(true);
    if (command_) start_command();
  }

  // A member of a session that is over is forgotten before another one is opened: its name may be another client's.
  void enter(bool waits) {
    try {
      join_and_wait(waits);
    } catch (const zk::SessionOver&) {
      member_.forget();
      throw;
    }
  }

  void join_and_wait(bool waits) {
    for (;;) {
      switch (member_.join()) {
        case MemberState::in: return console_.detail(fmt::format("joined {} as {}", group(), name()));
        case MemberState::taken:
          if (!waits) fail_taken();
          console_.detail(
              fmt::format("waiting until nobody else in {} is {}", group(), printable(plan_.membership.name)));
          if (!member_.wait_for_name()) fail_taken();
          break;
        case MemberState::removed: check_member(); break;
      }
    }
  }

  void start_command() {
    loop_.remove(stay_);
    std::vector<std::string> variables = connection_variables(session_.options());
    variables.insert(variables.end(), {"ZKLOCK_PATH=" + group(), "ZKLOCK_NODE=" + member_.path()});
    if (const auto outer = outer_variable(session_.options().servers.text())) variables.push_back(*outer);
    command_->start(loop_, signals_, console_, zk::usual_grace_of(session_.timeout()), variables);
  }

  // Does not return: it ends by what is thrown. The command runs on, member or not.
  [[noreturn]] void keep() {
    for (Duration pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
      try {
        // Not at first, when we are in.
        if (member_.path().empty()) {
          zk::in_sessions(session_, [this] { enter(true); });
          pause = kFirstPause;
        }
        for (;;) keep_in_session();
      } catch (const Failure& failure) {
        if (!command_ || !command_->is_running()) throw;
        const bool may_pass = failure.status() == ExitStatus::unavailable || failure.status() == ExitStatus::internal;
        say(may_pass ? fmt::format("{}; joining again in {}", failure.text(), format_duration(pause)) : failure.text());
        member_.forget();
        session_.close();
        rest(may_pass ? deadline_in(pause) : kNever);
      }
    }
  }

  void rest(Deadline until) {
    while (left_until(until) > Duration::zero()) loop_.turn(until);
  }

  void keep_in_session() {
    try {
      for (;;) look_after();
    } catch (const zk::SessionOver&) {
      console_.detail(fmt::format("the session expired; joining {} again", group()));
      member_.forget();
      zk::in_sessions(session_, [this] { enter(true); });
    }
  }

  void look_after() {
    session_.check_alive();
    console_.report_connection();
    if (member_.is_disturbed()) {
      check_member();
    } else if (stay_.take_reload()) {
      reload();
    } else {
      session_.turn(kNever);
    }
  }

  void check_member() { check(member_.look()); }

  void check(MemberState state) {
    if (state != MemberState::removed) return;
    const std::string removed = name();
    member_.forget();
    throw Failure(ExitStatus::lost, fmt::format("no member of {} any more: somebody has removed {}", group(), removed));
  }

  void reload() {
    const auto trouble = plan_.data.read_again();
    if (trouble) return say(*trouble + "; the data stays as it is");
    check(member_.set_data(plan_.data.bytes()));
    console_.detail("the data was read again");
  }

  const std::string& group() const { return plan_.membership.group; }
  std::string tried() const { return "cannot join " + group(); }
  std::string name() const { return printable(zk::name_of(member_.path())); }

  [[noreturn]] void fail_taken() const {
    const zk::Stat& stat = member_.taken_by();
    throw Failure(
        ExitStatus::busy,
        fmt::format("{} as '{}': the name is taken, for {}, by session {}; choose another, or wait for it with -w",
                    tried(), printable(plan_.membership.name), format_duration(age_of(stat.created_ms)),
                    zk::session_name(stat.ephemeral_owner)));
  }

  JoinPlan plan_;
  zk::SessionOptions asked_;  // read before signals are blocked, because credentials may be in a pipe
  host::Loop loop_;
  host::Signals signals_;
  Stay stay_;
  host::Attached receiving_{loop_, signals_};
  host::Attached staying_{loop_, stay_};
  zk::Session session_;
  Console console_{session_};
  GroupMember member_;
  std::optional<host::Survivor> survivor_;  // without a command, in the guard's place
  std::optional<MemberCommand> command_;
};

}  // namespace

int join_group(const Call& call, JoinPlan plan) {
  return JoinJob(call, std::move(plan)).run();
}

}  // namespace zklock::command
