// SPDX-License-Identifier: Apache-2.0
#include "command/queue_pull.h"

#include "base/text.h"
#include "command/note.h"
#include "command/queue.h"

#include <csignal>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace zklock::command {

namespace {

constexpr const char* kFooter =
    "Exit status: 0; 64 usage, 65 not a queue, 69 no server, 74 output failed,\n"
    "75 nothing there, 76 written but not removed, 77 refused.\n\n"
    "Examples:\n"
    "  url=$(zklock queue pull /crawl)            # one, or status 75\n"
    "  zklock queue pull --follow -0 /crawl | xargs -0 -n 1 fetch\n\n"
    "Manual: zklock(1)";

}  // namespace

QueuePull::QueuePull(CLI::App& queue) : app_(queue.add_subcommand("pull", "Take items out of a queue")) {
  app_->allow_extras();
  set_usage(*app_, "Usage: zklock queue pull [OPTIONS] QUEUE");
  add_value(*app_, "-N,--count", count_, "Take N items, or what is there (1)", "N");
  app_->add_flag("--all", all_, "Until the queue has none, in work included");
  app_->add_flag("--follow", follow_, "Wait for more, for ever");
  add_value(*app_, "-w,--timeout", timeout_, "Wait for an item at most so long", "DUR");
  app_->add_flag("-0,--null", nul_, "NUL behind each item, not a newline");
  app_->add_flag("--whole", whole_, "Items as they are, nothing behind them");
  add_global_options(*app_, global_);
  app_->footer(kFooter);
}

int QueuePull::execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited& inherited,
                       Manner&) const {
  PullOptions options = pull_options(arguments);
  zk::SessionOptions session = session_options(global);
  if (inherited.closed[1]) throw Failure(ExitStatus::input_output, "cannot write to standard output: it is closed");
  options.note = to_json(own_note("queue pull", ""));
  try {
    Pulling(std::move(session), std::move(options)).run();
  } catch (const Failure& failure) {
    // Who follows for ever has no other good end.
    const bool asked = failure.signal() == SIGTERM || failure.signal() == SIGINT;
    if (!follow_ || !asked) throw;
  }
  return 0;
}

PullOptions QueuePull::pull_options(const Arguments& arguments) const {
  if (all_ && follow_) throw usage_error("give either --all or --follow, not both");
  if (count_ && (all_ || follow_))
    throw usage_error(fmt::format("give either -N or {}, not both", all_ ? "--all" : "--follow"));
  if (nul_ && whole_) throw usage_error("give either -0 or --whole, not both");
  PullOptions options;
  options.path = queue_path(*app_, arguments);
  options.end = nul_ ? std::string(1, '\0') : whole_ ? "" : "\n";
  options.most = most();
  options.all = all_;
  options.follow = follow_;
  if (timeout_) options.idle = duration_of(*timeout_, "--timeout");
  return options;
}

std::optional<size_t> QueuePull::most() const {
  if (all_ || follow_) return std::nullopt;
  if (!count_) return 1;
  const auto number = parse_number(*count_);
  if (number && *number >= 1) return static_cast<size_t>(*number);
  throw usage_error(fmt::format("bad number '{}' for --count: write 1 or more", printable(*count_)));
}

}  // namespace zklock::command
