// SPDX-License-Identifier: Apache-2.0
#include "command/child/note.h"

#include "base/text.h"
#include "base/time.h"

#include <pwd.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace zklock::command {

namespace {

constexpr size_t kShownText = 80;

std::string user_name() {
  const passwd* user = getpwuid(geteuid());
  return user ? user->pw_name : fmt::format("{}", geteuid());
}

}  // namespace

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

Note own_note(const std::string& command, const std::string& label) {
  return {host_name(), getpid(), user_name(), command, label, utc_now(), 0};
}

std::string to_json(const Note& note) {
  nlohmann::ordered_json json;
  json["host"] = note.host;
  json["pid"] = note.pid;
  json["user"] = note.user;
  json["command"] = note.command;
  if (!note.label.empty()) json["label"] = note.label;
  json["since"] = note.since;
  if (note.slots != 0) json["slots"] = note.slots;
  if (note.token != 0) json["token"] = note.token;
  if (note.queue != 0) json["queue"] = note.queue;
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::optional<Note> parse_note(const std::string& data) {
  const auto json = nlohmann::json::parse(data, nullptr, false);
  if (!json.is_object() || !json.contains("host") || !json["host"].is_string()) return std::nullopt;
  const auto text = [&](const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  const auto number = [&](const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_number_integer() ? found->get<int64_t>() : 0;
  };
  return Note{text("host"),  number("pid"),   text("user"),    text("command"), text("label"),
              text("since"), number("slots"), number("token"), number("queue")};
}

std::string describe_note(const std::string& data) {
  if (data.empty()) return "another program";
  if (data == recipe::kRevoked) return "somebody who was asked to let go";
  const auto note = parse_note(data);
  if (!note) return fmt::format("'{}'", shorten(printable(data), kShownText));
  return fmt::format("{} (pid {}{}{})", shorten(printable(note->host), kShownText), note->pid,
                     note->label.empty() ? "" : ", ", shorten(printable(note->label), kShownText));
}

std::string describe_holder(const recipe::Holder& holder) {
  const std::string all = holder.slots > 1 ? fmt::format("its {} slots are taken", holder.slots) : "";
  if (!holder.known) return all.empty() ? "it is busy, and ZooKeeper does not say by whom" : all;
  std::string text = (all.empty() ? "held by " : all + ", the first by ") + describe_note(holder.data);
  if (holder.since_ms == 0) return text;
  return text + " for " + format_duration(age_of(holder.since_ms));
}

}  // namespace zklock::command
