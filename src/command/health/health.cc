// SPDX-License-Identifier: Apache-2.0
#include "command/health/health.h"

#include "base/text.h"
#include "command/child/note.h"
#include "command/cli/format.h"
#include "command/cli/output.h"
#include "command/cli/table.h"
#include "command/health/words.h"
#include "host/signals.h"
#include "host/terminal.h"
#include "recipe/lock/lock.h"
#include "zk/path.h"
#include "zk/timing.h"

#include <algorithm>
#include <memory>
#include <unistd.h>

#include <fmt/format.h>

namespace zklock::command {

namespace {

using namespace std::chrono_literals;

constexpr const char* kHealthFooter =
    "Examples:\n"
    "  zklock health zk1 zk2 zk3\n"
    "  zklock -S zk1,zk2,zk3 health --format nagios --probe /health\n\n"
    "Exit status: 0 ok, 1 warning, 2 critical, 3 unknown or bad usage.\n"
    "Manual: zklock-health(1)";

constexpr Format kFormats[] = {Format::text, Format::json, Format::nagios, Format::prometheus};

struct HealthOptions {
  Value timeout;
  Value max_latency;
  Value max_outstanding;
  Value min_servers;
  Value probe;
  bool long_form = false;
  FormatOptions format;
  Value interval;
};

// The options, once they are understood.
struct CheckupOptions {
  zk::ServersAsked servers;
  Duration time{};  // for one look
  Thresholds thresholds;
  std::optional<std::string> probe;  // the path of a lock
  zk::SessionOptions session;        // for the probe
};

Thresholds thresholds_of(const HealthOptions& options, int64_t servers) {
  Thresholds thresholds;
  if (options.max_latency) thresholds.latency = duration_of(*options.max_latency, "--max-latency");
  if (options.max_outstanding) thresholds.outstanding = number_of(*options.max_outstanding, "--max-outstanding", 0);
  if (options.min_servers) thresholds.servers = number_of(*options.min_servers, "--min-servers", 0);
  if (thresholds.servers && *thresholds.servers > servers) {
    throw usage_error(fmt::format("--min-servers {} can never be met: only {} {} asked", *options.min_servers,
                                  counted(servers, "server"), servers == 1 ? "is" : "are"));
  }
  return thresholds;
}

CheckupOptions checkup_options(const Call& call, const HealthOptions& options) {
  const std::vector<std::string> words = operands_of(call.app, call.arguments);
  CheckupOptions checkup;
  zk::ServerList list = named_servers(words, call.global);
  checkup.servers = asked_servers(list, call.global);
  checkup.time = asking_time(options.timeout);
  checkup.thresholds = thresholds_of(options, static_cast<int64_t>(list.servers.size()));
  if (!options.probe) return checkup;
  zk::check_path(*options.probe);
  checkup.probe = options.probe;
  checkup.session = session_options(call.global);
  list.chroot = checkup.session.servers.chroot;
  checkup.session.servers = list;
  checkup.session.tls = checkup.servers.tls;
  // A silent server must not take all the time that there is. With a short session timeout, each attempt gets a sixth
  // of that.
  checkup.session.session_timeout = std::min(checkup.session.session_timeout, std::max<Duration>(checkup.time, 1s));
  return checkup;
}

std::optional<Duration> interval_between_looks(const HealthOptions& options, Format format, bool quiet) {
  if (!options.interval) return std::nullopt;
  const Duration span = interval_of(*options.interval);
  const bool one_look = format == Format::nagios || format == Format::prometheus;
  if (one_look || quiet) {
    throw usage_error(fmt::format("--interval goes with text and json, not with {}", quiet ? "-q" : name_of(format)));
  }
  return span;
}

// --- the probe proves that an ensemble does its work: it takes a lock and gives it back, and measures both

class Unwatched : public recipe::WaitObserver {
 public:
  Deadline next_look() const override { return kNever; }
  void on_holder(const recipe::Holder&) override {}
  void on_start_again(bool) override {}
};

void take_and_release(zk::Session& session, Deadline until, Probe& probe) {
  const Deadline began = BootClock::now();
  session.set_purpose("cannot take " + probe.path);
  const zk::Within within(session, until);
  session.open();
  Unwatched observer;
  recipe::Lock lock(session, probe.path, {}, to_json(own_note("zklock", "health --probe")), observer);
  const recipe::Outcome outcome = lock.acquire({true, until});
  const Deadline taken = BootClock::now();
  probe.granted = outcome == recipe::Outcome::held;
  if (!probe.granted) {
    const bool busy = outcome == recipe::Outcome::busy;
    const std::string why = busy ? describe_holder(lock.holder()) : "our place in line was removed";
    probe.trouble = fmt::format("cannot take {}: {}", probe.path, why);
  } else if (!lock.release(std::max(left_until(until), zk::beat_of(session.timeout())))) {
    probe.trouble = fmt::format("cannot give {} back: no answer in time; it goes with the session", probe.path);
  }
  probe.taken = taken - began;
  probe.released = BootClock::now() - taken;
  session.close();
}

// Takes the lock at `path`, for which it waits in line, and gives it back. Probe::trouble says what failed. Throws only
// what other sources of the loop throw by a signal. No node is left as long as a server can be reached.
Probe probe_lock(host::Loop& loop, const zk::SessionOptions& options, const std::string& path, Deadline until) {
  Probe probe;
  probe.path = path;
  zk::Session session(loop, options);
  try {
    take_and_release(session, until, probe);
  } catch (const zk::SessionOver&) {
    probe.trouble = fmt::format("cannot take {}: the session expired", path);
  } catch (const Failure& failure) {
    // A failure of another kind is an answer: it is what the probe was to find out.
    if (failure.signal() != 0) throw;
    probe.trouble = failure.text();
  }
  return probe;
}

// --- looks

// Finds the busiest client of each server on which one may be near its limit. Other servers are not asked, because the
// reply has a line for each connection.
void ask_for_clients(host::Loop& loop, const zk::ServersAsked& asked, std::vector<ServerHealth>& servers,
                     Deadline until) {
  zk::ServersAsked near{{}, asked.tls};
  for (size_t i = 0; i < servers.size(); ++i) {
    if (may_be_near_limit(servers[i])) near.servers.push_back(asked.servers[i]);
  }
  if (near.servers.empty()) return;
  zk::WordQuery query(loop, near, {"cons"}, until);
  for (const auto& replies : query.finish()) {
    const zk::WordReply& cons = replies.front();
    const auto server = std::ranges::find(servers, to_string(cons.server), &ServerHealth::address);
    if (cons.result == zk::WordResult::answered) server->busiest = busiest_in(cons.text);
  }
}

// Asks all servers at the same time, and takes the probe's lock meanwhile.
Checkup check_up(host::Loop& loop, const CheckupOptions& options, const Checkup& last) {
  Checkup checkup;
  checkup.at = BootClock::now();
  const Deadline until = deadline_in(options.time);
  // srvr comes first, because it is allowed everywhere: a server that cannot answer the other words has answered it.
  zk::WordQuery query(loop, options.servers, {"srvr", "mntr", "conf"}, until);
  if (options.probe) checkup.probe = probe_lock(loop, options.session, *options.probe, until);
  for (const auto& replies : query.finish()) {
    const size_t at = checkup.servers.size();
    ServerHealth& now = checkup.servers.emplace_back(ServerHealth::of(replies));
    if (at < last.servers.size()) now.rates = rates_between(last.servers[at], now, checkup.at - last.at);
  }
  ask_for_clients(loop, options.servers, checkup.servers, until);
  checkup.verdict = judge_health(checkup.servers, options.thresholds, checkup.probe);
  return checkup;
}

constexpr const char* kHome = "\033[H";
constexpr const char* kEndOfLine = "\033[K";
constexpr const char* kRestOfScreen = "\033[J";
constexpr const char* kWholeScreen = "\033[2J";

// Returns `text` with the codes that write it over the screen line by line, so that the screen is never empty.
std::string repainted(const std::string& text, bool first) {
  std::string screen = first ? kWholeScreen : "";
  screen += kHome;
  for (const std::string_view line : split(text, '\n')) screen += fmt::format("{}{}\n", line, kEndOfLine);
  screen.pop_back();
  return screen + kRestOfScreen;
}

[[noreturn]] void watch(host::Loop& loop, const CheckupOptions& options, bool json, bool long_form, Duration interval) {
  const bool repaint = !json && host::is_screen_output();
  Checkup checkup;
  Deadline next = BootClock::now();
  for (bool first = true;; first = false) {
    checkup = check_up(loop, options, checkup);
    std::string text = json ? json_of(checkup) : text_of(checkup, table_display(long_form));
    if (!json) {
      text =
          fmt::format("{}{}, every {}\n\n{}", first || repaint ? "" : "\n", utc_now(), format_duration(interval), text);
    }
    print(loop, repaint ? repainted(text, first) : text);
    next = std::max(next + interval, BootClock::now());
    while (left_until(next) > Duration::zero()) loop.turn(next);
  }
}

std::string report_of(const Checkup& checkup, Format format, bool long_form, const Thresholds& thresholds) {
  switch (format) {
    case Format::text: break;
    case Format::json: return json_of(checkup);
    case Format::nagios: return nagios_of(checkup, thresholds);
    case Format::prometheus: return prometheus_of(checkup);
  }
  return text_of(checkup, table_display(long_form));
}

// Prints one look, or with --interval one after the other.
int health(const Call& call, const HealthOptions& given) {
  const CheckupOptions options = checkup_options(call, given);
  const Format format = format_of(given.format, kFormats);
  check_long(given.long_form, format);
  const auto interval = interval_between_looks(given, format, call.global.quiet);
  host::Loop loop;
  // With a probe, a signal ends us only after the lock is given back. Otherwise it ends us as it ends others.
  std::optional<host::Signals> signals;
  std::optional<host::EndOnSignal> end_on_signal;
  if (options.probe) {
    loop.add(signals.emplace());
    loop.add(end_on_signal.emplace(*signals));
  }
  if (interval) watch(loop, options, format == Format::json, given.long_form, *interval);
  const Checkup checkup = check_up(loop, options, {});
  if (call.global.verbose) {
    for (const ServerHealth& server : checkup.servers) {
      host::remark(
          fmt::format("zklock: {}: {} in {}\n", server.address, state_of(server), format_duration(server.took)));
    }
  }
  if (!call.global.quiet) {
    print(loop, report_of(checkup, format, given.long_form, options.thresholds));
  } else if (checkup.verdict.level != Level::ok) {
    host::say_error(line_of(checkup.verdict));
  }
  return static_cast<int>(checkup.verdict.level);
}

}  // namespace

Execute add_health(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<HealthOptions>();
  add_value(app, "-w,--timeout", options->timeout, "Wait at most DUR for all replies (5s)", "DUR");
  add_value(app, "--max-latency", options->max_latency, "Warn if the average latency is above DUR", "DUR");
  add_value(app, "--max-outstanding", options->max_outstanding, "Warn if more than N requests are waiting", "N");
  add_value(app, "--min-servers", options->min_servers, "Critical if fewer than N servers serve", "N");
  add_value(app, "--probe", options->probe, "Also take the lock PATH and release it", kPath);
  add_long_option(app, options->long_form);
  add_format_options(app, options->format, "The same as --format json", kFormats);
  add_value(app, "--interval", options->interval, "Repeat every DUR, with rates", "DUR");
  finish(app, global, "Usage: zklock health [OPTIONS] [SERVER...]", kHealthFooter);
  describe(app, "--quiet", "Print only one line, and only if it is not well");
  return execute_with(health, options);
}

std::optional<Rates> rates_between(const ServerHealth& before, const ServerHealth& now, Duration span) {
  const double seconds = seconds_of(span);
  const zk::ServerStatus& old = before.status;
  const zk::ServerStatus& fresh = now.status;
  if (!old.received || !fresh.received || !old.sent || !fresh.sent || seconds <= 0) return std::nullopt;
  if (*fresh.received < *old.received || *fresh.sent < *old.sent) return std::nullopt;
  return Rates{static_cast<double>(*fresh.received - *old.received) / seconds,
               static_cast<double>(*fresh.sent - *old.sent) / seconds};
}

}  // namespace zklock::command
