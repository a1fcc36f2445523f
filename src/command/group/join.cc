// SPDX-License-Identifier: Apache-2.0
// zklock group join: is a member of a group as long as its command runs, or without one until a signal. If the session
// expires meanwhile, it joins again, and the command is not touched.
#include "base/text.h"
#include "base/time.h"
#include "command/child/attended_command.h"
#include "command/child/nesting.h"
#include "command/child/note.h"
#include "command/cli/waiting.h"
#include "command/group/group.h"
#include "host/process/survivor.h"
#include "recipe/group/group.h"
#include "recipe/group/member.h"
#include "zk/path.h"
#include "zk/timing.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace zklock::command {

namespace {

using namespace std::chrono_literals;
using recipe::GroupMember;
using recipe::MemberState;

constexpr const char* kJoinFooter =
    "Examples:\n"
    "  zklock group join --name web1 --data 10.0.0.7:80 /groups/web -- httpd -X\n"
    "  zklock group join --unique -w 1m --data-file weight /groups/web\n\n"
    "Exit status: the command's; 64 usage, 65 path used for something else, 69 no\n"
    "server, 75 name taken, 76 member removed, 77 refused, 126/127 no such command.\n"
    "Manual: zklock-group(1)";

// Before the next attempt to join again, after a failure that may pass. It doubles each time.
constexpr Duration kFirstPause = 1s;
constexpr Duration kLongestPause = 1min;

struct JoinOptions {
  Value name;
  Value data;
  Value data_file;
  Value timeout;
  bool unique = false;
};

std::string too_much() {
  return fmt::format("cannot use the data: it is longer than the {} bytes that a member may have", zk::kLargestData);
}

// Reads the data file, "-": standard input. If that fails, returns the reason, and `data` stays as it was.
std::optional<std::string> read_data(const std::string& file, std::string& data) {
  errno = 0;
  std::ifstream stream(file == "-" ? "/dev/stdin" : file, std::ios::binary);
  std::string bytes(zk::kLargestData + 1, '\0');
  if (stream.is_open()) stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!stream.is_open() || stream.bad()) {
    return fmt::format("cannot read the data file '{}': {}", printable(file), std::strerror(errno));
  }
  bytes.resize(static_cast<size_t>(stream.gcount()));
  if (bytes.size() > zk::kLargestData) return too_much();
  data = std::move(bytes);
  return std::nullopt;
}

// Returns whether the data file can be read again. A pipe cannot, because it may block.
bool is_regular(const std::string& file) {
  std::error_code error;
  return std::filesystem::is_regular_file(file, error);
}

std::string data_of(const JoinOptions& options) {
  if (options.data && options.data_file) throw usage_error("give either --data or --data-file, not both");
  std::string data = options.data.value_or("");
  if (data.size() > zk::kLargestData) throw Failure(ExitStatus::bad_data, too_much());
  const auto trouble = options.data_file ? read_data(*options.data_file, data) : std::nullopt;
  if (trouble) throw Failure(*trouble == too_much() ? ExitStatus::bad_data : ExitStatus::usage, *trouble);
  return data;
}

// The job, as the command line describes it.
struct JoinPlan {
  recipe::Membership membership;
  Value data_file;
  Deadline until = kNever;  // for joining the first time, connecting included
  bool waits = false;       // for the name, if it is taken
  std::optional<host::Program> program = {};
  zk::SessionOptions session = {};  // read before signals are blocked, because credentials may be in a pipe
};

JoinPlan plan_of(const Call& call, const JoinOptions& options) {
  const std::string path = path_before_command(call, kGroupPath);
  const std::string name = options.name.value_or(host_name());
  if (const auto error = recipe::member_name_error(path, name)) {
    throw usage_error(options.name ? fmt::format("bad name '{}' for --name: {}", printable(name), *error)
                                   : fmt::format("cannot join as '{}', the name of this host: {}; give another with "
                                                 "--name",
                                                 printable(name), *error));
  }
  JoinPlan plan{{path, name, options.unique, data_of(options)}, options.data_file};
  const WaitSpan span(options.timeout);
  plan.until = span.until;
  plan.waits = options.timeout && span.waits;
  plan.program = program_of(call);
  plan.session = session_options(call.global);
  return plan;
}

// Takes the signals while there is no command. HUP has the data read again if they come from a file that can change;
// any other signal ends what zklock waits for.
class Stay : public host::Source {
 public:
  Stay(host::Signals& signals, const JoinPlan& plan)
      : signals_(signals), reloads_(!plan.program && plan.data_file && is_regular(*plan.data_file)) {}

  bool take_reload() { return std::exchange(reload_, false); }

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

class JoinJob {
 public:
  JoinJob(const Call& call, JoinPlan plan)
      : plan_(std::move(plan)),
        stay_(loop_.signals(), plan_),
        session_(loop_, std::move(plan_.session)),
        member_(session_, plan_.membership) {
    loop_.leave_signals();
    if (plan_.program) {
      guard_.emplace(host::Service::once, *plan_.program, call.inherited, session_.closer());
      guarding_.emplace(loop_, *guard_);
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
    if (guard_) start_command();
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
    while (member_.join() == MemberState::taken) {
      if (!waits) fail_taken();
      console_.detail(fmt::format("waiting until nobody else in {} is {}", group(), printable(plan_.membership.name)));
      if (!member_.wait_for_name()) fail_taken();
    }
    console_.detail(fmt::format("joined {} as {}", group(), name()));
  }

  // From here on signals go to the command.
  void start_command() {
    loop_.remove(stay_);
    std::vector<std::string> variables = connection_variables(session_.options());
    variables.insert(variables.end(), {"ZKLOCK_PATH=" + group(), "ZKLOCK_NODE=" + member_.path()});
    if (const auto outer = outer_variable(session_.options().servers.text())) variables.push_back(*outer);
    loop_.signals().take_job_control();
    command_.emplace(loop_.signals(), *guard_, console_,
                     CommandTerms{"its membership", zk::usual_grace_of(session_.timeout())});
    attending_.emplace(loop_, *command_);
    command_->start(variables);
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
        if (!command_ || command_->is_over()) throw;
        const bool may_pass = failure.status() == ExitStatus::unavailable || failure.status() == ExitStatus::internal;
        say(may_pass ? fmt::format("{}; joining again in {}", failure.text(), format_duration(pause)) : failure.text());
        member_.forget();
        session_.close();
        const Deadline until = may_pass ? deadline_in(pause) : kNever;
        while (left_until(until) > Duration::zero()) loop_.turn(until);
      }
    }
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
      check(member_.look());
    } else if (stay_.take_reload()) {
      reload();
    } else {
      session_.turn(kNever);
    }
  }

  // Throws a Failure if we are no member any more.
  void check(MemberState state) {
    if (state != MemberState::removed) return;
    const std::string removed = name();
    member_.forget();
    throw Failure(ExitStatus::lost, fmt::format("no member of {} any more: somebody has removed {}", group(), removed));
  }

  void reload() {
    const std::string& file = *plan_.data_file;
    std::error_code error;
    const bool replaced = std::filesystem::exists(file, error) && !is_regular(file);
    std::string data;
    const auto trouble =
        replaced ? fmt::format("the data file '{}' is no file any more", printable(file)) : read_data(file, data);
    if (trouble) return say(*trouble + "; the data stays as it is");
    check(member_.set_data(std::move(data)));
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
  host::SignalLoop loop_;
  Stay stay_;
  host::Attached staying_{loop_, stay_};
  zk::Session session_;
  Console console_{session_};
  GroupMember member_;
  std::optional<host::Survivor> survivor_;  // without a command, in the guard's place
  std::optional<host::Guard> guard_;
  std::optional<host::Attached> guarding_;
  std::optional<AttendedCommand> command_;  // once it was started
  std::optional<host::Attached> attending_;
};

}  // namespace

Execute add_group_join(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<JoinOptions>();
  add_value(app, "--name", options->name, "Member name (default: host); a number is added", "NAME");
  add_flag(app, "--unique", options->unique, "Exactly that name; exit 75 if it is taken");
  add_value(app, "-w,--timeout", options->timeout, "Wait at most DUR for it, connecting included", "DUR");
  add_value(app, "--data", options->data, "Text that others can read about this member", "TEXT");
  add_value(app, "--data-file", options->data_file, "Read that text from FILE, again on SIGHUP", kFile);
  finish(app, global, "Usage: zklock group join [OPTIONS] GROUP [-- COMMAND [ARG...]]", kJoinFooter);
  return [options](const Call& call) { return JoinJob(call, plan_of(call, *options)).run(); };
}

}  // namespace zklock::command
