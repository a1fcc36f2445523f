// SPDX-License-Identifier: Apache-2.0
// The options of zklock queue pull, and what both ways of pulling share.
#include "command/queue/pull.h"

#include "base/text.h"
#include "command/child/note.h"
#include "command/queue/queue.h"
#include "recipe/lock/protected_node.h"
#include "recipe/queue/nodes.h"

#include <algorithm>
#include <csignal>
#include <iterator>
#include <memory>

#include <fmt/format.h>

namespace zklock::command {

namespace {

constexpr const char* kPullFooter =
    "Examples:\n"
    "  zklock queue pull --follow -j 4 /crawl -- fetch   # a worker\n"
    "  zklock queue pull -I URL /crawl -- wget URL       # one, or status 75\n\n"
    "Status 0 of COMMAND removes the item, 65 makes it a dead letter, 75 returns it.\n"
    "Manual: zklock-queue(1)";

constexpr int64_t kMostJobs = 256;
constexpr int64_t kMostAttempts = 1'000'000;

// The options as typed.
struct PullValues {
  Value count;
  Value timeout;
  bool all = false;
  bool follow = false;
  bool nul = false;
  bool whole = false;
  Value placeholder;
  Value jobs;
  Value most_attempts;
  Value retry_delay;
  bool halt = false;
};

// Throws a usage error (64) for an option that needs a command, or that excludes one.
void check_fit(const PullValues& values, const Arguments& arguments) {
  if (arguments.separated && arguments.command.empty()) throw usage_error("no command behind --");
  if (arguments.separated && (values.nul || values.whole)) {
    throw usage_error(fmt::format("{} is for items on standard output: a command gets each item as it is",
                                  values.nul ? "--null" : "--whole"));
  }
  if (arguments.separated) return;
  const char* option = values.placeholder     ? "--replace"
                       : values.jobs          ? "--jobs"
                       : values.most_attempts ? "--max-attempts"
                       : values.retry_delay   ? "--retry-delay"
                       : values.halt          ? "--halt"
                                              : nullptr;
  if (option) throw usage_error(fmt::format("{} needs a command: write zklock queue pull QUEUE -- COMMAND", option));
}

PullOptions pull_options(const PullValues& values, const Call& call) {
  if (values.all && values.follow) throw usage_error("give either --all or --follow, not both");
  const bool endless = values.all || values.follow;
  if (values.count && endless) {
    throw usage_error(fmt::format("give either --count or {}, not both", values.all ? "--all" : "--follow"));
  }
  if (values.nul && values.whole) throw usage_error("give either --null or --whole, not both");
  PullOptions options;
  // The words after "--" are the command.
  const std::vector<std::string> words = operands_of(call.app, Arguments{call.arguments.options, {}, false});
  options.path = first_path(words, call, kQueuePath);
  if (words.size() > 1) throw unexpected_word(words[1], call.arguments);
  options.end = values.nul ? std::string(1, '\0') : values.whole ? "" : "\n";
  if (!endless) options.most = values.count ? static_cast<size_t>(number_of(*values.count, "--count", 1)) : 1;
  options.all = values.all;
  options.follow = values.follow;
  if (values.timeout) options.idle = duration_of(*values.timeout, "--timeout");
  return options;
}

void check_placeholder(const std::string& placeholder, const std::vector<std::string>& words) {
  if (placeholder.empty()) throw usage_error("bad value '' for --replace: write what is to be replaced, as in -I {}");
  const auto has_it = [&](const std::string& word) { return word.find(placeholder) != std::string::npos; };
  if (std::any_of(words.begin() + 1, words.end(), has_it)) return;
  throw usage_error(fmt::format("no '{0}' in the command's arguments: write -I {0} ... -- {1} {0}",
                                printable(placeholder), printable(words.front())));
}

WorkOptions work_options(const PullValues& values, PullOptions pull, const std::vector<std::string>& command) {
  if (values.placeholder) check_placeholder(*values.placeholder, command);
  WorkOptions work{std::move(pull), host::Program::find(command), values.placeholder};
  if (values.jobs) work.jobs = static_cast<size_t>(number_of(*values.jobs, "--jobs", 1, kMostJobs));
  if (values.most_attempts) {
    work.most_attempts = number_of(*values.most_attempts, "--max-attempts", 1, kMostAttempts);
  }
  if (values.retry_delay) work.retry_delay = duration_of(*values.retry_delay, "--retry-delay");
  if (work.retry_delay > WorkOptions::kLongestRetryDelay) {
    throw usage_error(fmt::format("--retry-delay {} is more than the longest, 1m: others wait for the item too",
                                  printable(*values.retry_delay)));
  }
  work.halt = values.halt;
  return work;
}

int pull(const Call& call, const PullValues& values) {
  const Arguments& arguments = call.arguments;
  check_fit(values, arguments);
  PullOptions options = pull_options(values, call);
  zk::SessionOptions session = session_options(call.global);
  Note note = own_note(arguments.separated ? arguments.command.front() : "queue pull", "");
  options.note = to_json(note);
  note.queue = recipe::kNewestForm;
  options.place_note = to_json(note);
  try {
    if (arguments.separated) {
      WorkOptions work = work_options(values, std::move(options), arguments.command);
      return work_on_items(std::move(session), std::move(work), call.inherited);
    }
    if (call.inherited.closed[1]) {
      throw Failure(ExitStatus::input_output, "cannot write to standard output: it is closed");
    }
    print_items(std::move(session), std::move(options));
  } catch (const Failure& failure) {
    // With --follow, there is no other good end.
    const bool asked = failure.signal() == SIGTERM || failure.signal() == SIGINT;
    if (!values.follow || !asked) throw;
  }
  return 0;
}

}  // namespace

Execute add_queue_pull(CLI::App& app, GlobalOptions& global) {
  const auto values = std::make_shared<PullValues>();
  add_value(app, "-N,--count", values->count, "Take N items, or as many as there are (1)", "N");
  add_flag(app, "--all", values->all, "Until the queue is empty, items in work included");
  add_flag(app, "--follow", values->follow, "Keep waiting for more items");
  add_value(app, "-w,--timeout", values->timeout, "Wait at most DUR for an item", "DUR");
  add_flag(app, "-0,--null", values->nul, "End each item with NUL, not newline");
  add_flag(app, "--whole", values->whole, "Print items as they are, nothing in between");
  add_value(app, "-I,--replace", values->placeholder, "Put the item in place of STR, not on stdin", "STR");
  add_value(app, "-j,--jobs", values->jobs, "Run N commands at a time (1)", "N");
  add_value(app, "--max-attempts", values->most_attempts, "After N failures, make it a dead letter (5)", "N");
  add_value(app, "--retry-delay", values->retry_delay, "Wait DUR before a retry; doubles each time (1s)", "DUR");
  add_flag(app, "--halt", values->halt, "Stop at the first failure");
  finish(app, global, "Usage: zklock queue pull [OPTIONS] QUEUE [-- COMMAND [ARG...]]", kPullFooter);
  return execute_with(pull, values);
}

ConsumerSession::ConsumerSession(host::Loop& loop, zk::SessionOptions session, const PullOptions& options,
                                 std::string use)
    : options_(options),
      layout_{options.path},
      tried_("cannot pull from " + options.path),
      use_(std::move(use)),
      session_(loop, std::move(session)),
      consumer_(session_, layout_, options.note),
      acks_(session_, layout_, consumer_),
      idle_line_(loop, session_, layout_, options.place_note, consumer_) {
  session_.set_purpose(tried_);
  if (options_.waits()) consumer_.remember_work();
}

void ConsumerSession::open() {
  // The longest wait includes connecting. If it is over already, there is still something to finish or to look at.
  const Deadline idle = options_.waits() ? idle_until() : kNever;
  const Deadline until = left_until(idle) > Duration::zero() ? idle : kNever;
  // A consumer that waits needs a node of the queue to stand in line at. With --all and no queue, there is nothing to
  // wait for.
  const auto find = options_.waits() && !options_.all ? recipe::make_queue : recipe::look_at_queue;
  const auto begin = [&] {
    open_ = true;
    consumer_.begin_with(find(session_, layout_, {layout_.items()}, tried_));
    acks_.look_again();
  };
  zk::in_sessions(session_, begin, until);
}

// Returns until when to wait for an item; kNever: without end.
Deadline ConsumerSession::idle_until() {
  if (!idle_until_) idle_until_ = options_.idle ? deadline_in(*options_.idle) : kNever;
  return *idle_until_;
}

void ConsumerSession::open_again(const std::vector<recipe::Item>& done) {
  acks_.end_session(done);
  consumer_.forget_all();
  idle_line_.forget();
  open();
  check_lost();
}

std::optional<std::vector<recipe::Item>> ConsumerSession::wait_for_items(size_t taken, bool own,
                                                                         std::function<bool()> disturbed) {
  const bool end_if_empty = options_.all && !own;
  if (end_if_empty && !consumer_.some_in_work()) return std::nullopt;
  // With items of our own, a retry that falls due is not a failure to get an item in time.
  const Deadline until = own ? kNever : idle_until();
  if (options_.waits() && left_until(until) > Duration::zero()) {
    const recipe::Outcome end = idle_line_.wait({true, until, std::move(disturbed)}, end_if_empty);
    std::vector<recipe::Item>& items = idle_line_.items();
    if (end == recipe::Outcome::removed) throw Failure(ExitStatus::busy, tried_ + ": our place in line was removed");
    if (end == recipe::Outcome::held && items.empty()) return std::nullopt;
    if (!items.empty()) note_items();
    // With --all, there is another look, because what was in work may be done by now.
    if (end != recipe::Outcome::busy || own || options_.all) return std::move(items);
  }
  check_lack(taken);
  return std::nullopt;
}

void ConsumerSession::check_lost() const {
  const std::string loss = this->loss();
  if (!loss.empty()) throw Failure(ExitStatus::lost, loss);
}

void ConsumerSession::rethrow() const {
  try {
    throw;
  } catch (const Failure& failure) {
    const std::string loss = this->loss();
    if (loss.empty() || failure.status() == ExitStatus::lost) throw;
    throw Failure(ExitStatus::lost, failure.text().empty() ? loss : fmt::format("{}; {}", loss, failure.text()));
  }
}

// Returns the message about items that are not known to be removed; empty: there are none.
std::string ConsumerSession::loss() const {
  const size_t doubtful = acks_.doubtful().size();
  const size_t count = acks_.lost().size() + doubtful;
  if (count == 0) return "";
  const bool one = count == 1;
  const std::string items =
      one ? fmt::format("an item that was {}", use_) : fmt::format("{} items that were {}", count, use_);
  if (doubtful == 0) {
    const char* why = acks_.is_blocked() ? "a node below is not zklock's" : "the claim was lost";
    return fmt::format("{}: {} could not be removed: {}; {} will come again", tried_, items, why, one ? "it" : "they");
  }
  return fmt::format("{}: {} {} not known to be removed; {} may be {} twice", tried_, items, one ? "is" : "are",
                     one ? "it" : "they", use_);
}

// To be called when there is nothing to take and the wait is over.
void ConsumerSession::check_lack(size_t taken) const {
  if (options_.all) throw Failure(ExitStatus::busy, tried_ + ": what is left is in work, and was not done in time");
  if (taken > 0) return;
  throw Failure(ExitStatus::busy,
                fmt::format("{}: {}", tried_, consumer_.some_in_work() ? "all items are in work" : "no items"));
}

void ConsumerSession::clean_up(const std::vector<recipe::Item>& done, std::vector<recipe::Item> unused) {
  if (!open_) return;
  const Deadline until = deadline_in(recipe::withdrawal_budget(session_));
  acks_.settle(done, until);
  std::vector<recipe::Item> claimed = consumer_.settle(until);
  unused.insert(unused.end(), std::make_move_iterator(claimed.begin()), std::make_move_iterator(claimed.end()));
  acks_.release(unused, until);
  session_.close();
  idle_line_.forget();
}

}  // namespace zklock::command
