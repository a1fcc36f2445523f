// SPDX-License-Identifier: Apache-2.0
#include "zk/library_log.h"

#include "host/terminal.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace zklock::zk {

namespace {

using namespace std::chrono_literals;

constexpr Duration kFirstPause = 1s;
constexpr Duration kLongestPause = 30s;
constexpr size_t kMostLines = 100;  // lines that are remembered; an outage causes a few for each server

// Returns the part that repeated lines have in common, without date and process, and without the order in which the
// servers were tried.
std::string_view kind_of(std::string_view line) {
  const size_t begin = line.find("ZOO_");
  if (begin != line.npos) line.remove_prefix(begin);
  return line.substr(0, line.find("servers ["));
}

constexpr std::string_view kTaken = "the connection was taken, but not by a ZooKeeper server that serves";
constexpr std::string_view kSilent = "the connection was taken, but nothing came back in time";

bool shown_on_stderr = false;
bool cutting_now = false;
bool hidden = false;
std::string told_trouble;
std::string seen_stranger;

void show(std::string_view line) {
  static LogThinner thinner;
  const auto left_out = thinner.show(line, BootClock::now());
  if (!left_out) return;
  host::remark(fmt::format("zklock: client: {}{}\n", line,
                           *left_out > 0 ? fmt::format(" (and {} more like it)", *left_out) : ""));
}

}  // namespace

void show_library_log(bool shown) {
  shown_on_stderr = shown;
  hidden = false;
}

void hide_library_log() {
  hidden = true;
}

void take_library_log(const char* line) {
  if (hidden) return;
  std::string_view text(line);
  // Some lines end in a newline, some do not.
  while (text.ends_with('\n')) text.remove_suffix(1);
  // The library wants a pause after the only server that it knows (zk/client.cc).
  if (text.find("exhaustively trying all servers") != text.npos) return;
  if (shown_on_stderr) show(text);
  // A line that is logged after the handshake began shows that a program accepted the connection; its error number
  // misleads.
  const bool connected = text.find("handshake") != text.npos || text.find("receiving a server response") != text.npos;
  if (connected) told_trouble = cutting_now ? kSilent : kTaken;
  if (connected) return;
  // "… errno=111(Connection refused): …"
  const size_t at = text.find("errno=");
  const size_t open = text.find('(', at);
  const size_t close = text.find(')', open);
  if (at != text.npos && close != text.npos) told_trouble = text.substr(open + 1, close - open - 1);
}

void note_stranger(std::string_view what) {
  seen_stranger = what;
}

void note_cut(bool cutting) {
  cutting_now = cutting;
}

bool is_taken_by_stranger() {
  return seen_stranger.empty() && told_trouble == kTaken;
}

const std::string& last_trouble() {
  return seen_stranger.empty() ? told_trouble : seen_stranger;
}

std::optional<int64_t> LogThinner::show(std::string_view line, Deadline now) {
  if (said_.size() >= kMostLines) said_.clear();
  Said& said = said_[std::string(kind_of(line))];
  if (now < said.next) {
    ++said.left_out;
    return std::nullopt;
  }
  // A later outage starts with the first pause again.
  const bool again = said.pause > 0s && now < said.next + kLongestPause;
  said.pause = again ? std::min(2 * said.pause, kLongestPause) : kFirstPause;
  said.next = now + said.pause;
  return std::exchange(said.left_out, 0);
}

}  // namespace zklock::zk
