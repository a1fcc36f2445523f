// SPDX-License-Identifier: Apache-2.0
#include "command/queue/pull.h"

#include "base/text.h"
#include "command/child/note.h"
#include "command/queue/pull_print.h"
#include "command/queue/queue.h"

#include <algorithm>
#include <csignal>

#include <fmt/format.h>

namespace zklock::command {

namespace {

constexpr const char* kFooter =
    "A command's status decides: 0 removes the item, 65 buries it, 75 puts it back.\n\n"
    "Examples:\n"
    "  zklock queue pull --follow -j 4 /crawl -- fetch   # a worker\n"
    "  url=$(zklock queue pull /crawl)                   # one, or status 75\n"
    "Manual: zklock-queue(1)";

constexpr int64_t kMostJobs = 256;
constexpr int64_t kMostAttempts = 1'000'000;

}  // namespace

QueuePull::QueuePull(CLI::App& queue) : app_(add_command(queue, "pull", "Take items out of a queue")) {
  set_usage(*app_, "Usage: zklock queue pull [OPTIONS] QUEUE [-- COMMAND [ARG...]]");
  add_value(*app_, "-N,--count", count_, "Take N items, or what is there (1)", "N");
  add_flag(*app_, "--all", all_, "Until the queue has none, in work included");
  add_flag(*app_, "--follow", follow_, "Wait for more, for ever");
  add_value(*app_, "-w,--timeout", timeout_, "Wait for an item at most so long", "DUR");
  add_flag(*app_, "-0,--null", nul_, "NUL behind each item, not a newline");
  add_flag(*app_, "--whole", whole_, "Items as they are, nothing behind them");
  add_work_options();
  add_global_options(*app_, global_);
  set_footer(*app_, kFooter);
}

void QueuePull::add_work_options() {
  add_value(*app_, "-I,--replace", placeholder_, "Item in place of STR, not on standard input", "STR");
  add_value(*app_, "-j,--jobs", jobs_, "Run N commands at a time (1)", "N");
  add_value(*app_, "--max-attempts", most_attempts_, "Then to the dead letters (5)", "N");
  add_value(*app_, "--retry-delay", retry_delay_, "Before a second attempt, then doubling (1s)", "DUR");
  add_flag(*app_, "--halt", halt_, "Stop at the first failure");
}

int QueuePull::execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited& inherited,
                       ExitPolicy&) const {
  check_fit(arguments);
  PullOptions options = pull_options(arguments);
  zk::SessionOptions session = session_options(global);
  options.note = to_json(own_note(arguments.separated ? arguments.command.front() : "queue pull", ""));
  try {
    return arguments.separated ? work(std::move(options), std::move(session), arguments, inherited)
                               : write_items(std::move(options), std::move(session), inherited);
  } catch (const Failure& failure) {
    // Who follows for ever has no other good end.
    const bool asked = failure.signal() == SIGTERM || failure.signal() == SIGINT;
    if (!follow_ || !asked) throw;
  }
  return 0;
}

int QueuePull::write_items(PullOptions options, zk::SessionOptions session, const host::Inherited& inherited) const {
  if (inherited.closed[1]) throw Failure(ExitStatus::input_output, "cannot write to standard output: it is closed");
  Pulling(std::move(session), std::move(options)).run();
  return 0;
}

int QueuePull::work(PullOptions options, zk::SessionOptions session, const Arguments& arguments,
                    const host::Inherited& inherited) const {
  check_placeholder(arguments.command);
  const host::Program program = host::Program::find(arguments.command);
  ItemCommand command(arguments.command, placeholder_, options.path, session.servers.text());
  WorkOptions work{std::move(options), std::move(command)};
  if (jobs_) work.jobs = static_cast<size_t>(number_of(*jobs_, "--jobs", 1, kMostJobs));
  if (most_attempts_) work.most_attempts = number_of(*most_attempts_, "--max-attempts", 1, kMostAttempts);
  work.retry_delay = retry_delay();
  work.halt = halt_;
  return Working(program, inherited, std::move(session), std::move(work)).run();
}

// What only goes with a command, or only without one.
void QueuePull::check_fit(const Arguments& arguments) const {
  if (arguments.separated && arguments.command.empty()) throw usage_error("no command behind --");
  if (arguments.separated && (nul_ || whole_)) {
    throw usage_error(fmt::format("{} is for items on standard output: a command gets each item as it is",
                                  nul_ ? "--null" : "--whole"));
  }
  if (arguments.separated) return;
  const char* option = placeholder_     ? "--replace"
                       : jobs_          ? "--jobs"
                       : most_attempts_ ? "--max-attempts"
                       : retry_delay_   ? "--retry-delay"
                       : halt_          ? "--halt"
                                        : nullptr;
  if (option) throw usage_error(fmt::format("{} needs a command: write zklock queue pull QUEUE -- COMMAND", option));
}

PullOptions QueuePull::pull_options(const Arguments& arguments) const {
  if (all_ && follow_) throw usage_error("give either --all or --follow, not both");
  if (count_ && (all_ || follow_))
    throw usage_error(fmt::format("give either --count or {}, not both", all_ ? "--all" : "--follow"));
  if (nul_ && whole_) throw usage_error("give either --null or --whole, not both");
  PullOptions options;
  // Behind the "--" stands the command.
  const QueueWords words = queue_words(*app_, Arguments{arguments.options, {}, false});
  if (!words.rest.empty()) throw unexpected_word(words.rest.front(), arguments);
  options.path = words.path;
  options.end = nul_ ? std::string(1, '\0') : whole_ ? "" : "\n";
  options.most = most();
  options.all = all_;
  options.follow = follow_;
  if (timeout_) options.idle = duration_of(*timeout_, "--timeout");
  return options;
}

void QueuePull::check_placeholder(const std::vector<std::string>& words) const {
  if (!placeholder_) return;
  if (placeholder_->empty()) throw usage_error("bad value '' for --replace: write what is to be replaced, as in -I {}");
  const auto has_it = [this](const std::string& word) { return word.find(*placeholder_) != std::string::npos; };
  if (std::any_of(words.begin() + 1, words.end(), has_it)) return;
  throw usage_error(fmt::format("no '{0}' in the command's arguments: write -I {0} ... -- {1} {0}",
                                printable(*placeholder_), printable(words.front())));
}

Duration QueuePull::retry_delay() const {
  if (!retry_delay_) return WorkOptions::kUsualRetryDelay;
  const Duration delay = duration_of(*retry_delay_, "--retry-delay");
  if (delay <= KeptItems::kLongest) return delay;
  throw usage_error(fmt::format("--retry-delay {} is more than the longest, 1m: others wait for the item too",
                                printable(*retry_delay_)));
}

std::optional<size_t> QueuePull::most() const {
  if (all_ || follow_) return std::nullopt;
  if (!count_) return 1;
  return static_cast<size_t>(number_of(*count_, "--count", 1));
}

}  // namespace zklock::command
