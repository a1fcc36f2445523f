// SPDX-License-Identifier: Apache-2.0
// The replies of words.h as JSON.
#include "base/text.h"
#include "command/cli/output.h"
#include "command/health/words.h"

#include <charconv>
#include <unordered_map>

#include <nlohmann/json.hpp>

namespace zklock::command {

namespace {

using std::string_view;
using Json = nlohmann::ordered_json;

// An object with very many members, in their order. The JSON library would search all of them for each new one. If a
// name comes twice, the last value counts.
class JsonMembers {
 public:
  Json& at(string_view name) {
    const auto [place, fresh] = places_.try_emplace(std::string(name), members_.size());
    if (fresh) members_.emplace_back(std::string(name), Json());
    return (members_.begin() + static_cast<std::ptrdiff_t>(place->second))->second;
  }
  Json take() { return Json(std::move(members_)); }

 private:
  Json::object_t members_;
  std::unordered_map<std::string, size_t> places_;
};

// Reads "queued=0,recved=1,sent=0".
JsonMembers counters_of(string_view text) {
  JsonMembers members;
  for (const string_view part : split(text, ',')) {
    const size_t at = part.find('=');
    if (at != string_view::npos) members.at(part.substr(0, at)) = value_of(part.substr(at + 1));
  }
  return members;
}

// Reads lines like " /10.0.0.7:40544[1](queued=0,recved=1,sent=0)". The brackets hold what the client's socket waits
// for.
Json clients_of(string_view text) {
  Json clients = Json::array();
  for (string_view line : split(text, '\n')) {
    const size_t open = line.find('(');
    if (!line.starts_with(' ') || open == string_view::npos || !line.ends_with(')')) continue;
    JsonMembers client = counters_of(line.substr(open + 1, line.size() - open - 2));
    line = line.substr(1, open - 1);
    if (line.starts_with('/')) line.remove_prefix(1);
    if (line.ends_with(']')) line = line.substr(0, line.rfind('['));
    client.at("address") = std::string(line);
    clients.push_back(client.take());
  }
  return clients;
}

// Reads a reply to srvr, or to stat, which has the clients too.
Json status_json(string_view word, string_view text) {
  const zk::ServerStatus status = zk::parse_status(text);
  Json json;
  put_status(json, status, {"version"});
  json["read_only"] = text.find("\nREAD-ONLY mode") != string_view::npos;
  put_status(json, status, {"latency_ms", "received", "sent", "connections", "outstanding", "zxid", "mode", "nodes"});
  const zk::Fields fields = zk::Fields::parse(text, ':');
  const std::string* proposals = fields.find("Proposal sizes last/min/max");
  const auto sizes = split(proposals ? string_view(*proposals) : string_view(), '/');
  if (sizes.size() == 3) {
    json["proposal_sizes"] = {{"last", value_of(sizes[0])}, {"min", value_of(sizes[1])}, {"max", value_of(sizes[2])}};
  }
  if (word == "stat") json["clients"] = clients_of(text);
  return json;
}

Json as_text(string_view text) {
  return std::string(text);
}

Json fields_json(string_view text, char separator, Json (*read)(string_view) = value_of) {
  JsonMembers members;
  for (const auto& [name, value] : zk::Fields::parse(text, separator).items) {
    if (!name.empty()) members.at(name) = read(value);
  }
  return members.take();
}

Json conf_json(string_view text) {
  Json json = fields_json(text, '=');
  // This is the version of the membership: hexadecimal digits without a prefix, so it is kept as text.
  const zk::Fields fields = zk::Fields::parse(text, '=');
  if (const std::string* version = fields.find("version")) json["version"] = *version;
  return json;
}

// Reads "3 connections watching 5 paths" and "Total watches:7".
Json watch_summary_of(string_view text) {
  const auto lines = split(text, '\n');
  const auto words = split(lines[0], ' ');
  Json json = Json::object();
  if (words.size() == 5) json = {{"connections", value_of(words[0])}, {"paths", value_of(words[3])}};
  const zk::Fields total = zk::Fields::parse(text, ':');
  if (const std::string* watches = total.find("Total watches")) json["watches"] = value_of(*watches);
  return json;
}

// Reads head lines, and below each the lines that belong to it, after a tab: sessions with their paths, or paths with
// their sessions.
Json lists_of(string_view text) {
  JsonMembers members;
  string_view head;
  for (const string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    if (!line.starts_with('\t')) head = line;
    Json& list = members.at(head);
    if (!list.is_array()) list = Json::array();
    if (line.starts_with('\t')) list.push_back(std::string(line.substr(1)));
  }
  return members.take();
}

}  // namespace

std::string json_of(const std::vector<zk::WordReply>& replies) {
  std::string lines;
  for (const zk::WordReply& reply : replies) {
    Json json;
    json["server"] = to_string(reply.server);
    json["word"] = reply.word;
    json["state"] = name_of(reply.result);
    json["milliseconds"] = milliseconds_of(reply.took);
    if (reply.result == zk::WordResult::answered) {
      Json structure = structure_of(reply.word, reply.text);
      const char* key = structure.is_null() ? "text" : "reply";
      json[key] = structure.is_null() ? Json(reply.text) : std::move(structure);
    } else {
      json["reason"] = trouble_of(reply);
    }
    lines += json_line(json);
  }
  return lines;
}

Json value_of(string_view text) {
  int64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (error == std::errc() && end == text.data() + text.size()) return whole;
  // A word like "inf" or "1e5" in a text is seldom a number. Java writes every number like 0.75 or 1.2E7 with a point.
  const auto real = text.find('.') == string_view::npos ? std::nullopt : parse_real(text);
  return real ? Json(*real) : Json(std::string(text));
}

Json structure_of(string_view word, string_view text) {
  if (text.ends_with('\n') && (word == "ruok" || word == "isro" || word == "gtmk")) text.remove_suffix(1);
  if (word == "ruok" || word == "isro") return as_text(text);
  if (word == "gtmk") return value_of(text);
  if (word == "srvr" || word == "stat") return status_json(word, text);
  if (word == "mntr") return fields_json(text, '\t');
  if (word == "conf") return conf_json(text);
  if (word == "envi") return fields_json(text, '=', as_text);
  if (word == "cons") return clients_of(text);
  if (word == "wchs") return watch_summary_of(text);
  if (word == "wchc" || word == "wchp") return lists_of(text);
  if (word == "dirs") return fields_json(text, ':');
  if (word == "hash") return fields_json(text, ':', as_text);
  return nullptr;
}

void put_status(Json& json, const zk::ServerStatus& status, std::initializer_list<const char*> members) {
  Json all;
  put(all, "version", status.version);
  if (const auto& latency = status.latency_ms) {
    all["latency_ms"] = {{"min", latency->min}, {"avg", latency->average}, {"max", latency->max}};
  }
  put(all, "received", status.received);
  put(all, "sent", status.sent);
  put(all, "connections", status.connections);
  put(all, "outstanding", status.outstanding);
  put(all, "zxid", status.zxid);
  put(all, "mode", status.mode);
  put(all, "nodes", status.nodes);
  for (const char* member : members) {
    if (all.contains(member)) json[member] = std::move(all[member]);
  }
}

}  // namespace zklock::command
