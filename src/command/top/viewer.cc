// SPDX-License-Identifier: Apache-2.0
// top at a terminal: the screen and the keys.
#include "base/failure.h"
#include "base/text.h"
#include "base/time.h"
#include "command/top/top.h"

#include <algorithm>
#include <csignal>
#include <ctime>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace zklock::command {

namespace {

using namespace std::chrono_literals;
using host::Key;
using host::KeyPress;
using host::ScreenLine;

constexpr Duration kBetweenDraws = 1s;  // the ages on the screen grow
constexpr size_t kLongestFilter = 100;

// Returns the local time of day, "10:45:22".
std::string time_of_day() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  return fmt::format("{:02}:{:02}:{:02}", local.tm_hour, local.tm_min, local.tm_sec);
}

}  // namespace

TopViewer::TopViewer(host::Screen& screen, host::Signals& signals, TopSubject subject)
    : screen_(screen), signals_(signals), subject_(std::move(subject)) {}

void TopViewer::show_figures(bool fresh) {
  if (fresh) looked_ms_ = now_ms();
  renew();
}

void TopViewer::show_detail(const TopPage::Chosen& of, TopDetail detail) {
  if (detail_.show(of, std::move(detail))) next_draw_ = BootClock::now();
}

// --- events

void TopViewer::arm(host::PollSet& set) {
  set.watch(STDIN_FILENO, POLLIN);
  set.wake_at(next_draw_);
}

void TopViewer::record(const host::PollSet& set) {
  seen_ = static_cast<short>(seen_ | set.seen(STDIN_FILENO));
}

void TopViewer::decide() {
  while (const auto arrival = signals_.take()) take_signal(*arrival);
  // The terminal is gone.
  if ((seen_ & (POLLHUP | POLLERR | POLLNVAL)) != 0) throw Failure::by_signal(SIGHUP);
  if (std::exchange(seen_, 0) != 0) {
    for (const KeyPress& press : screen_.keys()) take(press);
  }
  if (left_until(next_draw_) == Duration::zero()) draw();
}

void TopViewer::take_signal(const host::Arrival& arrival) {
  if (host::is_ending(arrival.signal)) throw Failure::by_signal(arrival.signal);
  if (arrival.signal == SIGTSTP) screen_.stop();
  if (arrival.signal == SIGWINCH) screen_.resize();
  renew();
}

// --- keys

void TopViewer::take(const KeyPress& press) {
  switch (mode_) {
    case Mode::list: take_in_list(press); break;
    case Mode::filter: take_in_filter(press); break;
    case Mode::detail: take_in_detail(press); break;
    case Mode::quit: break;
  }
  next_draw_ = BootClock::now();
}

void TopViewer::take_in_list(const KeyPress& press) {
  const auto rows = static_cast<ptrdiff_t>(std::max<size_t>(page_rows(), 2) - 1);
  switch (press.key) {
    case Key::up: return page_.move(-1);
    case Key::down: return page_.move(1);
    case Key::page_up: return page_.move(-rows);
    case Key::page_down: return page_.move(rows);
    case Key::home: return page_.move(-TopPage::kAll);
    case Key::end: return page_.move(TopPage::kAll);
    case Key::tab: return page_.move_to_next_section();
    case Key::escape: view_.filter.clear(); return renew();
    case Key::enter:
      detail_.open(page_.chosen());
      if (opened()) mode_ = Mode::detail;
      return;
    case Key::character: return take_command(press.character);
    case Key::backspace: return;
  }
}

void TopViewer::take_command(char letter) {
  if (letter == 'q') {
    mode_ = Mode::quit;
    throw Failure(ExitStatus::done, "");
  }
  if (letter == 's') {
    view_.sort = next(view_.sort);
    renew();
  }
  if (letter == 'k') page_.move(-1);
  if (letter == 'j') page_.move(1);
  if (letter == '/') {
    old_filter_ = view_.filter;
    mode_ = Mode::filter;
  }
}

// The filter applies with each letter.
void TopViewer::take_in_filter(const KeyPress& press) {
  if (press.key == Key::enter) mode_ = Mode::list;
  if (press.key == Key::escape) {
    view_.filter = old_filter_;
    mode_ = Mode::list;
  }
  if (press.key == Key::backspace && !view_.filter.empty()) view_.filter.pop_back();
  if (press.key == Key::character && view_.filter.size() < kLongestFilter) view_.filter += press.character;
  renew();
}

void TopViewer::take_in_detail(const KeyPress& press) {
  detail_.take(press.key, page_rows());
  const bool left = press.key == Key::character && press.character == 'q';
  if (!left && press.key != Key::escape && press.key != Key::backspace && press.key != Key::enter) return;
  detail_.open(std::nullopt);
  mode_ = Mode::list;
}

// --- what is shown

void TopViewer::renew() {
  view_.columns = screen_.columns();
  page_.set(sections_of(subject_.overview.figures(), view_, now_ms()));
  next_draw_ = BootClock::now();
}

// Returns how many rows are between the two lines at the top and the one at the bottom.
size_t TopViewer::page_rows() const {
  return std::max<size_t>(screen_.rows(), 4) - 3;
}

ScreenLine TopViewer::sums() const {
  const Deadline since = subject_.session.unconnected_since();
  if (since != kNever) {
    return {fmt::format("no connection for {}; figures of {}", format_duration(BootClock::now() - since),
                        format_utc(looked_ms_)),
            host::Colour::red};
  }
  const recipe::OverviewFigures& figures = subject_.overview.figures();
  const bool doubtful = !figures.exists || figures.too_large;
  return {summary_of(figures, subject_.path), doubtful ? host::Colour::yellow : host::Colour::none};
}

std::string TopViewer::footer() const {
  if (mode_ == Mode::filter) return fmt::format("/{}_", view_.filter);
  if (mode_ == Mode::detail) return fmt::format("{}  {}  q back", time_of_day(), printable(opened()->path));
  const std::string filtered = view_.filter.empty() ? "" : fmt::format(" ({})", view_.filter);
  return fmt::format("{}  {}  q quit  s sort ({})  / filter{}  enter look", time_of_day(), printable(subject_.path),
                     name_of(view_.sort), filtered);
}

void TopViewer::draw() {
  if (mode_ != Mode::detail) renew();
  next_draw_ = deadline_in(kBetweenDraws);
  const size_t rows = page_rows();
  const auto& verdict = subject_.ensemble.verdict();
  const host::Colour colour = verdict ? colour_of(verdict->level) : host::Colour::none;
  std::vector<ScreenLine> lines{{printable(line_of(subject_.ensemble)), colour}, sums()};
  std::vector<ScreenLine> body = mode_ == Mode::detail ? detail_.lines(screen_.columns(), rows) : page_.lines(rows);
  body.resize(rows);
  lines.insert(lines.end(), body.begin(), body.end());
  lines.push_back({footer()});
  screen_.show(lines);
}

}  // namespace zklock::command
