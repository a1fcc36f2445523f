// SPDX-License-Identifier: Apache-2.0
// top at a terminal: draws the screen and handles the keys, while the caller turns the loop and asks ZooKeeper.
#pragma once

#include "command/top/detail_page.h"
#include "command/top/ensemble.h"
#include "command/top/page.h"
#include "host/loop.h"
#include "host/screen.h"
#include "host/signals.h"
#include "zk/session.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zklock::command {

// What is shown. All of it must outlive the viewer.
struct TopSubject {
  const zk::Session& session;
  const EnsembleWatch& ensemble;
  const recipe::Overview& overview;
  std::string path;
};

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
  [[noreturn]] void quit();
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
