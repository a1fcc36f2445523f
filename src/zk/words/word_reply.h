// SPDX-License-Identifier: Apache-2.0
// Four-letter words: what a server may answer to one, and what that means. No reply says where it ends, so each word
// has signs by which a whole one is known; a cut just behind the last of them stays unnoticed.
#pragma once

#include "base/time.h"
#include "zk/ensemble.h"

#include <string>
#include <string_view>

namespace zklock::zk {

enum class WordResult {
  answered,      // a proper reply, whole
  not_allowed,   // the word is not in the server's whitelist
  not_serving,   // the server is up, but has no quorum
  refused,       // nobody listens at the port
  unreachable,   // the host
  unknown_host,  // the name has no address
  no_answer,     // not a byte in time
  closed,        // without a word
  cut_short,     // the beginning of a reply
  foreign,       // something that no ZooKeeper says
};

// "not-serving": for programs.
const char* name_of(WordResult result);

struct WordReply {
  std::string word;
  WordResult result;
  std::string text;    // as it came
  std::string reason;  // of the system, or what is known beyond the result; may be empty
  Duration took{};
};

// What `text` is, after which the server closed: answered, not_allowed, not_serving, closed, cut_short or foreign.
// Whatever comes to a word that is not known here is proper.
WordResult judge_reply(std::string_view word, std::string_view text);

// The same for what came until the time was over.
WordResult judge_unended(std::string_view word, std::string_view text);

}  // namespace zklock::zk
