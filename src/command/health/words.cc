// SPDX-License-Identifier: Apache-2.0
#include "command/health/words.h"

#include "base/text.h"
#include "command/cli/json_line.h"
#include "command/health/word_json.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace zklock::command {

namespace {

using Json = nlohmann::ordered_json;
using zk::WordReply;
using zk::WordResult;

constexpr size_t kLongestQuote = 60;

std::string printable_lines(std::string_view text) {
  std::string shown;
  for (const std::string_view line : split(text, '\n')) {
    if (!shown.empty() || line.data() != text.data()) shown += '\n';
    bool first = true;
    for (const std::string_view cell : split(line, '\t')) {
      shown += (first ? "" : "\t") + printable(cell);
      first = false;
    }
  }
  return shown;
}

void end_line(std::string& text) {
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
}

std::string join(const std::vector<Asked>& asked, std::string (*shown)(std::string_view)) {
  std::string joined;
  for (const auto& [server, reply] : asked) {
    if (reply.result != WordResult::answered) continue;
    if (!joined.empty()) joined += '\n';
    joined += fmt::format("==> {} <==\n{}", to_string(server), shown(reply.text));
    end_line(joined);
  }
  return joined;
}

std::string as_it_is(std::string_view text) {
  return std::string(text);
}

// What the first bytes tell of who it is.
std::string quote(const std::string& text) {
  if (text.starts_with('\x15')) return "TLS; the port for connections without it is another one";
  return fmt::format("'{}'", shorten(printable(text.substr(0, kLongestQuote)), kLongestQuote));
}

std::string remedy(const WordReply& reply) {
  switch (reply.result) {
    case WordResult::answered:
      return "";
    case WordResult::not_allowed:
      return fmt::format("set 4lw.commands.whitelist=srvr,{} in its zoo.cfg, beside what it has there, and restart it",
                         reply.word);
    case WordResult::not_serving:
      return "it is starting, or has no quorum; zklock health tells how the others are";
    case WordResult::refused:
      return "start the server, or name the right port";
    case WordResult::unreachable:
      return "look at the host and the network";
    case WordResult::unknown_host:
      return "look at the name and the resolver";
    case WordResult::no_answer:
      return reply.reason == "no connection"
                 ? "look whether the host is up and no firewall is in the way"
                 : "look whether its process hangs or is not ZooKeeper at all, or give it longer with -w";
    case WordResult::closed:
      return reply.word == "hash" ? "it has no digests yet, or is older than 3.6 and does not know the word"
                                  : "it does not know the word, has too many connections from here "
                                    "(maxClientCnxns), wants TLS, or is only starting";
    case WordResult::cut_short:
      return "ask again, with a longer -w if need be";
    case WordResult::foreign:
      return "name a client port of ZooKeeper";
  }
  return "";
}

}  // namespace

std::string text_of(const std::vector<Asked>& asked) {
  if (asked.size() > 1) return join(asked, as_it_is);
  const WordReply& reply = asked.front().reply;
  return reply.result == WordResult::answered ? reply.text : "";
}

std::string text_for_terminal(const std::vector<Asked>& asked) {
  if (asked.size() > 1) return join(asked, printable_lines);
  const WordReply& reply = asked.front().reply;
  std::string text = reply.result == WordResult::answered ? printable_lines(reply.text) : "";
  end_line(text);
  return text;
}

std::string json_of(const std::vector<Asked>& asked) {
  std::string lines;
  for (const auto& [server, reply] : asked) {
    Json json;
    json["server"] = to_string(server);
    json["word"] = reply.word;
    json["state"] = name_of(reply.result);
    json["milliseconds"] = std::chrono::duration<double, std::milli>(reply.took).count();
    if (reply.result == WordResult::answered) {
      Json structure = structure_of(reply.word, reply.text);
      const char* key = structure.is_null() ? "text" : "reply";
      json[key] = structure.is_null() ? Json(reply.text) : std::move(structure);
    } else {
      json["reason"] = trouble_of(reply);
    }
    lines += json_line(json);
  }
  return lines;
}

std::string trouble_of(const WordReply& reply) {
  switch (reply.result) {
    case WordResult::answered:
      return "";
    case WordResult::not_allowed:
      return fmt::format("{} is not in its whitelist", reply.word);
    case WordResult::not_serving:
      return "up, but not serving";
    case WordResult::refused:
      return "connection refused";
    case WordResult::unreachable:
      return fmt::format("not reached: {}", printable(reply.reason));
    case WordResult::unknown_host:
      return fmt::format("name not resolved: {}", printable(reply.reason));
    case WordResult::no_answer:
      return fmt::format("no answer in {}: {}", format_duration(reply.took), printable(reply.reason));
    case WordResult::closed:
      return "closed without a word";
    case WordResult::cut_short:
      return fmt::format("the reply was cut short after {} bytes{}{}", reply.text.size(),
                         reply.reason.empty() ? "" : ": ", printable(reply.reason));
    case WordResult::foreign:
      return fmt::format("what answers is not ZooKeeper: {}", quote(reply.text));
  }
  return "";
}

std::string advice_on(const Asked& asked) {
  return fmt::format("{}: {}: {}", to_string(asked.server), trouble_of(asked.reply), remedy(asked.reply));
}

ExitStatus status_of(const std::vector<Asked>& asked) {
  ExitStatus status = ExitStatus::done;
  for (const Asked& one : asked) {
    if (one.reply.result == WordResult::answered) continue;
    if (one.reply.result != WordResult::not_allowed) return ExitStatus::unavailable;
    status = ExitStatus::refused;
  }
  return status;
}

}  // namespace zklock::command
