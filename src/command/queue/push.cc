// SPDX-License-Identifier: Apache-2.0
// zklock queue push: puts items into a queue, from the command line or from standard input.
#include "base/text.h"
#include "command/queue/item_reader.h"
#include "command/queue/queue.h"
#include "host/signals.h"
#include "host/streams.h"
#include "host/terminal.h"
#include "recipe/queue/awaited.h"
#include "recipe/queue/pusher.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace zklock::command {

namespace {

using namespace std::chrono_literals;

// The pause between two looks at what has ended: this part of the time that it took so far, and at most that.
constexpr int kPauseParts = 16;
constexpr Duration kLongestPause = 1s;
constexpr Duration kLastLook = 1s;  // at most, when the time is over

constexpr const char* kPushFooter =
    "Examples:\n"
    "  zklock queue push /queues/urls <urls.txt         # a line, an item\n"
    "  zklock queue push -p 10 /queues/urls -- https://example.org/\n"
    "  zklock queue push --wait /queues/pages <pages.txt && publish\n\n"
    "Exit status: 0 all are in, with --wait done; 64 usage, 65 an item too large or\n"
    "not a queue, 69 no server, 74 input failed, 75 not in time, 77 refused, 123 not\n"
    "all were done.\n"
    "Manual: zklock-queue(1)";

struct PushOptions {
  Value priority;
  bool nul = false;
  bool whole = false;
  bool wait = false;
  Value timeout;

  std::optional<char> end() const { return whole ? std::nullopt : std::optional(nul ? '\0' : '\n'); }
};

// Reports how pushing goes on. At a terminal, this is one line that is kept up to date and wiped at the end; with
// --verbose, a summary.
class PushProgress {
 public:
  // `watched`: a person looks at standard error, and does not type the items.
  PushProgress(std::string path, bool watched, bool verbose)
      : path_(std::move(path)), watched_(watched), verbose_(verbose) {
    if (watched) next_look_ = began_ + kEveryLook;
  }

  // Goes on with the line after sum_up().
  void watch() {
    if (watched_ && next_look_ == kNever) next_look_ = deadline_in(kEveryLook);
  }

  // Returns when tell() is due; kNever: not at all.
  Deadline next_look() const { return next_look_; }
  // `share` is the part of the input that was read, 0 to 1, if its size is known.
  void tell(int64_t in, std::optional<double> share) {
    next_look_ = deadline_in(kEveryLook);
    const std::string percentage = share ? fmt::format(", {}%", static_cast<int>(*share * 100)) : "";
    status_.show(fmt::format("zklock: {} in {}, {}{}", items_are(in), path_, rate(in), percentage));
  }

  void tell(const recipe::Tally& tally) {
    next_look_ = deadline_in(kEveryLook);
    const std::string dead = tally.dead == 0 ? "" : fmt::format(", {}", counted(tally.dead, "dead letter"));
    status_.show(fmt::format("zklock: {} of {} of {} done{}", tally.done, counted(tally.items, "item"), path_, dead));
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
  bool watched_;
  bool verbose_;
  Deadline began_ = BootClock::now();
  Deadline next_look_ = kNever;
  host::StatusLine status_;
};

// What the command line says about a push.
struct PushPlan {
  std::string path;
  std::vector<std::string> items;  // none: they come from standard input, and each ends with `end`, see ItemReader
  std::optional<char> end;
  int priority = recipe::kUsualPriority;
  bool waits = false;                // until all items have ended
  std::optional<Duration> patience;  // for that; nothing: endless
};

// Pushes items until all are in the queue or a signal stops it, and may wait for the end of each.
class Pushing {
 public:
  Pushing(zk::SessionOptions session, PushPlan plan)
      : plan_(std::move(plan)),
        session_(loop_, std::move(session)),
        awaited_(session_, {plan_.path}, tried()),
        pusher_(session_, {plan_.path}, plan_.priority, tried(), plan_.waits ? &awaited_ : nullptr),
        reader_(plan_.end, zk::kLargestData),
        progress_(plan_.path, host::is_watched() && !host::can_ask(), session_.options().verbose) {
    session_.set_purpose(tried());
  }

  // Returns when all items are in the queue, or done. Otherwise says how many are in, and throws a Failure: 65 if an
  // item is too large, 74, 75 and 123 while it waits, a signal, and what the pusher throws. What was read from standard
  // input and is not in then is lost.
  void run() {
    pusher_.open();
    loop_.leave_signals();
    const host::Attached interrupting(loop_, interruption_);
    if (items().empty() && host::can_ask()) host::remark("zklock: reading items, a line each; Ctrl-D ends\n");
    try {
      push_all();
      progress_.sum_up(pusher_.in());
      if (plan_.waits) wait_for_ends();
    } catch (const Failure& failure) {
      tell();
      progress_.wipe();
      if (failure.signal() == 0) throw Failure(failure.status(), fmt::format("{}; {}", failure.text(), count()));
      host::say_error(fmt::format("interrupted: {}", count()));
      throw;
    }
    session_.close();
    check_tally();
  }

 private:
  void push_all() {
    const host::Attached reading(loop_, input_);
    for (;;) {
      take_items();
      if (is_at_end() && pusher_.is_done()) break;
      session_.turn(next_turn());
      pusher_.settle();
      tell();
    }
    check_input();
    check_signal();
  }

  void check_signal() const {
    if (interruption_.signal() != 0) throw Failure::by_signal(interruption_.signal());
  }

  // Looks as soon as something has ended, but the more rarely, the longer it takes; and once more at the end.
  void wait_for_ends() {
    const Deadline began = BootClock::now();
    const Deadline until = plan_.patience ? deadline_in(*plan_.patience) : kNever;
    const zk::Within within(session_, until == kNever ? kNever : until + kLastLook);
    interruption_.end_at_once();
    bool swept = false;
    for (bool last = false;;) {
      try {
        tally_ = awaited_.look(pusher_.in());
        if (tally_->left() <= 0) return awaited_.remove();
        if (last) {
          throw Failure(ExitStatus::busy, fmt::format("not all is done after {}", format_duration(*plan_.patience)));
        }
        if (!std::exchange(swept, true)) awaited_.sweep();
        const Duration pause = std::min<Duration>(kLongestPause, (BootClock::now() - began) / kPauseParts);
        wait_for_end(std::min(until, deadline_in(pause)), until);
        last = left_until(until) == Duration::zero();
      } catch (const zk::SessionOver&) {
        zk::in_sessions(session_, [this] { awaited_.renew(); });
      }
    }
  }

  // Returns when it is time to look, or at the end.
  void wait_for_end(Deadline next_look, Deadline until) {
    progress_.watch();
    while (left_until(until) > Duration::zero() && (!awaited_.is_woken() || BootClock::now() < next_look)) {
      session_.check_alive();
      session_.turn(std::min({until, awaited_.is_woken() ? next_look : kNever, progress_.next_look()}));
      tell();
    }
  }

  void check_tally() const {
    if (!tally_) return;
    const recipe::Tally& tally = *tally_;
    if (tally.done < tally.items) {
      throw Failure(ExitStatus::items_failed, fmt::format("{}: {}", plan_.path, ends_of(tally)));
    }
    if (session_.options().verbose) host::remark(fmt::format("zklock: {}: {}\n", plan_.path, ends_of(tally)));
  }

  static std::string ends_of(const recipe::Tally& tally) {
    std::string text = fmt::format("{} of {} done", tally.done, counted(tally.items, "item"));
    if (tally.dead > 0) text += fmt::format(", {}", counted(tally.dead, "dead letter"));
    if (tally.purged > 0) text += fmt::format(", {} purged", tally.purged);
    return text;
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
    input_.want(!more && items().empty());
  }

  std::optional<std::string> next_item() {
    if (items().empty()) return reader_.next();
    if (next_argument_ == items().size()) return std::nullopt;
    return std::move(plan_.items[next_argument_++]);
  }

  bool is_at_end() const {
    if (interruption_.signal() != 0 || reader_.oversize() > 0 || input_.error() != 0) return true;
    return items().empty() ? input_.is_ended() && reader_.is_empty() : next_argument_ == items().size();
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
                                plan_.path, reader_.count(), reader_.oversize(), zk::kLargestData));
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
                                  span.last, plan_.path));
    }
    if (BootClock::now() < progress_.next_look()) return;
    if (tally_) return progress_.tell(*tally_);
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
    if (tally_) return fmt::format("{} of {} left in {}", tally_->left(), items_are(tally_->items), plan_.path);
    return fmt::format("{} in {}{}", items_are(pusher_.in()), plan_.path, doubtful);
  }

  const std::vector<std::string>& items() const { return plan_.items; }
  std::string tried() const { return "cannot push to " + plan_.path; }

  PushPlan plan_;
  host::SignalLoop loop_;
  host::EndOnSecondSignal interruption_{loop_.signals()};
  zk::Session session_;
  recipe::AwaitedPush awaited_;
  recipe::Pusher pusher_;
  host::StandardInput input_{STDIN_FILENO};
  ItemReader reader_;
  PushProgress progress_;
  size_t next_argument_ = 0;
  size_t doubles_told_ = 0;
  std::optional<recipe::Tally> tally_;  // once it waits: as of the last look
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
  if (options.timeout && !options.wait) throw usage_error("--timeout bounds --wait, which is not given");
  PushPlan plan;
  plan.path = path;
  plan.items = std::move(items);
  plan.end = options.end();
  if (options.priority) {
    plan.priority = static_cast<int>(number_of(*options.priority, "--priority", 0, recipe::kLastPriority));
  }
  plan.waits = options.wait;
  if (options.timeout) plan.patience = duration_of(*options.timeout, "--timeout");
  Pushing(session_options(call.global), std::move(plan)).run();
  return 0;
}

}  // namespace

Execute add_queue_push(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<PushOptions>();
  add_flag(app, "-0,--null", options->nul, "Items end with NUL, not newline");
  add_flag(app, "--whole", options->whole, "All of standard input is one item");
  add_value(app, "-p,--priority", options->priority, "0 to 999; lower goes first (100)", "N");
  add_flag(app, "--wait", options->wait, "Wait until each of the items was done");
  add_value(app, "-w,--timeout", options->timeout, "With --wait: at most DUR, then 75", "DUR");
  finish(app, global,
         "Usage: zklock queue push [OPTIONS] QUEUE <FILE\n"
         "       zklock queue push [OPTIONS] QUEUE [--] ITEM...",
         kPushFooter);
  return execute_with(push, options);
}

}  // namespace zklock::command
