// SPDX-License-Identifier: Apache-2.0
// Reads what one server says of itself, and finds what of it cannot be understood. Pure.
#include "base/text.h"
#include "command/health/health.h"
#include "command/health/words.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace zklock::command {

using zk::WordReply;
using zk::WordResult;

namespace {

constexpr size_t kShownValue = 40;

// The values that count for the verdict.
constexpr const char* kCounts[] = {"zk_learners",         "zk_followers",   "zk_synced_observers",
                                   "zk_synced_followers", "zk_quorum_size", "zk_synced_non_voting_followers"};
constexpr const char* kSettings[] = {"minSessionTimeout", "maxSessionTimeout", "tickTime"};

std::string unread_value(const zk::Fields& fields, const char* name) {
  return fmt::format("{} is '{}'", name, shorten(printable(*fields.find(name)), kShownValue));
}

}  // namespace

ServerHealth ServerHealth::of(const std::vector<WordReply>& replies) {
  ServerHealth health;
  health.address = to_string(replies.front().server);
  for (const WordReply& reply : replies) {
    const bool answered = reply.result == WordResult::answered;
    const bool lost = !answered && reply.result != WordResult::not_allowed;
    if (lost && reply.word != "srvr") health.lost.push_back(fmt::format("{}: {}", reply.word, trouble_of(reply)));
    if (reply.word == "srvr") {
      health.result = reply.result;
      health.took = reply.took;
      health.trouble = trouble_of(reply);
      if (answered) health.status = zk::parse_status(reply.text);
    } else if (reply.word == "mntr") {
      health.mntr_trouble = trouble_of(reply);
      if (answered) health.mntr = zk::Fields::parse(reply.text, '\t');
      health.voters = count_in(health.mntr, "zk_quorum_size");
    } else if (reply.word == "conf") {
      if (answered) health.conf = zk::Fields::parse(reply.text, '=');
      if (!health.voters) health.voters = zk::voters_in(health.conf);
    }
  }
  if (health.result == WordResult::answered && health.role() == Role::none) {
    health.trouble = fmt::format("its mode is '{}'", printable(health.status.mode));
  }
  return health;
}

Role ServerHealth::role() const {
  if (result != WordResult::answered) return Role::none;
  if (status.mode == "leader") return Role::leader;
  if (status.mode == "follower") return Role::follower;
  if (status.mode == "observer") return Role::observer;
  if (status.mode == "standalone") return Role::standalone;
  return status.mode == "read-only" ? Role::read_only : Role::none;
}

std::string state_of(const ServerHealth& health) {
  if (health.serves()) return "serving";
  if (health.role() == Role::read_only) return "read-only";
  return health.result == WordResult::answered ? "strange" : name_of(health.result);
}

bool ServerHealth::weighs_voters() const {
  return std::ranges::any_of(conf.items, [](const auto& item) {
    return item.first.starts_with("group.") || item.first.starts_with("weight.");
  });
}

std::vector<std::string> ServerHealth::unread() const {
  std::vector<std::string> unread = lost;
  for (const char* name : kCounts) {
    if (mntr.find(name) && !count_in(mntr, name)) unread.push_back(unread_value(mntr, name));
  }
  for (const char* name : kSettings) {
    if (conf.find(name) && !conf.number(name)) unread.push_back(unread_value(conf, name));
  }
  return unread;
}

std::optional<int64_t> count_in(const zk::Fields& mntr, std::string_view name) {
  const auto count = mntr.number(name);
  return count && *count <= std::numeric_limits<int32_t>::max() ? count : std::nullopt;
}

}  // namespace zklock::command
