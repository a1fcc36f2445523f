// SPDX-License-Identifier: Apache-2.0
#include "command/health/word_json.h"

#include "base/text.h"
#include "command/cli/json_member.h"
#include "zk/words/word_reply.h"

#include <charconv>
#include <unordered_map>

namespace zklock::command {

namespace {

using Json = nlohmann::ordered_json;
using std::string_view;
using zk::Fields;

// An object of very many members in their order; the JSON library would look through all of them for each. Of two of
// the same name the last one counts.
class Members {
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

// "queued=0,recved=1,sent=0"
Members counters_of(string_view text) {
  Members members;
  for (const string_view part : split(text, ',')) {
    const size_t at = part.find('=');
    if (at != string_view::npos) members.at(part.substr(0, at)) = value_of(part.substr(at + 1));
  }
  return members;
}

// " /10.0.0.7:40544[1](queued=0,recved=1,sent=0)" a line; the brackets hold what the client's socket waits for.
Json clients_of(string_view text) {
  Json clients = Json::array();
  for (string_view line : split(text, '\n')) {
    const size_t open = line.find('(');
    if (!line.starts_with(' ') || open == string_view::npos || !line.ends_with(')')) continue;
    Members client = counters_of(line.substr(open + 1, line.size() - open - 2));
    line = line.substr(1, open - 1);
    if (line.starts_with('/')) line.remove_prefix(1);
    if (line.ends_with(']')) line = line.substr(0, line.rfind('['));
    client.at("address") = std::string(line);
    clients.push_back(client.take());
  }
  return clients;
}

Json status_of(string_view text) {
  const zk::ServerStatus status = zk::parse_status(text);
  const Fields fields = Fields::parse(text, ':');
  Json json;
  put(json, "version", status.version);
  json["read_only"] = text.find("\nREAD-ONLY mode") != string_view::npos;
  put(json, "latency_ms", status.latency_ms);
  put(json, "received", status.received);
  put(json, "sent", status.sent);
  put(json, "connections", status.connections);
  put(json, "outstanding", status.outstanding);
  put(json, "zxid", status.zxid);
  put(json, "mode", status.mode);
  put(json, "nodes", status.nodes);
  const std::string* proposals = fields.find("Proposal sizes last/min/max");
  const auto sizes = split(proposals ? string_view(*proposals) : string_view(), '/');
  if (sizes.size() == 3) {
    json["proposal_sizes"] = {{"last", value_of(sizes[0])}, {"min", value_of(sizes[1])}, {"max", value_of(sizes[2])}};
  }
  return json;
}

enum class Values { numbers, texts };

Json fields_of(const Fields& fields, Values values) {
  Members members;
  for (const auto& [name, value] : fields.items) {
    if (!name.empty()) members.at(name) = values == Values::numbers ? value_of(value) : Json(value);
  }
  return members.take();
}

Json conf_of(string_view text) {
  const Fields fields = Fields::parse(text, '=');
  Json json = fields_of(fields, Values::numbers);
  // Of the membership, in hexadecimal digits without a sign of it.
  if (const std::string* version = fields.find("version")) json["version"] = *version;
  return json;
}

// "3 connections watching 5 paths" and "Total watches:7"
Json watch_summary_of(string_view text) {
  const auto lines = split(text, '\n');
  const auto words = split(lines[0], ' ');
  Json json = Json::object();
  if (words.size() == 5) json = {{"connections", value_of(words[0])}, {"paths", value_of(words[3])}};
  const Fields total = Fields::parse(text, ':');
  if (const std::string* watches = total.find("Total watches")) json["watches"] = value_of(*watches);
  return json;
}

// A line, and below it, behind tabs, what belongs to it: sessions with their paths, or paths with their sessions.
Json lists_of(string_view text) {
  Members members;
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

Json stat_of(string_view text) {
  Json json = status_of(text);
  json["clients"] = clients_of(text);
  return json;
}

}  // namespace

Json value_of(string_view text) {
  int64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (error == std::errc() && end == text.data() + text.size()) return whole;
  // A word like "inf" or "1e5" in a text is seldom a number; Java writes both 0.75 and 1.2E7 with a point.
  const auto real = text.find('.') == string_view::npos ? std::nullopt : parse_real(text);
  return real ? Json(*real) : Json(std::string(text));
}

Json structure_of(string_view word, string_view text) {
  if (text.ends_with('\n') && (word == "ruok" || word == "isro" || word == "gtmk")) text.remove_suffix(1);
  if (word == "ruok" || word == "isro") return std::string(text);
  if (word == "gtmk") return value_of(text);
  if (word == "srvr") return status_of(text);
  if (word == "stat") return stat_of(text);
  if (word == "mntr") return fields_of(Fields::parse(text, '\t'), Values::numbers);
  if (word == "conf") return conf_of(text);
  if (word == "envi") return fields_of(Fields::parse(text, '='), Values::texts);
  if (word == "cons") return clients_of(text);
  if (word == "wchs") return watch_summary_of(text);
  if (word == "wchc" || word == "wchp") return lists_of(text);
  if (word == "dirs") return fields_of(Fields::parse(text, ':'), Values::numbers);
  if (word == "hash") return fields_of(Fields::parse(text, ':'), Values::texts);
  return nullptr;
}

}  // namespace zklock::command
