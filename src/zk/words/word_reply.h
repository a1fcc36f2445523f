// SPDX-License-Identifier: Apache-2.0
// Replies to four-letter words: what a server may answer to a word, what that means, and what it shows of the server.
// No reply says where it ends, so each word has signs of a complete reply. A reply that is cut after the last sign is
// not noticed. The replies of ZooKeeper 3.4 to 3.9 and of ClickHouse Keeper are known. Unknown lines are kept or
// ignored, never reported. This code is pure.
#pragma once

#include "base/time.h"
#include "zk/ensemble.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zklock::zk {

enum class WordResult {
  answered,             // a proper, complete reply
  not_allowed,          // the word is not in the server's whitelist
  not_serving,          // the server is up, but has no quorum
  refused,              // no program listens on the port
  unreachable,          // the host cannot be reached
  unknown_host,         // the name has no address
  no_answer,            // not a byte came in time
  closed,               // the connection was closed without a reply
  cut_short,            // only the beginning of a reply came
  foreign,              // something that no ZooKeeper server sends
  no_tls,               // TLS could not be agreed on, or we do not accept the server's certificate
  certificate_refused,  // the server does not accept our certificate, or requires one
};

// Returns the name for programs: "not-serving".
const char* name_of(WordResult result);

struct WordReply {
  Server server;
  std::string word;
  WordResult result;
  std::string text;    // as received
  std::string reason;  // the system's error, or what else is known; may be empty
  Duration took{};
  std::string remedy = {};  // what to do, if the result alone does not show it
};

// Returns what `text` is, after which the server closed the connection: answered, not_allowed, not_serving, closed,
// cut_short or foreign. Any reply to a word that is not known here is proper.
WordResult judge_reply(std::string_view word, std::string_view text);

// Returns the same for text after which the server did not close the connection in time.
WordResult judge_unended(std::string_view word, std::string_view text);

// Lines with a name and a value each, in the reply's order.
struct Fields {
  std::vector<std::pair<std::string, std::string>> items;

  // Parses the lines of `text` that contain `separator`, and trims spaces around names and values.
  static Fields parse(std::string_view text, char separator);

  const std::string* find(std::string_view name) const;
  // Returns no value if the field is missing or no whole number. It also accepts the forms of servers with a metrics
  // provider: "2.0", "1.2E3".
  std::optional<int64_t> number(std::string_view name) const;
};

struct Latency {
  double min = 0;
  double average = 0;
  double max = 0;
};

// The reply to srvr, and the last part of the reply to stat. What the reply does not contain is empty.
struct ServerStatus {
  std::string version;  // "3.8.0-abc, built on ..."
  std::optional<Latency> latency_ms;
  std::optional<int64_t> received;
  std::optional<int64_t> sent;
  std::optional<int64_t> connections;
  std::optional<int64_t> outstanding;
  std::string zxid;  // "0x100000002"; ClickHouse: "34"
  std::string mode;  // "leader"
  std::optional<int64_t> nodes;
};

ServerStatus parse_status(std::string_view text);

// Parses "0/0.75/12"; fractions occur from 3.6 on.
std::optional<Latency> parse_latency(std::string_view text);

// Parses "0x100000002" or "34".
std::optional<uint64_t> parse_zxid(std::string_view text);

// Returns the number of voters in the lines "server.N=…:participant" of conf; no value if there are none (before 3.5).
std::optional<int64_t> voters_in(const Fields& conf);

// Returns whether conf has an observer on `host`, in "server.N=HOST:…:observer", and no voter.
bool has_only_observer(const Fields& conf, std::string_view host);

}  // namespace zklock::zk
