// SPDX-License-Identifier: Apache-2.0
// Reads what is on a holder's node: the moment since when it holds, in text, then the note.
#include "command/child/note.h"

#include "fuzz/fuzz.h"

using namespace zklock;
using fuzz::check;

namespace {

bool operator==(const command::Note& a, const command::Note& b) {
  return a.host == b.host && a.pid == b.pid && a.user == b.user && a.command == b.command && a.label == b.label &&
         a.since == b.since && a.slots == b.slots && a.token == b.token;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto [moment, text] = fuzz::moment_and_text(fuzz::text_of(data, size));
  if (const auto note = command::parse_note(text)) {
    const auto again = command::parse_note(to_json(*note));
    check(again && *again == *note, "a note that was written again says the same", text);
  }
  check(fuzz::is_safe_line(command::describe_note(text)), "a note is shown safely", text);
  const std::string holder = command::describe_holder({true, text, moment, text.size()});
  check(fuzz::is_safe_line(holder), "a holder is shown safely", holder);
  return 0;
}
