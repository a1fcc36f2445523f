// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "base/time.h"
#include "command/child/note.h"
#include "command/cli/output.h"
#include "command/cli/table.h"
#include "command/queue/queue.h"
#include "zk/path.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace zklock::command {

namespace {

using recipe::QueueItem;
using Json = nlohmann::ordered_json;

constexpr size_t kLongestText = 60;

// What gives way in a narrow terminal.
const Table::Yielding kYielding{{"PRIORITY", "POS", "ATTEMPTS", "ID", "IN-WORK", "DEAD-FOR", "AGE", "WHY"},
                                {"IN-WORK", "WHY", "ITEM"}};

std::string shown(const std::string& text) {
  return shorten(printable(text), kLongestText);
}

std::string age_since(int64_t moment_ms) {
  return format_duration(age_of(moment_ms));
}

std::string worker_of(const QueueItem& item) {
  if (item.claim_ms == 0) return "";
  const std::string who = item.claim_left ? "nobody" : shown(describe_note(item.claim));
  return fmt::format("{} for {}", who, age_since(item.claim_ms));
}

// Returns a JSON object as "name=value name=value", and any other text as it is.
std::string words_of(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return text;
  std::string words;
  for (const auto& [name, value] : json.items()) {
    words += fmt::format("{}{}={}", words.empty() ? "" : " ", name,
                         value.is_string() ? value.get<std::string>() : value.dump());
  }
  return words;
}

void put_text(Json& json, const char* key, const std::string& text) {
  if (text.empty()) return;
  const Json parsed = Json::parse(text, nullptr, false);
  json[key] = parsed.is_object() ? parsed : Json(text);
}

}  // namespace

std::string QueueReport::text_of(const std::vector<QueueItem>& items) {
  std::string text;
  if (json_) {
    for (const QueueItem& item : items) text += line_of(item);
    return text;
  }
  const bool first = listed_ == 0;
  Table table(dead_ ? std::vector<std::string>{"POS", "ID", "PRIORITY", "DEAD-FOR", "WHY", "ITEM"}
                    : std::vector<std::string>{"POS", "ID", "PRIORITY", "AGE", "ATTEMPTS", "IN-WORK", "ITEM"});
  for (const QueueItem& item : items) table.add(row_of(item));
  if (columns_) fit(table);
  text = table.text();
  return first ? text : text.substr(text.find('\n') + 1);
}

void QueueReport::fit(Table& table) {
  if (heads_.empty()) {
    table.fit(*columns_, kYielding);
    heads_ = table.heads();
  } else {
    table.keep(heads_);
    table.fit(*columns_, {{}, kYielding.shortened});
  }
}

std::vector<std::string> QueueReport::row_of(const QueueItem& item) {
  std::vector<std::string> row = {fmt::format("{}", ++listed_), recipe::id_of(item.path),
                                  fmt::format("{}", recipe::segment_of(item.path).priority),
                                  age_since(item.stat.created_ms)};
  if (dead_) {
    row.push_back(shown(words_of(item.why)));
  } else {
    row.push_back(fmt::format("{}", recipe::attempts_of(item.stat)));
    row.push_back(worker_of(item));
  }
  row.push_back(shown(item.data));
  return row;
}

std::string QueueReport::line_of(const QueueItem& item) {
  Json json;
  json["position"] = ++listed_;
  json["id"] = recipe::id_of(item.path);
  json["priority"] = recipe::segment_of(item.path).priority;
  json[dead_ ? "died" : "enqueued"] = format_utc(item.stat.created_ms);
  if (!dead_) json["attempts"] = recipe::attempts_of(item.stat);
  if (item.claim_ms != 0) json["claimed"] = format_utc(item.claim_ms);
  if (item.claim_left) json["leftover"] = true;
  put_text(json, "worker", item.claim);
  put_text(json, "why", item.why);
  json["size"] = item.stat.data_length;
  json["begins"] = item.data;
  return json_line(json);
}

}  // namespace zklock::command
