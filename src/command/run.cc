// SPDX-License-Identifier: Apache-2.0
#include "command/run.h"

#include "base/text.h"
#include "command/attendance.h"
#include "command/note.h"
#include "command/waiting.h"
#include "host/guard.h"
#include "host/signals.h"
#include "recipe/lease.h"
#include "recipe/lock.h"
#include "zk/path.h"

#include <sys/wait.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace zklock::command {

namespace {

constexpr int kGracePart = 10;  // the command gets T / kGracePart between TERM and KILL

constexpr const char* kFooter =
    "Exit status: the command's; 64 usage, 65 path used for something else,\n"
    "69 no server, 75 busy, 76 lock lost, 77 refused, 126/127 no such command.\n\n"
    "Examples:\n"
    "  zklock run /locks/nightly -- backup --all\n"
    "  zklock run -nqE0 /locks/minutely -- job      # crontab: skip silently if busy\n\n"
    "Manual: zklock(1)";

// Everything that takes part, in the order in which it must come to life: the guard is forked before there is a
// ZooKeeper handle.
class Job {
 public:
  Job(host::Program program, const host::Inherited& inherited, zk::SessionOptions options)
      : ending_(loop_, end_on_signal_),
        guard_(std::move(program), inherited),
        guarding_(loop_, guard_),
        session_(loop_, std::move(options)) {}

  int run(const std::string& path, const std::string& note, Patience patience) {
    Waiting waiting(path, session_.options().verbose);
    session_.open(patience.until);
    recipe::Lock lock(session_, path, note, waiting);
    const auto outcome = lock.acquire(patience.in_line, patience.until);
    waiting.end(outcome == recipe::Lock::Outcome::held);
    if (outcome != recipe::Lock::Outcome::held) session_.close();
    switch (outcome) {
      case recipe::Lock::Outcome::busy:
        throw Failure(ExitStatus::busy, fmt::format("cannot take {}: {}", path, describe_holder(lock.holder())));
      case recipe::Lock::Outcome::removed:
        throw Failure(ExitStatus::busy, fmt::format("cannot take {}: our place in line was removed", path));
      case recipe::Lock::Outcome::held:
        break;
    }
    return run_under(lock, path);
  }

 private:
  int run_under(recipe::Lock& lock, const std::string& path) {
    // From here on signals are the command's.
    loop_.remove(end_on_signal_);
    signals_.take_job_control();
    const Attendance::End end = attend(lock, path);
    if (end == Attendance::End::own || end == Attendance::End::guard_killed) lock.release();
    session_.close();
    guard_.check_execution();
    switch (end) {
      case Attendance::End::own:
        return status_of(guard_.wait_status());
      case Attendance::End::node_deleted:
        throw lost(path, "its node was deleted");
      case Attendance::End::expired:
        throw lost(path, "the session expired");
      case Attendance::End::guard_killed:
        throw lost(path, "the guard was killed");
    }
    return 0;
  }

  Attendance::End attend(const recipe::Lock& lock, const std::string& path) {
    recipe::Lease lease(session_, lock.node());
    const host::Attached holding(loop_, lease);
    Attendance attendance(loop_, signals_, guard_, lease, session_.timeout() / kGracePart);
    return attendance.attend({"ZKLOCK_PATH=" + path, "ZKLOCK_NODE=" + lock.node(),
                              fmt::format("ZKLOCK_TOKEN={}", lock.token()),
                              "ZKLOCK_SERVERS=" + session_.options().servers.text()});
  }

  static Failure lost(const std::string& path, const char* reason) {
    return {ExitStatus::lost, fmt::format("lost {} while the command ran: {}; the command was stopped", path, reason)};
  }

  static int status_of(int wait_status) {
    if (WIFEXITED(wait_status)) return WEXITSTATUS(wait_status);
    const int signal = WTERMSIG(wait_status);
    if (host::is_ending(signal)) throw Failure::by_signal(signal);
    return 128 + signal;
  }

  host::Loop loop_;
  host::Signals signals_;
  host::EndOnSignal end_on_signal_{signals_};
  host::Attached receiving_{loop_, signals_};
  host::Attached ending_;
  host::Guard guard_;
  host::Attached guarding_;
  zk::Session session_;
};

}  // namespace

Run::Run(CLI::App& root) : app_(root.add_subcommand("run", "Run a command under a lock")) {
  app_->allow_extras();
  set_usage(*app_, "Usage: zklock run [OPTIONS] LOCK -- COMMAND [ARG...]\n       zklock run [OPTIONS] -c STRING LOCK");
  app_->add_option("LOCK", path_, "Path of the lock, like /locks/job")->group("");
  app_->add_flag("-n,--nonblock", nonblock_, "Do not wait: 75 if the lock is busy");
  add_value(*app_, "-w,--timeout", timeout_, "Wait at most so long, connecting included", "DUR");
  add_value(*app_, "-E,--conflict-exit-code", conflict_status_, "Exit with N instead of 75", "N");
  add_value(*app_, "-c,--command", shell_command_, "Run STRING with /bin/sh -c", "STRING");
  add_value(*app_, "--label", label_, "What others read about this holder", "TEXT");
  add_global_options(*app_, global_);
  app_->footer(kFooter);
}

int Run::execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited& inherited,
                 Manner& manner) const {
  manner.busy_status = busy_status();
  if (path_.empty() && app_->count("LOCK") == 0) {
    throw usage_error("no lock named: write zklock run /locks/job -- COMMAND");
  }
  zk::check_path(path_);
  if (!is_utf8(label_)) throw usage_error("bad --label: it is not UTF-8");
  const Patience patience = this->patience();
  const zk::SessionOptions session = session_options(global);
  host::Program program = host::Program::find(command_of(arguments));
  const std::string note = make_note(zk::name_of(program.arguments[0]), label_);
  return Job(std::move(program), inherited, session).run(path_, note, patience);
}

std::vector<std::string> Run::command_of(const Arguments& arguments) const {
  const bool by_shell = app_->count("--command") > 0;
  if (by_shell && arguments.separated) throw usage_error("give either -c STRING or -- COMMAND, not both");
  if (by_shell) return {"/bin/sh", "-c", shell_command_};
  if (arguments.command.empty()) {
    throw usage_error(fmt::format("no command: write zklock run {} -- COMMAND", printable(path_)));
  }
  return arguments.command;
}

int Run::busy_status() const {
  if (app_->count("--conflict-exit-code") == 0) return static_cast<int>(ExitStatus::busy);
  const auto status = parse_number(conflict_status_);
  if (status && *status <= 255) return static_cast<int>(*status);
  throw usage_error(fmt::format("bad status '{}' for --conflict-exit-code: write a number from 0 to 255",
                                printable(conflict_status_)));
}

Patience Run::patience() const {
  if (app_->count("--timeout") == 0) return {!nonblock_, kNever};
  const Duration span = duration_of(timeout_, "--timeout");
  // -w 0 is -n. It leaves the time to connect and to look, or nothing could ever be had.
  if (span == Duration::zero()) return {false, kNever};
  return {!nonblock_, deadline_in(span)};
}

}  // namespace zklock::command
