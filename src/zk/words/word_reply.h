// SPDX-License-Identifier: Apache-2.0
// Replies to four-letter words: what a server may answer to one, what that means, and what it says of itself in it. No
// reply says where it ends, so each word has signs by which a whole one is known; a cut just behind the last of them
// stays unnoticed. Those of ZooKeeper 3.4 to 3.9 and of ClickHouse Keeper are known; lines that are not are kept or
// passed over, never complained of. Pure.
#pragma once

#include "base/time.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zklock::zk {

enum class WordResult {
  answered,             // a proper reply, whole
  not_allowed,          // the word is not in the server's whitelist
  not_serving,          // the server is up, but has no quorum
  refused,              // nobody listens at the port
  unreachable,          // the host
  unknown_host,         // the name has no address
  no_answer,            // not a byte in time
  closed,               // without a word
  cut_short,            // the beginning of a reply
  foreign,              // something that no ZooKeeper says
  no_tls,               // TLS could not be agreed on, or we do not accept the server's certificate
  certificate_refused,  // it does not accept ours, or wants one
};

// "not-serving": for programs.
const char* name_of(WordResult result);

struct WordReply {
  std::string word;
  WordResult result;
  std::string text;    // as it came
  std::string reason;  // of the system, or what is known beyond the result; may be empty
  Duration took{};
  std::string remedy = {};  // what to do, where the result alone does not tell
};

// What `text` is, after which the server closed: answered, not_allowed, not_serving, closed, cut_short or foreign.
// Whatever comes to a word that is not known here is proper.
WordResult judge_reply(std::string_view word, std::string_view text);

// The same for what came until the time was over.
WordResult judge_unended(std::string_view word, std::string_view text);

// A name and a value a line, in the reply's order.
struct Fields {
  std::vector<std::pair<std::string, std::string>> items;

  // The lines of `text` that have `separator` in them, without spaces around either side.
  static Fields parse(std::string_view text, char separator);

  const std::string* find(std::string_view name) const;
  // Nothing if it is not there or no whole number. Also one as servers with a metrics provider write it: "2.0",
  // "1.2E3".
  std::optional<int64_t> number(std::string_view name) const;
};

struct Latency {
  double min = 0;
  double average = 0;
  double max = 0;
};

// What srvr says, and the last part of stat. What was not said is empty.
struct ServerStatus {
  std::string version;  // "3.8.0-abc, built on ..."
  std::optional<Latency> latency_ms;
  std::optional<int64_t> received;
  std::optional<int64_t> sent;
  std::optional<int64_t> connections;
  std::optional<int64_t> outstanding;
  std::string zxid;  // "0x100000002", of ClickHouse "34"
  std::string mode;  // "leader"
  std::optional<int64_t> nodes;
};

ServerStatus parse_status(std::string_view text);

// "0/0.75/12": with fractions from 3.6 on.
std::optional<Latency> parse_latency(std::string_view text);

// "0x100000002" or "34".
std::optional<uint64_t> parse_zxid(std::string_view text);

// How many voters the lines "server.N=…:participant" of conf name; nothing where there are none (before 3.5).
std::optional<int64_t> voters_in(const Fields& conf);

}  // namespace zklock::zk
