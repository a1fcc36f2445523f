// SPDX-License-Identifier: Apache-2.0
// Reads what servers report of themselves, up to the reports: for each server its answers to srvr, mntr and conf.
#include "command/health/health.h"
#include "fuzz/fuzz.h"
#include "zk/words/word_reply.h"

#include <cmath>

using namespace zklock;
using fuzz::check;

namespace {

constexpr size_t kMostServers = 5;
constexpr size_t kWords = 3;

command::Checkup look_at(const std::vector<std::string>& replies) {
  command::Checkup look;
  for (size_t at = 0; at < replies.size() && look.servers.size() < kMostServers; at += kWords) {
    std::vector<zk::WordReply> said;
    const auto port = static_cast<uint16_t>(2181 + look.servers.size());
    for (size_t i = 0; i < kWords && at + i < replies.size(); ++i) {
      const std::string word(std::string_view("srvrmntrconf").substr(4 * i, 4));
      const std::string& text = replies[at + i];
      said.push_back({{"host", port}, word, zk::judge_reply(word, text), text, "", std::chrono::milliseconds(1)});
    }
    auto& servers = look.servers;
    servers.push_back(command::ServerHealth::of(said));
    servers.back().rates = command::rates_between(servers.front(), servers.back(), std::chrono::seconds(1));
  }
  look.verdict = command::judge_health(look.servers, {std::chrono::milliseconds(10), 5, 3}, std::nullopt);
  return look;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input = fuzz::text_of(data, size);
  if (const auto latency = zk::parse_latency(input)) {
    check(std::isfinite(latency->min) && std::isfinite(latency->average) && std::isfinite(latency->max),
          "latencies are numbers", input);
  }
  zk::parse_zxid(input);
  const command::Checkup look = look_at(fuzz::pieces_of(input));
  check(fuzz::is_safe_text(text_of(look)), "the table is safe", text_of(look));
  check(fuzz::is_safe_text(json_of(look)), "as JSON it is safe", json_of(look));
  const std::string line = nagios_of(look, {});
  check(line.ends_with('\n') && fuzz::is_safe_line(line.substr(0, line.size() - 1)), "a plugin's line is safe", line);
  check(fuzz::is_safe_text(prometheus_of(look)), "samples are safe", prometheus_of(look));
  return 0;
}
