// SPDX-License-Identifier: Apache-2.0
// The two formats of health.h that are not for monitoring systems: the table for people, and JSON.
#include "command/cli/output.h"
#include "command/cli/table.h"
#include "command/health/health.h"
#include "command/health/words.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace zklock::command {

namespace {

using Json = nlohmann::ordered_json;
using Cells = std::vector<std::string>;

// What gives way on a narrow terminal.
const Table::Yielding kYielding{{"ZXID", "NODES", "VERSION", "MAX-MS", "CONNECTIONS", "SENT/S", "OUTSTANDING",
                                 "RECEIVED/S", "AVG-MS", "MODE", "STATE"},
                                {"SERVER"}};

template <typename Value>
std::string cell_of(const std::optional<Value>& value) {
  return value ? fmt::format("{}", *value) : "";
}

// Returns "3.8.0" for "3.8.0-abc, built on ..."; the JSON has the rest too.
std::string short_version(const std::string& version) {
  return version.substr(0, version.find_first_of("-,"));
}

Cells row_of(const ServerHealth& server) {
  const zk::ServerStatus& status = server.status;
  const auto& latency = status.latency_ms;
  return {server.address,
          state_of(server),
          status.mode,
          short_version(status.version),
          latency ? fmt::format("{:.4g}", latency->average) : "",
          latency ? fmt::format("{}", latency->max) : "",
          cell_of(status.connections),
          cell_of(status.outstanding),
          status.zxid,
          cell_of(status.nodes)};
}

host::Colour colour_of_state(const std::string& state) {
  if (state == "serving") return host::Colour::green;
  return state == "read-only" || state == "not-serving" ? host::Colour::yellow : host::Colour::red;
}

host::Colour colour_of(Level level) {
  if (level == Level::ok) return host::Colour::green;
  return level == Level::critical ? host::Colour::red : host::Colour::yellow;
}

std::string shown(Level level, host::Colours colours) {
  return host::in_colour(name_of(level), colours == host::Colours::on ? colour_of(level) : host::Colour::none);
}

std::string prefix_of(const Finding& finding, host::Colours colours) {
  return finding.level == Level::ok ? "" : fmt::format("{}: ", shown(finding.level, colours));
}

double millis(Duration span) {
  return std::chrono::duration<double, std::milli>(span).count();
}

Json json_of(const ServerHealth& server, const std::optional<Rates>& rates) {
  Json json;
  json["server"] = server.address;
  json["state"] = state_of(server);
  put(json, "reason", server.trouble);
  json["milliseconds"] = millis(server.took);
  put_status(json, server.status,
             {"mode", "version", "latency_ms", "connections", "outstanding", "received", "sent", "zxid", "nodes"});
  if (rates) json["rates"] = {{"received", rates->received}, {"sent", rates->sent}};
  put(json, "mntr_reason", server.mntr_trouble);
  return json;
}

Json json_of(const Probe& probe) {
  Json json;
  json["path"] = probe.path;
  put(json, "error", probe.trouble);
  if (probe.trouble.empty()) {
    json["taken_ms"] = millis(probe.taken);
    json["released_ms"] = millis(probe.released);
  }
  return json;
}

}  // namespace

std::string text_of(const Checkup& checkup, const host::Display& display) {
  const host::Colours colours = display.colours;
  Cells heads{"SERVER", "STATE", "MODE", "VERSION", "AVG-MS", "MAX-MS", "CONNECTIONS", "OUTSTANDING", "ZXID", "NODES"};
  const bool rated =
      std::any_of(checkup.rates.begin(), checkup.rates.end(), [](const auto& rates) { return bool(rates); });
  if (rated) heads.insert(heads.end(), {"RECEIVED/S", "SENT/S"});
  Table table(heads);
  if (colours == host::Colours::on) table.paint("STATE", colour_of_state);
  for (size_t i = 0; i < checkup.servers.size(); ++i) {
    Cells row = row_of(checkup.servers[i]);
    const auto& rates = checkup.rates[i];
    if (rated) {
      row.push_back(rates ? fmt::format("{:.1f}", rates->received) : "");
      row.push_back(rates ? fmt::format("{:.1f}", rates->sent) : "");
    }
    table.add(row);
  }
  if (display.columns) table.fit(*display.columns, kYielding);
  std::string text =
      fmt::format("{}\n{}: {}\n", table.text(), shown(checkup.verdict.level, colours), checkup.verdict.summary);
  for (const Finding& finding : checkup.verdict.findings) {
    text += fmt::format("{}{}\n", prefix_of(finding, colours), finding.text);
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
  if (checkup.probe) json["probe"] = json_of(*checkup.probe);
  json["servers"] = Json::array();
  for (size_t i = 0; i < checkup.servers.size(); ++i) {
    json["servers"].push_back(json_of(checkup.servers[i], checkup.rates[i]));
  }
  return json_line(json);
}

std::string line_of(const HealthVerdict& verdict) {
  std::string line = fmt::format("{}: {}", name_of(verdict.level), verdict.summary);
  for (const Finding& finding : verdict.findings) line += "; " + finding.text;
  return line;
}

}  // namespace zklock::command
