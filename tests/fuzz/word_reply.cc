// SPDX-License-Identifier: Apache-2.0
// Reads replies to four-letter words: the word, then a server's answer.
#include "zk/words/word_reply.h"

#include "command/cli/output.h"
#include "command/health/health.h"
#include "command/health/words.h"
#include "fuzz/fuzz.h"

#include <nlohmann/json.hpp>

using namespace zklock;
using fuzz::check;
using zk::WordResult;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input = fuzz::text_of(data, size);
  const std::string word(input.substr(0, 4));
  const bool letters = std::all_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  if (word.size() != 4 || !letters) return 0;  // zklock sends no other
  const std::string text(input.substr(word.size()));
  const WordResult result = zk::judge_reply(word, text);
  check((result == WordResult::closed) == text.empty(), "nothing, and nothing else, is closed", text);
  const WordResult unended = zk::judge_unended(word, text);
  check(unended != WordResult::answered && unended != WordResult::closed, "without its end it is no answer", text);

  const std::string structure = command::json_line(command::structure_of(word, text));
  check(fuzz::is_safe_text(structure), "as JSON it is safe", structure);
  command::ServerHealth health;
  health.busiest = command::busiest_in(text);
  health.conf.items.emplace_back("maxClientCnxns", "1");
  for (const std::string& advice : command::advise({health}, 0)) {
    check(fuzz::is_safe_line(advice), "advice on a client is a safe line", advice);
  }
  for (const WordResult shown : {result, unended}) {
    const zk::WordReply asked{{"h", 2181}, word, shown, text, "", Duration(0)};
    check(fuzz::is_safe_line(command::trouble_of(asked)), "what is wrong with it is said in a safe line", text);
    check(fuzz::is_safe_line(command::advice_on(asked)), "and so is what to do", text);
    check(fuzz::is_safe_text(command::json_of({asked, asked})), "several as JSON are safe", text);
    std::string seen = command::text_for_terminal({asked});
    std::erase(seen, '\t');  // it is harmless
    check(fuzz::is_safe_text(seen), "at a terminal it is safe", seen);
  }
  return 0;
}
