// SPDX-License-Identifier: Apache-2.0
#include "command/health/health.h"

#include "base/text.h"
#include "command/cli/output.h"
#include "command/health/named_servers.h"
#include "host/signals.h"
#include "host/terminal.h"
#include "zk/path.h"

#include <algorithm>
#include <ctime>
#include <unistd.h>

#include <fmt/format.h>

namespace zklock::command {

namespace {

using namespace std::chrono_literals;

constexpr const char* kFooter =
    "Exit status: 0 ok, 1 warning, 2 critical, 3 unknown or bad usage.\n\n"
    "Examples:\n"
    "  zklock health zk1 zk2 zk3\n"
    "  zklock -S zk1,zk2,zk3 health --format nagios --probe /health\n"
    "Manual: zklock-health(1)";

constexpr const char* kHome = "\033[H";
constexpr const char* kEndOfLine = "\033[K";
constexpr const char* kRestOfScreen = "\033[J";
constexpr const char* kWholeScreen = "\033[2J";

std::string now_utc() {
  return format_utc(static_cast<int64_t>(std::time(nullptr)) * 1000);
}

// In place of what stood there, without a moment in which the screen is empty.
std::string repainted(const std::string& text, bool first) {
  std::string screen = first ? kWholeScreen : "";
  screen += kHome;
  for (const std::string_view line : split(text, '\n')) screen += fmt::format("{}{}\n", line, kEndOfLine);
  screen.pop_back();
  return screen + kRestOfScreen;
}

}  // namespace

Health::Health(CLI::App& root) : app_(add_command(root, "health", "Tell whether the ensemble is well")) {
  set_usage(*app_, "Usage: zklock health [OPTIONS] [SERVER...]");
  add_value(*app_, "-w,--timeout", timeout_, "Wait at most so long for all replies (5s)", "DUR");
  add_value(*app_, "--max-latency", max_latency_, "Warning where the average is higher", "DUR");
  add_value(*app_, "--max-outstanding", max_outstanding_, "Warning where more requests wait", "N");
  add_value(*app_, "--min-servers", min_servers_, "Critical if fewer serve", "N");
  add_value(*app_, "--probe", probe_, "Also take the lock PATH and give it back", "PATH");
  add_value(*app_, "--format", format_, "text, json, nagios or prometheus", "FORMAT");
  add_flag(*app_, "--json", json_, "The same as --format json");
  add_value(*app_, "--interval", interval_, "Look again and again, with rates", "DUR");
  add_global_options(*app_, global_);
  describe(*app_, "--quiet", "Print nothing, or one line if it is not well");
  set_footer(*app_, kFooter);
}

int Health::execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited&,
                    ExitPolicy&) const {
  const CheckupOptions options = checkup_options(arguments, global);
  const HealthFormat chosen = format();
  const auto every = interval(chosen, global.quiet);
  host::Loop loop;
  // A probe that is ended by a signal gives its lock back first; else a signal ends us as it ends others.
  std::optional<host::Signals> signals;
  std::optional<host::EndOnSignal> end_on_signal;
  if (options.probe) {
    loop.add(signals.emplace());
    loop.add(end_on_signal.emplace(*signals));
  }
  Checkup checkup(loop, options);
  if (every) watch(loop, checkup, chosen, *every);
  const Look& look = checkup.look();
  if (global.verbose) {
    for (const ServerHealth& server : look.servers) {
      host::remark(fmt::format("zklock: {}: {} in {}\n", to_string(server.server), state_of(server),
                               format_duration(server.took)));
    }
  }
  if (!global.quiet) {
    print(loop, report_of(look, chosen, options.thresholds, host::display_of(STDOUT_FILENO)));
  } else if (look.verdict.level != Level::ok) {
    host::say_error(line_of(look.verdict));
  }
  return static_cast<int>(look.verdict.level);
}

CheckupOptions Health::checkup_options(const Arguments& arguments, const GlobalOptions& global) const {
  CheckupOptions options;
  options.servers = named_servers(operands_of(*app_, arguments), global);
  options.time = asking_time(timeout_);
  options.thresholds = thresholds(options.servers.size());
  if (!probe_) return options;
  zk::check_path(*probe_);
  options.probe = *probe_;
  options.session = session_options(global);
  options.session.servers.servers = options.servers;
  if (!operands_of(*app_, arguments).empty()) options.session.servers.origin = "the command line";
  // A silent server must not take all the time that there is: each attempt gets a sixth of the session timeout.
  options.session.session_timeout = std::min(options.session.session_timeout, std::max<Duration>(options.time, 1s));
  return options;
}

Thresholds Health::thresholds(size_t servers) const {
  Thresholds thresholds;
  if (max_latency_) thresholds.latency = duration_of(*max_latency_, "--max-latency");
  if (max_outstanding_) thresholds.outstanding = number_of(*max_outstanding_, "--max-outstanding", 0);
  if (min_servers_) thresholds.servers = number_of(*min_servers_, "--min-servers", 0);
  if (thresholds.servers && *thresholds.servers > static_cast<int64_t>(servers)) {
    throw usage_error(fmt::format("--min-servers {} can never be met: {} asked", *min_servers_,
                                  servers == 1 ? "only 1 server is" : fmt::format("only {} servers are", servers)));
  }
  return thresholds;
}

HealthFormat Health::format() const {
  const std::string name = format_.value_or(json_ ? "json" : "text");
  if (json_ && name != "json") throw usage_error("give either --json or --format, not both");
  if (name == "text") return HealthFormat::text;
  if (name == "json") return HealthFormat::json;
  if (name == "nagios") return HealthFormat::nagios;
  if (name == "prometheus") return HealthFormat::prometheus;
  throw usage_error(
      fmt::format("bad value '{}' for --format: write text, json, nagios or prometheus", printable(name)));
}

std::optional<Duration> Health::interval(HealthFormat format, bool quiet) const {
  if (!interval_) return std::nullopt;
  const Duration span = duration_of(*interval_, "--interval");
  if (span < 100ms) throw usage_error(fmt::format("--interval {} is too short: write one from 100ms on", *interval_));
  const bool one_look = format == HealthFormat::nagios || format == HealthFormat::prometheus;
  if (one_look || quiet) {
    throw usage_error(fmt::format("--interval goes with text and json, not with {}", quiet ? "-q" : *format_));
  }
  return span;
}

void Health::watch(host::Loop& loop, Checkup& checkup, HealthFormat format, Duration interval) const {
  const bool repaint = format == HealthFormat::text && host::is_screen_output();
  Deadline next = BootClock::now();
  for (bool first = true;; first = false) {
    std::string text = report_of(checkup.look(), format, {}, host::display_of(STDOUT_FILENO));
    if (format == HealthFormat::text) {
      text = fmt::format("{}, every {}\n\n{}", now_utc(), format_duration(interval), text);
    }
    if (!repaint && format == HealthFormat::text && !first) text = '\n' + text;
    print(loop, repaint ? repainted(text, first) : text);
    next = std::max(next + interval, BootClock::now());
    while (left_until(next) > Duration::zero()) loop.turn(next);
  }
}

}  // namespace zklock::command
