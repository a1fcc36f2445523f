// SPDX-License-Identifier: Apache-2.0
#include "command/queue/push.h"

#include <fmt/format.h>

namespace zklock::command {

namespace {

constexpr const char* kFooter =
    "Exit status: 0 all are in; 64 usage, 65 an item too large or not a queue, 69 no\n"
    "server, 74 input failed, 77 refused.\n\n"
    "Examples:\n"
    "  zklock queue push /queues/urls <urls.txt         # a line, an item\n"
    "  zklock queue push -p 10 /queues/urls -- https://example.org/\n"
    "Manual: zklock-queue(1)";

// What looks like an option behind the queue may be an item.
void check_dashes(const CLI::App& app, const Arguments& arguments) {
  const std::vector<std::string> rest = words_of(app);
  if (arguments.separated || rest.empty() || rest.front().starts_with('-')) return;
  for (const std::string& word : rest) {
    if (!word.starts_with('-')) continue;
    const std::string unknown = unknown_word(app, word).text();
    throw usage_error(
        fmt::format("{}; write -- before an item that begins with a dash", unknown.substr(0, unknown.find("; see "))));
  }
}

}  // namespace

QueuePush::QueuePush(CLI::App& queue) : app_(add_command(queue, "push", "Put items into a queue")) {
  set_usage(*app_,
            "Usage: zklock queue push [OPTIONS] QUEUE <FILE\n"
            "       zklock queue push [OPTIONS] QUEUE [--] ITEM...");
  add_flag(*app_, "-0,--null", nul_, "Items end with NUL instead of newline");
  add_flag(*app_, "--whole", whole_, "All of standard input is one item");
  add_value(*app_, "-p,--priority", priority_, "0 to 999, lower ones are taken first (100)", "N");
  add_global_options(*app_, global_);
  set_footer(*app_, kFooter);
}

int QueuePush::execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited&,
                       ExitPolicy&) const {
  PushOptions options = push_options(arguments);
  Pushing(session_options(global), std::move(options)).run();
  return 0;
}

PushOptions QueuePush::push_options(const Arguments& arguments) const {
  check_dashes(*app_, arguments);
  QueueWords words = queue_words(*app_, arguments);
  if (nul_ && whole_) throw usage_error("give either --null or --whole, not both");
  if (!words.rest.empty() && (nul_ || whole_)) {
    throw usage_error(fmt::format("{} is about standard input, which is not read where items are named",
                                  nul_ ? "--null" : "--whole"));
  }
  const Framing framing = whole_ ? Framing::whole : nul_ ? Framing::nul : Framing::lines;
  return {std::move(words.path), priority(), std::move(words.rest), framing};
}

int QueuePush::priority() const {
  if (!priority_) return recipe::kUsualPriority;
  return static_cast<int>(number_of(*priority_, "--priority", 0, recipe::kLastPriority));
}

}  // namespace zklock::command
