// SPDX-License-Identifier: Apache-2.0
// zklock show: prints the holders of a lock and the contenders that wait for it, as a table, as JSON or as metrics.
#include "base/time.h"
#include "command/cli/format.h"
#include "command/cli/metrics.h"
#include "command/cli/output.h"
#include "command/cli/table.h"
#include "command/lock/contender.h"
#include "command/lock/locks.h"
#include "zk/path.h"

#include <algorithm>
#include <memory>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace zklock::command {

namespace {

using recipe::Participant;
using recipe::PathUse;
using recipe::Survey;
using Json = nlohmann::ordered_json;

constexpr const char* kShowFooter =
    "Examples:\n"
    "  zklock show /locks/nightly\n"
    "  zklock show -r --json / | jq -r 'select(.state == \"held\").path'\n\n"
    "Exit status: 0, with -q 1 if the lock is free; 64 usage, 65 the path is a\n"
    "queue, 69 no server, 74 output failed, 77 refused.\n"
    "Manual: zklock-show(1)";

std::string last_success_of(const Survey& survey) {
  return survey.last_success_ms == 0 ? "" : format_utc(survey.last_success_ms);
}

host::Colour colour_of(const std::string& state) {
  if (state == "holding") return host::Colour::green;
  return state == "waiting" ? host::Colour::yellow : host::Colour::none;
}

// A lock without any contender or other node has one line.
std::vector<ShownContender> shown_of(const Survey& survey) {
  std::vector<ShownContender> all;
  for (const Participant& one : survey.participants) {
    all.push_back(shown_at(survey.path, survey.use, one));
    all.back().position = std::ssize(all);
  }
  if (all.empty() && survey.foreign.empty()) {
    all.push_back({.path = survey.path, .state = "free", .kind = survey.use == PathUse::slots ? "slot" : ""});
  }
  for (const Participant& one : survey.leftovers) {
    all.push_back(shown_at(survey.path, survey.use, one));
    all.back().state = "leftover";
  }
  for (const Participant& one : survey.foreign) {
    all.push_back(shown_at(survey.path, survey.use, one));
    all.back().state = "foreign";
    all.back().kind.clear();
    all.back().program = recipe::maker_of(one.contender.name);
  }
  for (ShownContender& one : all) one.last_success = last_success_of(survey);
  return all;
}

std::string state_of(const Survey& survey) {
  if (!survey.holders().empty()) return "held";
  return survey.foreign.empty() ? "free" : "foreign";
}

// Returns how many slots there are, by the last contender in line that says so; 0: none does.
int64_t slots_of(const Survey& survey) {
  int64_t slots = 0;
  for (const Participant& participant : survey.participants) {
    const auto note = parse_note(participant.data);
    if (note && note->slots != 0) slots = note->slots;
  }
  return slots;
}

// --- metrics

double count(const Survey& survey, bool holding) {
  return static_cast<double>(std::ranges::count(survey.participants, holding, &Participant::holding));
}

// Returns when the first of the holders, or of the waiting contenders, came; nothing if there is none.
std::optional<double> first_came(const Survey& survey, bool holding) {
  int64_t first = 0;
  for (const Participant& participant : survey.participants) {
    const int64_t came = participant.came_ms();
    if (participant.holding == holding && (first == 0 || came < first)) first = came;
  }
  return timestamp_of(first);
}

std::string labels_of(const Survey& survey) {
  return label_of("lock", survey.path);
}

constexpr MetricFamily<Survey> kFamilies[] = {
    {"zklock_lock_held", "gauge", "1 if somebody holds the lock, else 0.",
     [](const Survey& s) { return std::optional(count(s, true) > 0 ? 1.0 : 0.0); }, labels_of},
    {"zklock_lock_holders", "gauge", "Holders of the lock; several, where they share it or have slots.",
     [](const Survey& s) { return std::optional(count(s, true)); }, labels_of},
    {"zklock_lock_waiters", "gauge", "Those who wait for the lock.",
     [](const Survey& s) { return std::optional(count(s, false)); }, labels_of},
    {"zklock_lock_first_holder_timestamp_seconds", "gauge",
     "When the first of the holders came: it has held the lock since then, or since its turn.",
     [](const Survey& s) { return first_came(s, true); }, labels_of},
    {"zklock_lock_first_waiter_timestamp_seconds", "gauge", "When the first of those who wait came.",
     [](const Survey& s) { return first_came(s, false); }, labels_of},
    {"zklock_lock_last_success_timestamp_seconds", "gauge", "When a command last succeeded under --once-per.",
     [](const Survey& s) { return timestamp_of(s.last_success_ms); }, labels_of},
};

// --- the subcommand

struct ShowOptions {
  bool recursive = false;
  bool follow = false;
  bool long_form = false;
  FormatOptions format;
};

std::vector<std::string> paths_of(const Call& call, const ShowOptions& options) {
  std::vector<std::string> paths = operands_of(call.app, call.arguments);
  if (paths.empty()) throw usage_error("no lock named: write zklock show /locks/job");
  if (call.global.quiet && (options.recursive || paths.size() > 1)) {
    throw usage_error("-q is about one lock: write zklock show -q /locks/job");
  }
  if (options.follow && (options.recursive || call.global.quiet || options.long_form)) {
    throw usage_error(fmt::format("--follow tells each change of the locks that are named: leave out {}",
                                  options.recursive   ? "-r"
                                  : call.global.quiet ? "-q"
                                                      : "-l"));
  }
  for (const std::string& path : paths) {
    if (!options.recursive || path != "/") zk::check_path(path);
  }
  return paths;
}

std::vector<Survey> surveys_of(const Call& call, const ShowOptions& options, const std::vector<std::string>& paths) {
  Task task(session_options(call.global), fmt::format("cannot show {}", fmt::join(paths, " ")));
  task.session.open();
  std::vector<Survey> surveys =
      options.recursive
          ? recipe::survey_trees(task.session, paths)
          : zk::read_and_end(task.session, [&](bool last) { return recipe::survey_paths(task.session, paths, last); });
  task.session.close();
  std::erase_if(surveys, [](const Survey& survey) { return !survey.success.empty() && !parse_note(survey.success); });
  for (const Survey& survey : surveys) recipe::check_is_lock(survey.use, fmt::format("cannot show {}", survey.path));
  return surveys;
}

bool is_held(const Survey& survey) {
  if (!survey.holders().empty()) return true;
  if (survey.foreign.empty()) return false;
  throw Failure(ExitStatus::bad_data,
                recipe::foreign_text(fmt::format("cannot show {}", survey.path), survey.foreign.front().node));
}

std::string text_of(const std::vector<Survey>& surveys, Format format, bool whole) {
  if (format == Format::prometheus) return prometheus_of(surveys);
  if (format == Format::text) return table_of(surveys, table_display(whole));
  std::string text;
  for (const Survey& survey : surveys) text += json_of(survey);
  return text;
}

int show(const Call& call, const ShowOptions& options) {
  const auto formats = options.follow ? std::span<const Format>(kTextOrJson) : kTextJsonOrPrometheus;
  const Format format = format_of(options.format, formats);
  check_long(options.long_form, format);
  const std::vector<std::string> paths = paths_of(call, options);
  if (options.follow) return follow_locks(call, paths, format == Format::json);
  const std::vector<Survey> surveys = surveys_of(call, options, paths);
  if (call.global.quiet) return is_held(surveys.front()) ? 0 : static_cast<int>(ExitStatus::no);
  print(text_of(surveys, format, options.long_form));
  return 0;
}

}  // namespace

Execute add_show(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<ShowOptions>();
  add_flag(app, "-r,--recursive", options->recursive, "Show all locks below LOCK, which may be /");
  add_flag(app, "--follow", options->follow, "Then print each change, until a signal");
  add_long_option(app, options->long_form);
  add_format_options(app, options->format, "One JSON object per line and lock", kTextJsonOrPrometheus);
  finish(app, global, "Usage: zklock show [OPTIONS] LOCK...", kShowFooter);
  describe(app, "--quiet", "Print nothing; exit 0 if LOCK is held, 1 if free");
  return execute_with(show, options);
}

std::string table_of(const std::vector<Survey>& surveys, const host::Display& display) {
  if (surveys.empty()) return "";
  const bool once_per = std::any_of(surveys.begin(), surveys.end(), [](const Survey& s) { return s.last_success_ms; });
  std::vector<Field<ShownContender>> fields(contender_fields().begin(), contender_fields().end());
  if (!once_per) {
    std::erase_if(fields, [](const auto& field) { return field.column == "LAST-SUCCESS"; });
  }
  std::vector<ShownContender> all;
  for (const Survey& survey : surveys) std::ranges::move(shown_of(survey), std::back_inserter(all));
  Table table = command::table_of(std::span<const Field<ShownContender>>(fields), all);
  if (display.colours) table.paint("STATE", colour_of);
  if (display.columns) table.fit(*display.columns, yielding_of(std::span<const Field<ShownContender>>(fields)));
  return table.text();
}

std::string json_of(const Survey& survey) {
  Json json;
  json["path"] = survey.path;
  json["state"] = state_of(survey);
  put(json, "last_success", last_success_of(survey));
  if (const int64_t slots = slots_of(survey)) json["slots"] = slots;
  json["contenders"] = Json::array();
  for (const ShownContender& shown : shown_of(survey)) {
    if (shown.node.empty()) continue;
    Json& list = json[shown.position > 0 ? "contenders" : "others"];
    list.push_back(Json::object());
    put_members(list.back(), contender_fields(), shown);
  }
  return json_line(json);
}

// A lock that was named twice has one sample.
std::string prometheus_of(std::vector<Survey> surveys) {
  std::ranges::sort(surveys, {}, &Survey::path);
  const auto same = [](const Survey& a, const Survey& b) { return a.path == b.path; };
  surveys.erase(std::unique(surveys.begin(), surveys.end(), same), surveys.end());
  std::string text;
  for (const auto& family : kFamilies) text += exposed(family, std::span<const Survey>(surveys));
  return text;
}

std::string table_of_holders(const std::vector<Participant>& holders, std::optional<size_t> columns) {
  const std::vector<Field<ShownContender>> fields =
      select(contender_fields(), {"HOST", "PID", "COMMAND", "SINCE", "LABEL"});
  std::vector<ShownContender> all;
  for (const Participant& holder : holders) all.push_back(shown_at("", PathUse::lock, holder));
  Table table = command::table_of(std::span<const Field<ShownContender>>(fields), all);
  // A person who is asked needs to know what runs rather than since when.
  if (columns) table.fit(*columns, {{"PID", "SINCE", "LABEL", "COMMAND"}, {"HOST", "COMMAND", "LABEL"}});
  return table.text();
}

}  // namespace zklock::command
