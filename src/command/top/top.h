// SPDX-License-Identifier: Apache-2.0
// zklock top: the ensemble, locks, queues and groups on one screen that is kept up to date.
#pragma once

#include "command/cli/subcommand.h"
#include "command/health/health.h"
#include "command/top/page.h"
#include "host/loop.h"
#include "host/screen.h"
#include "host/signals.h"
#include "zk/session.h"
#include "zk/words/query.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zklock::command {

Execute add_top(CLI::App& app, GlobalOptions& global);

// Asks for the state of the ensemble again and again, while other code turns the loop: each server is asked three
// four-letter words, with kPause between the rounds.
class EnsembleWatch : public host::Source {
 public:
  EnsembleWatch(host::Loop& loop, zk::ServersAsked servers) : loop_(loop), servers_(std::move(servers)) {}

  // Returns nothing before the first round is over. A round takes as long as the slowest server, at most kPatience.
  const std::optional<HealthVerdict>& verdict() const { return verdict_; }
  // Returns the average latency of the leader, or of a standalone server; nothing if it is unknown.
  std::optional<double> latency_ms() const { return latency_ms_; }

  void arm(host::PollSet& set) override;
  void decide() override;

 private:
  void ask();

  host::Loop& loop_;
  zk::ServersAsked servers_;
  Deadline next_ = BootClock::now();
  std::optional<zk::WordQuery> query_;
  std::optional<HealthVerdict> verdict_;
  std::optional<double> latency_ms_;
};

// Returns "warning: 2 of 3 serve, missing zk3:2181, zk1:2181 leads, 0.4 ms", followed by the rest of the verdict.
std::string line_of(const EnsembleWatch& ensemble);

// What is shown. All of it must outlive the viewer.
struct TopSubject {
  const zk::Session& session;
  const EnsembleWatch& ensemble;
  const recipe::Overview& overview;
  std::string path;
};

// Draws the screen and handles the keys, while the caller turns the loop and asks ZooKeeper.
class TopViewer : public host::Source {
 public:
  // `screen` and `signals` must outlive this.
  TopViewer(host::Screen& screen, host::Signals& signals, TopSubject subject);

  // Returns whether q was pressed: then decide() has thrown a Failure without a text.
  bool is_quit() const { return mode_ == Mode::quit; }

  // Shows the figures of the overview. `fresh`: they are of now.
  void show_figures(bool fresh);

  // Returns the row whose details are wanted, if any.
  const std::optional<TopPage::Chosen>& opened() const { return detail_.opened(); }
  // Shows the details of `of`, or drops them if they are no longer wanted.
  void show_detail(const TopPage::Chosen& of, TopDetail detail);
  // Returns whether details are wanted but not read yet, so that there must be no pause.
  bool is_in_a_hurry() const { return opened() && !detail_.is_read(); }

  void arm(host::PollSet& set) override;
  void record(const host::PollSet& set) override;
  // Throws a Failure by a signal, or for q.
  void decide() override;

 private:
  enum class Mode { list, filter, detail, quit };

  void take_signal(const host::Arrival& arrival);
  void take(const host::KeyPress& press);
  void take_in_list(const host::KeyPress& press);
  void take_in_filter(const host::KeyPress& press);
  void take_in_detail(const host::KeyPress& press);
  void take_command(char letter);
  void renew();
  void draw();
  size_t page_rows() const;
  host::ScreenLine sums() const;
  std::string footer() const;

  host::Screen& screen_;
  host::Signals& signals_;
  TopSubject subject_;
  TopPage page_;
  TopView view_;
  Mode mode_ = Mode::list;
  std::string old_filter_;  // restored if Escape ends the typing of another one
  DetailPage detail_;
  Deadline next_draw_ = BootClock::now();
  int64_t looked_ms_ = 0;  // ms since 1970 by our wall clock, at the last look
  short seen_ = 0;         // what poll() has reported of the terminal
};

}  // namespace zklock::command
