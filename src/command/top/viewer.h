// SPDX-License-Identifier: Apache-2.0
// top at a terminal: draws the screen and handles the keys, while the caller turns the loop and asks ZooKeeper.
#pragma once

#include "command/top/ensemble.h"
#include "command/top/page.h"
#include "host/loop.h"
#include "host/screen.h"
#include "host/signals.h"
#include "zk/session.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zklock::command {

// Returns what Enter has opened, as text that fits a screen.
using TopDetail = std::function<std::string(const host::Display& display)>;

class TopViewer : public host::Source {
 public:
  // All arguments passed by reference must outlive this.
  TopViewer(host::Screen& screen, host::Signals& signals, const zk::Session& session, const EnsembleWatch& ensemble,
            const recipe::Overview& overview, std::string path);

  // Returns whether q was pressed: then decide() has thrown a Failure without a text.
  bool is_quit() const { return quit_; }

  // Shows the figures of the overview. Call it after each look at the tree.
  void show_figures();

  // Returns the row whose details are wanted, if any.
  const std::optional<TopPage::Chosen>& opened() const { return opened_; }
  // Shows the details of `of`, or drops them if they are no longer wanted.
  void show_detail(const TopPage::Chosen& of, TopDetail detail);
  // Returns whether details are wanted but not read yet, so that there must be no pause.
  bool is_in_a_hurry() const { return opened_ && !detail_; }

  void arm(host::PollSet& set) override;
  void record(const host::PollSet& set) override;
  // Throws a Failure by a signal, or for q.
  void decide() override;

 private:
  enum class Mode { list, filter, detail };

  void take_signal(const host::Arrival& arrival);
  void take(const host::KeyPress& press);
  void take_in_list(const host::KeyPress& press);
  void take_in_filter(const host::KeyPress& press);
  void take_in_detail(const host::KeyPress& press);
  void take_command(char letter);
  [[noreturn]] void quit();
  void renew();
  void draw();
  size_t page_rows() const;
  host::ScreenLine sums() const;
  std::string footer() const;
  std::vector<host::ScreenLine> detail_lines(size_t rows);

  host::Screen& screen_;
  host::Signals& signals_;
  const zk::Session& session_;
  const EnsembleWatch& ensemble_;
  const recipe::Overview& overview_;
  std::string path_;
  TopPage page_;
  TopView view_;
  Mode mode_ = Mode::list;
  std::string old_filter_;  // restored if Escape ends the typing of another one
  std::optional<TopPage::Chosen> opened_;
  TopDetail detail_;
  size_t scrolled_ = 0;  // lines of the detail that are above the screen
  Deadline next_draw_ = BootClock::now();
  int64_t looked_ms_ = 0;  // ms since 1970 by our wall clock, at the last look
  bool typed_ = false;
  bool gone_ = false;  // the terminal is gone
  bool quit_ = false;
};

}  // namespace zklock::command
