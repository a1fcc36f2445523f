// SPDX-License-Identifier: Apache-2.0
#include "command/note.h"

#include "base/text.h"
#include "base/time.h"

#include <chrono>
#include <ctime>
#include <pwd.h>
#include <unistd.h>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace zklock::command {

namespace {

constexpr size_t kShownText = 80;

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

std::string user_name() {
  const passwd* user = getpwuid(geteuid());
  return user ? user->pw_name : fmt::format("{}", geteuid());
}

std::string describe_note(const std::string& data) {
  const auto note = nlohmann::json::parse(data, nullptr, false);
  if (note.is_object() && note.contains("host") && note["host"].is_string()) {
    const auto text = [&](const char* key) {
      const auto found = note.find(key);
      return found != note.end() && found->is_string() ? printable(found->get<std::string>()) : std::string();
    };
    const auto pid = note.find("pid");
    const int64_t number = pid != note.end() && pid->is_number_integer() ? pid->get<int64_t>() : 0;
    const std::string label = text("label");
    return fmt::format("{} (pid {}{}{})", shorten(text("host"), kShownText), number, label.empty() ? "" : ", ",
                       shorten(label, kShownText));
  }
  if (data.empty()) return "another program";
  return fmt::format("'{}'", shorten(printable(data), kShownText));
}

}  // namespace

std::string make_note(const std::string& command, const std::string& label) {
  nlohmann::ordered_json note;
  note["host"] = host_name();
  note["pid"] = getpid();
  note["user"] = user_name();
  note["command"] = command;
  if (!label.empty()) note["label"] = label;
  note["since"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  return note.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string describe_holder(const recipe::Holder& holder) {
  if (!holder.known) return "it is busy, and ZooKeeper does not say by whom";
  std::string text = "held by " + describe_note(holder.data);
  if (holder.since_ms == 0) return text;
  // The server's clock against ours: good enough to read.
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const Duration held = now - std::chrono::milliseconds(holder.since_ms);
  return text + " for " + format_duration(std::max(held, Duration::zero()));
}

}  // namespace zklock::command
