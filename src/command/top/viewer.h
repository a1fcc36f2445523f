// SPDX-License-Identifier: Apache-2.0
// top at a terminal: what is on the screen and what the keys do, while somebody else turns the loop and asks ZooKeeper.
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

// What Enter has opened, as text that fits a screen.
using TopDetail = std::function<std::string(const host::Display& display)>;

class TopViewer : public host::Source {
 public:
  // All outlive it.
  TopViewer(host::Screen& screen, host::Signals& signals, const zk::Session& session, const EnsembleWatch& ensemble,
            const recipe::Overview& overview, std::string path);

  // Somebody has pressed q: decide() has thrown a Failure that says nothing.
  bool is_quit() const { return quit_; }

  // After a look.
  void show_figures();

  // What a closer look is wanted of; and what that has found, dropped if it is no longer wanted.
  const std::optional<TopPage::Chosen>& opened() const { return opened_; }
  void show_detail(const TopPage::Chosen& of, TopDetail detail);
  // A look shall not wait for its time.
  bool is_in_a_hurry() const { return opened_ && !detail_; }

  void arm(host::PollSet& set) override;
  void record(const host::PollSet& set) override;
  // May throw a Failure: by a signal, or by q.
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
  std::string old_filter_;  // while another one is typed
  std::optional<TopPage::Chosen> opened_;
  TopDetail detail_;
  size_t scrolled_ = 0;  // of the detail
  Deadline next_draw_ = BootClock::now();
  int64_t looked_ms_ = 0;  // the wall clock, at the last look
  bool typed_ = false;
  bool gone_ = false;  // the terminal
  bool quit_ = false;
};

}  // namespace zklock::command
