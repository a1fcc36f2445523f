// SPDX-License-Identifier: Apache-2.0
#include "zk/words/server_status.h"

#include "base/text.h"

#include <algorithm>
#include <charconv>

namespace zklock::zk {

namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

std::string value_of(const Fields& fields, std::string_view name) {
  const std::string* value = fields.find(name);
  return value ? *value : "";
}

}  // namespace

Fields Fields::parse(std::string_view text, char separator) {
  Fields fields;
  for (const std::string_view line : split(text, '\n')) {
    const size_t at = line.find(separator);
    if (at == std::string_view::npos) continue;
    fields.items.emplace_back(trimmed(line.substr(0, at)), trimmed(line.substr(at + 1)));
  }
  return fields;
}

const std::string* Fields::find(std::string_view name) const {
  const auto found = std::find_if(items.begin(), items.end(), [&](const auto& item) { return item.first == name; });
  return found == items.end() ? nullptr : &found->second;
}

std::optional<int64_t> Fields::number(std::string_view name) const {
  const std::string* value = find(name);
  return value ? parse_number(*value) : std::nullopt;
}

ServerStatus parse_status(std::string_view text) {
  const Fields fields = Fields::parse(text, ':');
  ServerStatus status;
  const auto version = std::find_if(fields.items.begin(), fields.items.end(),
                                    [](const auto& item) { return item.first.ends_with(" version"); });
  if (version != fields.items.end()) status.version = version->second;
  status.latency_ms = parse_latency(value_of(fields, "Latency min/avg/max"));
  status.received = fields.number("Received");
  status.sent = fields.number("Sent");
  status.connections = fields.number("Connections");
  status.outstanding = fields.number("Outstanding");
  status.zxid = value_of(fields, "Zxid");
  status.mode = value_of(fields, "Mode");
  status.nodes = fields.number("Node count");
  return status;
}

std::optional<Latency> parse_latency(std::string_view text) {
  const auto parts = split(text, '/');
  if (parts.size() != 3) return std::nullopt;
  const auto min = parse_real(parts[0]);
  const auto average = parse_real(parts[1]);
  const auto max = parse_real(parts[2]);
  if (!min || !average || !max) return std::nullopt;
  return Latency{*min, *average, *max};
}

std::optional<uint64_t> parse_zxid(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  uint64_t zxid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), zxid, hexadecimal ? 16 : 10);
  const bool all = end == text.data() + text.size() && !text.empty();
  return error == std::errc() && all ? std::optional(zxid) : std::nullopt;
}

std::optional<int64_t> voters_in(const Fields& conf) {
  const auto votes = [](const auto& item) {
    return item.first.starts_with("server.") && item.second.find(":participant") != std::string::npos;
  };
  const auto count = std::count_if(conf.items.begin(), conf.items.end(), votes);
  return count == 0 ? std::nullopt : std::optional<int64_t>(count);
}

}  // namespace zklock::zk
