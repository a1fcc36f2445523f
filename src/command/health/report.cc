// SPDX-License-Identifier: Apache-2.0
// The two formats of health.h that are not for monitoring systems: the table for people, and JSON.
#include "command/cli/output.h"
#include "command/cli/record.h"
#include "command/health/health.h"
#include "command/health/words.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace zklock::command {

namespace {

using Json = nlohmann::ordered_json;

FieldValue count_cell(const std::optional<int64_t>& number) {
  return number ? FieldValue(*number) : FieldValue();
}

template <typename Parts>
FieldValue part_cell(const std::optional<Parts>& parts, double Parts::*part, const char* format) {
  return parts ? FieldValue(fmt::format(fmt::runtime(format), (*parts).*part)) : FieldValue();
}

// Returns "3.8.0" for "3.8.0-abc, built on ..."; the JSON has the rest too.
std::string short_version(const std::string& version) {
  return version.substr(0, version.find_first_of("-,"));
}

constexpr Field<ServerHealth> kColumns[] = {
    {"SERVER", "", [](const ServerHealth& s) -> FieldValue { return s.address; }, 0, true, true},
    {"STATE", "", [](const ServerHealth& s) -> FieldValue { return state_of(s); }, 11, false, true},
    {"MODE", "", [](const ServerHealth& s) { return known(s.status.mode); }, 10, false, true},
    {"VERSION", "", [](const ServerHealth& s) { return known(short_version(s.status.version)); }, 3, false, true},
    {"AVG-MS", "",
     [](const ServerHealth& s) { return part_cell(s.status.latency_ms, &zk::Latency::average, "{:.4g}"); }, 9},
    {"MAX-MS", "", [](const ServerHealth& s) { return part_cell(s.status.latency_ms, &zk::Latency::max, "{}"); }, 4},
    {"CONNECTIONS", "", [](const ServerHealth& s) { return count_cell(s.status.connections); }, 5},
    {"OUTSTANDING", "", [](const ServerHealth& s) { return count_cell(s.status.outstanding); }, 7},
    {"ZXID", "", [](const ServerHealth& s) { return known(s.status.zxid); }, 1, false, true},
    {"NODES", "", [](const ServerHealth& s) { return count_cell(s.status.nodes); }, 2},
    {"RECEIVED/S", "", [](const ServerHealth& s) { return part_cell(s.rates, &Rates::received, "{:.1f}"); }, 8},
    {"SENT/S", "", [](const ServerHealth& s) { return part_cell(s.rates, &Rates::sent, "{:.1f}"); }, 6},
};
constexpr size_t kWithoutRates = std::size(kColumns) - 2;

host::Colour colour_of_state(const std::string& state) {
  if (state == "serving") return host::Colour::green;
  return state == "read-only" || state == "not-serving" ? host::Colour::yellow : host::Colour::red;
}

std::string shown(Level level, bool colours) {
  return host::in_colour(name_of(level), colours ? colour_of(level) : host::Colour::none);
}

Json server_json(const ServerHealth& server) {
  Json json;
  json["server"] = server.address;
  json["state"] = state_of(server);
  put(json, "reason", server.trouble);
  json["milliseconds"] = milliseconds_of(server.took);
  put_status(json, server.status,
             {"mode", "version", "latency_ms", "connections", "outstanding", "received", "sent", "zxid", "nodes"});
  if (server.rates) json["rates"] = {{"received", server.rates->received}, {"sent", server.rates->sent}};
  put(json, "mntr_reason", server.mntr_trouble);
  return json;
}

Json probe_json(const Probe& probe) {
  Json json;
  json["path"] = probe.path;
  put(json, "error", probe.trouble);
  if (probe.trouble.empty()) {
    json["taken_ms"] = milliseconds_of(probe.taken);
    json["released_ms"] = milliseconds_of(probe.released);
  }
  return json;
}

}  // namespace

std::string text_of(const Checkup& checkup, const host::Display& display) {
  const bool colours = display.colours;
  std::span<const Field<ServerHealth>> columns(kColumns);
  if (std::ranges::none_of(checkup.servers, [](const auto& server) { return server.rates.has_value(); })) {
    columns = columns.first(kWithoutRates);
  }
  Table table = table_of(columns, checkup.servers);
  if (colours) table.paint("STATE", colour_of_state);
  if (display.columns) table.fit(*display.columns, yielding_of(columns));
  std::string text =
      fmt::format("{}\n{}: {}\n", table.text(), shown(checkup.verdict.level, colours), checkup.verdict.summary);
  for (const Finding& finding : checkup.verdict.findings) {
    if (finding.level != Level::ok) text += shown(finding.level, colours) + ": ";
    text += finding.text + '\n';
  }
  for (const std::string& advice : checkup.verdict.advice) text += fmt::format("advice: {}\n", advice);
  return text;
}

std::string json_of(const Checkup& checkup) {
  const HealthVerdict& verdict = checkup.verdict;
  Json json;
  json["status"] = name_of(verdict.level);
  json["summary"] = verdict.summary;
  json["quorum"] = verdict.quorum ? Json(*verdict.quorum) : Json();
  json["leader"] = verdict.leader.empty() ? Json() : Json(verdict.leader);
  put(json, "voters", verdict.voters);
  json["serving"] = verdict.serving;
  json["following"] = verdict.following;
  put(json, "in_sync", verdict.in_sync);
  json["missing"] = verdict.missing;
  json["findings"] = Json::array();
  for (const Finding& finding : verdict.findings) {
    json["findings"].push_back({{"level", name_of(finding.level)}, {"text", finding.text}});
  }
  json["advice"] = verdict.advice;
  if (checkup.probe) json["probe"] = probe_json(*checkup.probe);
  json["servers"] = Json::array();
  for (const ServerHealth& server : checkup.servers) json["servers"].push_back(server_json(server));
  return json_line(json);
}

std::string line_of(const HealthVerdict& verdict) {
  std::string line = fmt::format("{}: {}", name_of(verdict.level), verdict.summary);
  for (const Finding& finding : verdict.findings) line += "; " + finding.text;
  return line;
}

}  // namespace zklock::command
