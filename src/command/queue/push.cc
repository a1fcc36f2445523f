// SPDX-License-Identifier: Apache-2.0
// zklock queue push: puts items into a queue, from the command line or from standard input.
#include "base/text.h"
#include "command/queue/item_reader.h"
#include "command/queue/queue.h"
#include "host/signals.h"
#include "host/streams.h"
#include "host/terminal.h"
#include "recipe/queue/pusher.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <unistd.h>

#include <fmt/format.h>

namespace zklock::command {

namespace {

using namespace std::chrono_literals;

constexpr const char* kPushFooter =
    "Examples:\n"
    "  zklock queue push /queues/urls <urls.txt         # a line, an item\n"
    "  zklock queue push -p 10 /queues/urls -- https://example.org/\n\n"
    "Exit status: 0 all are in; 64 usage, 65 an item too large or not a queue, 69 no\n"
    "server, 74 input failed, 77 refused.\n"
    "Manual: zklock-queue(1)";

struct PushOptions {
  Value priority;
  bool nul = false;
  bool whole = false;

  std::optional<char> end() const { return whole ? std::nullopt : std::optional(nul ? '\0' : '\n'); }
};

// Reports how pushing goes on. At a terminal, this is one line that is kept up to date and wiped at the end; with
// --verbose, a summary.
class PushProgress {
 public:
  // `watched`: a person looks at standard error, and does not type the items.
  PushProgress(std::string path, bool watched, bool verbose) : path_(std::move(path)), verbose_(verbose) {
    if (watched) next_look_ = began_ + kEveryLook;
  }

  // Returns when tell() is due; kNever: not at all.
  Deadline next_look() const { return next_look_; }
  // `share` is the part of the input that was read, 0 to 1, if its size is known.
  void tell(int64_t in, std::optional<double> share) {
    next_look_ = deadline_in(kEveryLook);
    const std::string percentage = share ? fmt::format(", {}%", static_cast<int>(*share * 100)) : "";
    status_.show(fmt::format("zklock: {} in {}, {}{}", items_are(in), path_, rate(in), percentage));
  }

  void wipe() {
    status_.wipe();
    next_look_ = kNever;
  }

  void sum_up(int64_t in) {
    wipe();
    if (!verbose_) return;
    host::remark(fmt::format("zklock: pushed {} to {} in {}, {}\n", counted(in, "item"), path_,
                             format_duration(BootClock::now() - began_), rate(in)));
  }

 private:
  static constexpr Duration kEveryLook = 500ms;

  std::string rate(int64_t in) const {
    const double seconds = seconds_of(BootClock::now() - began_);
    return fmt::format("{:.0f}/s", static_cast<double>(in) / std::max(seconds, 0.001));
  }

  std::string path_;
  bool verbose_;
  Deadline began_ = BootClock::now();
  Deadline next_look_ = kNever;
  host::StatusLine status_;
};

// Pushes items until all are in the queue or a signal stops it.
class Pushing {
 public:
  // Without `items`, they come from standard input, and each ends with `end`, as ItemReader says.
  Pushing(zk::SessionOptions session, const std::string& path, std::vector<std::string> items, int priority,
          std::optional<char> end)
      : path_(path),
        items_(std::move(items)),
        session_(loop_, std::move(session)),
        pusher_(session_, {path}, priority, "cannot push to " + path),
        reader_(end, zk::kLargestData),
        progress_(path, host::is_watched() && !host::can_ask(), session_.options().verbose) {
    session_.set_purpose("cannot push to " + path);
  }

  // Returns when all items are in the queue. Otherwise says how many are in, and throws a Failure: 65 if an item is too
  // large, 74, a signal, and what the pusher throws. What was read from standard input and is not in then is lost.
  void run() {
    pusher_.open();
    loop_.leave_signals();
    if (items_.empty() && host::can_ask()) host::remark("zklock: reading items, a line each; Ctrl-D ends\n");
    try {
      push_all();
    } catch (const Failure& failure) {
      tell();
      progress_.wipe();
      if (failure.signal() == 0) throw Failure(failure.status(), fmt::format("{}; {}", failure.text(), count()));
      host::say_error(fmt::format("interrupted: {}", count()));
      throw;
    }
    session_.close();
    progress_.sum_up(pusher_.in());
  }

 private:
  void push_all() {
    const host::Attached interrupting(loop_, interruption_);
    const host::Attached reading(loop_, input_);
    for (;;) {
      take_items();
      if (is_at_end() && pusher_.is_done()) break;
      session_.turn(next_turn());
      pusher_.settle();
      tell();
    }
    check_input();
    if (interruption_.signal() != 0) throw Failure::by_signal(interruption_.signal());
  }

  // A batch is sent as soon as no more input is ready. After a signal, only batches on their way are completed. The
  // pusher turns the loop too, so input may have come in any turn.
  void take_items() {
    if (interruption_.signal() != 0) return input_.want(false);
    reader_.feed(input_.take());
    if (input_.is_ended() && input_.error() == 0) reader_.end();
    bool more = true;
    while (more && pusher_.has_room()) {
      auto item = next_item();
      more = item.has_value();
      if (more) pusher_.add(*std::move(item));
    }
    if (!more && (is_at_end() || input_.is_dry())) pusher_.flush();
    input_.want(!more && items_.empty());
  }

  std::optional<std::string> next_item() {
    if (items_.empty()) return reader_.next();
    if (next_argument_ == items_.size()) return std::nullopt;
    return std::move(items_[next_argument_++]);
  }

  bool is_at_end() const {
    if (interruption_.signal() != 0 || reader_.oversize() > 0 || input_.error() != 0) return true;
    return items_.empty() ? input_.is_ended() && reader_.is_empty() : next_argument_ == items_.size();
  }

  // While there are items that could be sent, the next turn does not wait: it only asks for more input.
  Deadline next_turn() const {
    if (input_.is_wanted() && pusher_.is_filling() && !input_.is_dry()) return BootClock::now();
    return progress_.next_look();
  }

  void check_input() const {
    if (reader_.oversize() > 0) {
      throw Failure(ExitStatus::bad_data,
                    fmt::format("cannot push to {}: item {} has {} bytes, more than the {} that an "
                                "item may have",
                                path_, reader_.count(), reader_.oversize(), zk::kLargestData));
    }
    if (input_.error() == 0) return;
    throw Failure(ExitStatus::input_output,
                  fmt::format("cannot read standard input: {}", std::strerror(input_.error())));
  }

  void tell() {
    for (; doubles_told_ < pusher_.doubles().size(); ++doubles_told_) {
      const recipe::ItemSpan& span = pusher_.doubles()[doubles_told_];
      progress_.wipe();
      host::say_error(fmt::format("the session expired on the way: items {} to {} may be in {} twice", span.first,
                                  span.last, path_));
    }
    if (BootClock::now() < progress_.next_look()) return;
    std::optional<double> share;
    if (const auto size = input_.size(); size && *size > 0) {
      share = static_cast<double>(input_.count()) / static_cast<double>(*size);
    }
    progress_.tell(pusher_.in(), share);
  }

  // Returns the end of the last message.
  std::string count() const {
    const recipe::ItemSpan rest = pusher_.unanswered();
    const std::string doubtful =
        rest.first == 0 ? "" : fmt::format(", and items {} to {} may be", rest.first, rest.last);
    return fmt::format("{} in {}{}", items_are(pusher_.in()), path_, doubtful);
  }

  std::string path_;
  std::vector<std::string> items_;
  host::SignalLoop loop_;
  host::EndOnSecondSignal interruption_{loop_.signals()};
  zk::Session session_;
  recipe::Pusher pusher_;
  host::StandardInput input_{STDIN_FILENO};
  ItemReader reader_;
  PushProgress progress_;
  size_t next_argument_ = 0;
  size_t doubles_told_ = 0;
};

// A word after the queue that looks like an option may be meant as an item.
void check_dashes(const Call& call) {
  const std::vector<std::string> rest = words_of(call.app);
  if (call.arguments.separated || rest.empty() || rest.front().starts_with('-')) return;
  for (const std::string& word : rest) {
    if (!word.starts_with('-') || word == "-") continue;
    const std::string unknown = unknown_word(call.app, word).text();
    throw usage_error(
        fmt::format("{}; write -- before an item that begins with a dash", unknown.substr(0, unknown.find("; see "))));
  }
}

int push(const Call& call, const PushOptions& options) {
  check_dashes(call);
  auto [path, items] = queue_words(call);
  if (items == std::vector<std::string>{"-"}) items.clear();
  if (options.nul && options.whole) throw usage_error("give either --null or --whole, not both");
  if (!items.empty() && (options.nul || options.whole)) {
    throw usage_error(fmt::format("{} is about standard input, which is not read where items are named",
                                  options.nul ? "--null" : "--whole"));
  }
  int priority = recipe::kUsualPriority;
  if (options.priority) {
    priority = static_cast<int>(number_of(*options.priority, "--priority", 0, recipe::kLastPriority));
  }
  Pushing(session_options(call.global), path, std::move(items), priority, options.end()).run();
  return 0;
}

}  // namespace

Execute add_queue_push(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<PushOptions>();
  add_flag(app, "-0,--null", options->nul, "Items end with NUL, not newline");
  add_flag(app, "--whole", options->whole, "All of standard input is one item");
  add_value(app, "-p,--priority", options->priority, "0 to 999; lower goes first (100)", "N");
  finish(app, global,
         "Usage: zklock queue push [OPTIONS] QUEUE <FILE\n"
         "       zklock queue push [OPTIONS] QUEUE [--] ITEM...",
         kPushFooter);
  return execute_with(push, options);
}

}  // namespace zklock::command
