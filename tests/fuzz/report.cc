// SPDX-License-Identifier: Apache-2.0
// Prints lists of what others wrote on their nodes: a moment, which also chooses the node's kind, then the data.
#include "command/group/group.h"
#include "command/lock/locks.h"
#include "command/queue/queue.h"
#include "fuzz/fuzz.h"

using namespace zklock;
using fuzz::check;

namespace {

void check_lock(const std::string& text, const zk::Stat& stat) {
  recipe::Participant participant;
  participant.contender = {text, recipe::Family::standard, recipe::LockMode::exclusive, 1};
  participant.node = "/l/" + text;
  participant.data = text;
  participant.stat = stat;
  participant.holding = true;
  const recipe::Survey survey{"/l", recipe::PathUse::lock, {participant}, stat.created_ms};
  check(fuzz::is_safe_text(command::table_of({survey})), "the table is safe", text);
  check(fuzz::is_safe_text(command::json_of(survey)), "as JSON it is safe", text);
  check(fuzz::is_safe_text(command::table_of_holders(survey.holders())), "the holders' table is safe", text);
}

void check_queue(const std::string& text, const zk::Stat& stat) {
  const recipe::QueueItem item{"/q/items/100-0000000007/" + text, stat, text, text, stat.created_ms, true, text};
  for (const bool dead : {false, true}) {
    for (const bool json : {false, true}) {
      command::QueueReport report(dead, json);
      check(fuzz::is_safe_text(report.text_of({item})), "a queue's list is safe", text);
    }
  }
}

void check_group(const std::string& text, const zk::Stat& stat) {
  const recipe::Members members{{text, {text, stat}}};
  check(fuzz::is_safe_text(command::table_of("/g", members)), "a group's table is safe", text);
  for (const command::Format format : {command::Format::text, command::Format::json}) {
    check(fuzz::is_safe_text(text_of("/g", members, format)), "a group's list is safe", text);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto [moment, text] = fuzz::moment_and_text(fuzz::text_of(data, size));
  zk::Stat stat;
  stat.created_ms = moment;
  stat.ephemeral_owner = moment;
  stat.version = stat.child_version = stat.children = static_cast<int32_t>(moment);
  switch (static_cast<uint64_t>(moment) % 3) {
    case 0: check_lock(text, stat); break;
    case 1: check_queue(text, stat); break;
    default: check_group(text, stat);
  }
  return 0;
}
