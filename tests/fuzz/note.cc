// SPDX-License-Identifier: Apache-2.0
// What stands on somebody's node: the moment since when, in text, then the note; shown as a holder and in the table.
#include "command/note.h"

#include "command/report.h"
#include "fuzz/fuzz.h"

using namespace zklock;
using fuzz::check;

namespace {

bool operator==(const command::Note& a, const command::Note& b) {
  return a.host == b.host && a.pid == b.pid && a.user == b.user && a.command == b.command && a.label == b.label &&
         a.since == b.since && a.slots == b.slots && a.token == b.token;
}

// From the first eight bytes.
int64_t number_of(std::string_view bytes) {
  uint64_t number = 0;
  for (const char byte : bytes.substr(0, 8)) number = number << 8 | static_cast<unsigned char>(byte);
  return static_cast<int64_t>(number);
}

recipe::Survey survey_of(const std::string& data, int64_t moment) {
  recipe::Participant participant;
  participant.contender = {"x-0000000001", recipe::Family::standard, recipe::Kind::exclusive, 1};
  participant.node = "/l/x-0000000001";
  participant.data = data;
  participant.stat.created_ms = moment;
  participant.stat.ephemeral_owner = moment;
  participant.holding = true;
  return {"/l", recipe::Use::lock, {participant}, moment};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input = fuzz::text_of(data, size);
  const int64_t moment = number_of(input);
  const std::string text(input.substr(std::min<size_t>(8, size)));
  if (const auto note = command::parse_note(text)) {
    const auto again = command::parse_note(to_json(*note));
    check(again && *again == *note, "a note that was written again says the same", text);
  }
  check(fuzz::is_safe_line(command::describe_note(text)), "a note is shown safely", text);
  const std::string holder = command::describe_holder({true, text, moment, static_cast<size_t>(number_of(text))});
  check(fuzz::is_safe_line(holder), "a holder is shown safely", holder);
  const recipe::Survey survey = survey_of(text, moment);
  check(fuzz::is_safe_text(command::table_of({survey})), "the table is safe", text);
  check(fuzz::is_safe_text(command::json_of(survey)), "as JSON it is safe", text);
  check(fuzz::is_safe_text(command::table_of_holders(survey.holders())), "the holders' table is safe", text);
  return 0;
}
