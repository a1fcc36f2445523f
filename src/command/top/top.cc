// SPDX-License-Identifier: Apache-2.0
// zklock top: its options, and its looks at the tree, one after the other, shown on a screen or as text.
#include "command/top/top.h"

#include "base/text.h"
#include "command/cli/output.h"
#include "command/group/group.h"
#include "command/health/words.h"
#include "command/lock/locks.h"
#include "command/queue/queue.h"

#include <memory>
#include <unistd.h>

#include <fmt/format.h>

namespace zklock::command {

namespace {

using namespace std::chrono_literals;

constexpr const char* kTopFooter =
    "Examples:\n"
    "  zklock top\n"
    "  zklock top --once /locks | head\n\n"
    "Keys: arrows move, enter shows details, s sorts, / filters, q quits.\n"
    "Exit status: 0; 64 usage, 69 no server, 74 output failed, 77 refused.\n"
    "Manual: zklock-top(1)";

constexpr PathOperand kTopPath{"path", "/locks", zk::check_path_to_read};
constexpr Duration kUsualInterval = 2s;

// At the start, one look may not get through a large tree, so up to this many follow quickly. A tree that changes all
// the time is never read completely.
constexpr int kMostLooksAtOnce = 50;
constexpr Duration kBetweenFirstLooks = 200ms;

constexpr size_t kShownItems = 100;
constexpr size_t kReadAgain = 100;  // contenders or members; the details of a lock or group with more are read once

struct TopOptions {
  Value interval;
  bool once = false;
};

class Top {
 public:
  Top(const Call& call, std::string path, Duration interval)
      : path_(std::move(path)),
        interval_(interval),
        session_(loop_, session_options(call.global)),
        ensemble_(loop_, asked_servers(named_servers({}, call.global), call.global)),
        overview_(session_, path_) {
    session_.set_purpose("cannot look at " + path_);
  }

  // Prints the looks as text, for pipes and for terminals that cannot be overwritten.
  int print_looks(bool once) {
    const host::Attached asking(loop_, ensemble_);
    for (bool first = true;; first = false) {
      look();
      for (int more = 0; once && overview_.figures().behind && more < kMostLooksAtOnce; ++more) look();
      while (!ensemble_.verdict()) session_.turn(kNever);
      print(loop_, (first ? "" : "\n") + text());
      if (once) break;
      for (const Deadline next = deadline_in(interval_); left_until(next) > Duration::zero();) session_.turn(next);
    }
    session_.close();
    return 0;
  }

  int show_on(std::unique_ptr<host::Screen> screen, host::Signals& signals) {
    TopViewer viewer(*screen, signals, {session_, ensemble_, overview_, path_});
    session_.set_enduring(true);
    try {
      const host::Attached asking(loop_, ensemble_);
      const host::Attached showing(loop_, viewer);
      watch(viewer);
    } catch (const Failure&) {
      if (!viewer.is_quit()) throw;
    }
    // Closing may turn the loop, which the viewer has left.
    screen.reset();
    if (session_.connected()) session_.close();
    return 0;
  }

  // Reads the tree, in a new session if there is none. Throws a Failure (77) if the path itself may not be read.
  void look() {
    for (;;) {
      try {
        if (!open_) session_.open();
        open_ = true;
        overview_.look();
        break;
      } catch (const zk::SessionOver&) {
        open_ = false;
      }
    }
    const zk::Answer& refusal = overview_.figures().refusal;
    if (refusal.code != zk::Code::ok) throw zk::failure_of("cannot look at " + path_, refusal);
  }

  host::Loop& loop() { return loop_; }

 private:
  // Returns a short pause until the tree was read completely once, then always the interval. A tree that changes all
  // the time must not be read so often.
  Duration pause() {
    if (!overview_.figures().behind || ++hurried_looks_ > kMostLooksAtOnce) hurried_looks_ = kMostLooksAtOnce;
    return hurried_looks_ < kMostLooksAtOnce ? std::min(interval_, kBetweenFirstLooks) : interval_;
  }

  [[noreturn]] void watch(TopViewer& viewer) {
    for (bool looked = true;;) {
      // A look at a tree at rest asks nothing, and so ends without a connection too.
      viewer.show_figures(looked && session_.connected());
      read_detail(viewer);
      const Deadline next = deadline_in(pause());
      while (left_until(next) > Duration::zero() && !viewer.is_in_a_hurry()) session_.turn(next);
      looked = !viewer.is_in_a_hurry() || session_.expired();
      if (looked) look();
    }
  }

  std::string text() const {
    std::string text =
        fmt::format("{}  {}\n{}\n", utc_now(), printable(line_of(ensemble_)), summary_of(overview_.figures(), path_));
    TopView view;
    if (const auto columns = host::display_of(STDOUT_FILENO).columns) view.columns = *columns;
    for (const TopSection& section : sections_of(overview_.figures(), view, now_ms())) {
      text += fmt::format("\n{}\n", section.head);
      for (const TopRow& row : section.rows) text += row.text + '\n';
    }
    return text;
  }

  void read_detail(TopViewer& viewer) {
    if (!viewer.opened()) return;
    const TopPage::Chosen chosen = *viewer.opened();
    if (!viewer.is_in_a_hurry() && detail_is_large_) return;
    detail_is_large_ = false;
    try {
      viewer.show_detail(chosen, detail_of(chosen));
    } catch (const zk::SessionOver&) {
      if (viewer.is_quit()) throw;
      // The next look opens another session.
    } catch (const Failure& failure) {
      if (failure.signal() != 0 || viewer.is_quit()) throw;
      const bool refused = failure.status() == ExitStatus::refused || failure.status() == ExitStatus::bad_data;
      // If refused, it may not be read or has another use by now; that is shown in place of the details.
      if (!refused) throw;
      const std::string trouble = printable(failure.text()) + "\n";
      viewer.show_detail(chosen, [trouble](const host::Display&) { return trouble; });
    }
  }

  TopDetail detail_of(const TopPage::Chosen& chosen) {
    switch (chosen.kind) {
      case TopKind::lock: return lock_detail(chosen.path);
      case TopKind::queue: return queue_detail(chosen.path);
      case TopKind::group: return group_detail(chosen.path);
    }
    return nullptr;
  }

  TopDetail lock_detail(const std::string& path) {
    const std::vector<recipe::Survey> surveys = recipe::survey_paths(session_, {path});
    detail_is_large_ = surveys.front().participants.size() > kReadAgain;
    return [surveys](const host::Display& display) { return table_of(surveys, display); };
  }

  TopDetail queue_detail(const std::string& path) {
    recipe::QueueWalk walk(session_, recipe::QueueLayout{path}, false);
    std::vector<recipe::QueueItem> items;
    while (items.size() < kShownItems) {
      const auto more = walk.next(kShownItems - items.size());
      if (more.empty()) break;
      items.insert(items.end(), more.begin(), more.end());
    }
    return [items](const host::Display& display) { return QueueReport(false, false, display.columns).text_of(items); };
  }

  TopDetail group_detail(const std::string& path) {
    recipe::GroupRoster roster(session_, path, true);
    roster.look();
    const recipe::Members members = roster.members();
    detail_is_large_ = members.size() > kReadAgain;
    return [path, members](const host::Display& display) {
      return members.empty() ? "nobody is in it\n" : table_of(path, members, display.columns);
    };
  }

  std::string path_;
  Duration interval_;
  host::Loop loop_;
  zk::Session session_;
  EnsembleWatch ensemble_;
  recipe::Overview overview_;
  bool open_ = false;
  bool detail_is_large_ = false;
  int hurried_looks_ = 0;
};

int top(const Call& call, const TopOptions& options) {
  const Duration interval = options.interval ? interval_of(*options.interval) : kUsualInterval;
  const bool is_named = !operands_of(call.app, call.arguments).empty();
  Top top(call, is_named ? path_of(call, kTopPath) : "/", interval);
  if (options.once) return top.print_looks(true);
  // The first look comes before the screen, so that a failure is a line on standard error as elsewhere.
  top.look();
  // Signals are blocked before there is a screen, because one that ended us would not restore the terminal.
  host::Signals signals;
  const host::Attached receiving(top.loop(), signals);
  auto screen = host::Screen::open();
  if (!screen) {
    host::EndOnSignal end_on_signal(signals);
    const host::Attached ending(top.loop(), end_on_signal);
    return top.print_looks(false);
  }
  signals.take_job_control();
  return top.show_on(std::move(screen), signals);
}

}  // namespace

Execute add_top(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<TopOptions>();
  add_value(app, "--interval", options->interval, "Refresh every DUR (2s)", "DUR");
  add_flag(app, "--once", options->once, "Print it once, as text");
  finish(app, global, "Usage: zklock top [OPTIONS] [PATH]", kTopFooter);
  return execute_with(top, options);
}

}  // namespace zklock::command
