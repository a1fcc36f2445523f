// SPDX-License-Identifier: Apache-2.0
#include "command/health/words.h"

#include "base/contains.h"
#include "base/text.h"
#include "command/cli/format.h"
#include "command/cli/output.h"
#include "host/terminal.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace zklock::command {

namespace {

using namespace std::chrono_literals;
using std::string_view;
using zk::WordReply;
using zk::WordResult;
using Replies = std::vector<WordReply>;

// --- the subcommands

constexpr const char* kStatuses =
    "Exit status: 0 every server gave a proper reply; 64 usage, 69 one did not,\n"
    "74 output failed, 77 the word is not in a server's whitelist.\n";

const std::map<std::string, std::string> kWordExamples{
    {"ruok",
     "  zklock ruok zk1 zk2:2182\n  zklock ruok -q localhost || echo down\n\n"
     "imok is not health: a server without a quorum says it too. See zklock health.\n"},
    {"stat", "  zklock stat zk1\n  zklock stat --json zk1 | jq '.reply.clients | length'\n"},
    {"srvr", "  zklock srvr zk1\n  zklock -S zk1,zk2,zk3 srvr --json | jq -r .reply.mode\n"},
    {"mntr", "  zklock mntr zk1\n  zklock mntr --json | jq .reply.zk_avg_latency\n"},
    {"4lw", "  zklock 4lw conf zk1\n  zklock 4lw wchs --json | jq .reply.watches\n"},
};

constexpr Duration kUsualTime = 5s;  // what ZooKeeper's own tools take

struct WordOptions {
  Value timeout;
  FormatOptions format;
};

// Returns the word: the name of the subcommand, or for 4lw the first operand, which is taken out.
std::string take_word(const std::string& name, std::vector<std::string>& operands) {
  if (name != "4lw") return name;
  if (operands.empty()) throw usage_error("no word named: write zklock 4lw conf");
  const std::string word = operands.front();
  operands.erase(operands.begin());
  const bool letters = std::all_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  if (word.size() != 4 || !letters) {
    throw usage_error(fmt::format("bad word '{}': write four small letters, like conf", printable(word)));
  }
  if (word == "stmk") throw usage_error("cannot ask stmk: it sets the server's trace mask, and needs 8 bytes more");
  return word;
}

Replies ask(const zk::ServersAsked& servers, const std::string& word, Duration time, bool verbose) {
  host::Loop loop;
  zk::WordQuery query(loop, servers, {word}, deadline_in(time));
  Replies replies;
  for (auto& said : query.finish()) {
    const WordReply& reply = replies.emplace_back(std::move(said.front()));
    if (verbose) {
      host::remark(fmt::format("zklock: {}: {} in {}\n", to_string(reply.server), name_of(reply.result),
                               format_duration(reply.took)));
    }
  }
  return replies;
}

// Prints the replies, and on standard error a line for each server that gave none.
int ask_word(const Call& call, const WordOptions& options) {
  std::vector<std::string> operands = operands_of(call.app, call.arguments);
  const std::string word = take_word(name_of(call.app), operands);
  const bool json = is_json(options.format);
  const zk::ServersAsked servers = asked_servers(named_servers(operands, call.global), call.global);
  const Replies replies = ask(servers, word, asking_time(options.timeout), call.global.verbose);
  if (!call.global.quiet) {
    print(json ? json_of(replies) : host::is_terminal_output() ? text_for_terminal(replies) : text_of(replies));
  }
  for (const WordReply& reply : replies) {
    if (reply.result != WordResult::answered) host::say_error(advice_on(reply));
  }
  return static_cast<int>(status_of(replies));
}

zk::ServerList list_of(const std::vector<std::string>& words, bool tls) {
  zk::ServerList list;
  list.origin = "the command line";
  for (const std::string& word : words) {
    const zk::ServerList more = zk::ServerList::parse(word, list.origin, tls);
    if (!list.servers.empty() && more.tls != list.tls) {
      throw usage_error("some of the servers have tls:// and some have not: ask them one after the other");
    }
    list.tls = more.tls;
    list.servers.insert(list.servers.end(), more.servers.begin(), more.servers.end());
  }
  return list;
}

// --- the replies

std::string printable_lines(string_view text) {
  std::string shown;
  for (size_t end = text.find_first_of("\t\n"); end != string_view::npos; end = text.find_first_of("\t\n")) {
    shown += printable(text.substr(0, end)) + text[end];
    text.remove_prefix(end + 1);
  }
  return shown + printable(text);
}

void end_line(std::string& text) {
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
}

// Returns what the first bytes tell about the program that answered.
std::string quote(const std::string& text) {
  constexpr size_t kLongest = 60;
  if (text.starts_with('\x15')) return "TLS: give --tls, or write tls:// before it";
  return fmt::format("'{}'", shorten(printable(text.substr(0, kLongest)), kLongest));
}

// Returns what is wrong, and what to do.
std::pair<std::string, std::string> advice_for(const WordReply& reply) {
  const std::string reason = printable(reply.reason);
  switch (reply.result) {
    case WordResult::answered: break;
    case WordResult::not_allowed:
      return {fmt::format("{} is not in its whitelist", reply.word),
              fmt::format("set 4lw.commands.whitelist=srvr,{} in its zoo.cfg, beside what it has there, and restart it",
                          reply.word)};
    case WordResult::not_serving:
      return {"up, but not serving", "it is starting, or has no quorum; zklock health tells how the others are"};
    case WordResult::refused: return {"connection refused", "start the server, or name the right port"};
    case WordResult::unreachable: return {fmt::format("not reached: {}", reason), "look at the host and the network"};
    case WordResult::unknown_host:
      return {fmt::format("name not resolved: {}", reason), "look at the name and the resolver"};
    case WordResult::no_answer:
      return {fmt::format("no answer in {}: {}", format_duration(reply.took), reason),
              !reply.remedy.empty() ? reply.remedy
              : reply.reason == "no connection"
                  ? "look whether the host is up and no firewall is in the way"
                  : "look whether its process hangs, wants TLS (--tls) or is not ZooKeeper "
                    "at all, or give it longer with -w"};
    case WordResult::closed:
      return {"closed without a word", reply.word == "hash"
                                           ? "it has no digests yet, or is older than 3.6 and does not know the word"
                                           : "it does not know the word, has too many connections from here "
                                             "(maxClientCnxns), wants TLS, or is only starting"};
    case WordResult::no_tls:
    case WordResult::certificate_refused: return {reason, reply.remedy};
    case WordResult::cut_short:
      return {fmt::format("the reply was cut short after {} bytes{}{}", reply.text.size(),
                          reply.reason.empty() ? "" : ": ", reason),
              "ask again, with a longer -w if need be"};
    case WordResult::foreign:
      return {fmt::format("what answers is not ZooKeeper: {}", quote(reply.text)), "name a client port of ZooKeeper"};
  }
  return {};
}

}  // namespace

Execute add_word(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<WordOptions>();
  const std::string name = name_of(app);
  set_usage(app, fmt::format("Usage: zklock {} [OPTIONS]{} [SERVER...]", name, name == "4lw" ? " WORD" : ""));
  add_value(app, "-w,--timeout", options->timeout, "Wait at most DUR for all replies (5s)", "DUR");
  add_format_options(app, options->format, "One JSON object per line and server");
  add_server_options(app, global);
  describe(app, "--quiet", "Print no replies");
  const std::string words = name == "4lw" ? fmt::format("WORD: {} ...\n\n", fmt::join(kWords, " ")) : "";
  set_footer(app, fmt::format("Examples:\n{}\n{}{}Manual: zklock-health(1)", kWordExamples.at(name), words, kStatuses));
  return execute_with(ask_word, options);
}

zk::ServerList named_servers(const std::vector<std::string>& words, const GlobalOptions& global) {
  zk::ServerList list = words.empty() ? server_list(global) : list_of(words, asks_for_tls(global));
  list.chroot.clear();
  for (const zk::Server& server : std::exchange(list.servers, {})) {
    if (!contains(list.servers, server)) list.servers.push_back(server);
  }
  return list;
}

zk::ServersAsked asked_servers(const zk::ServerList& list, const GlobalOptions& global) {
  return {list.servers, tls_of(global, list)};
}

Duration asking_time(const Value& timeout) {
  if (!timeout) return kUsualTime;
  const Duration span = duration_of(*timeout, "--timeout");
  if (span > Duration::zero()) return span;
  throw usage_error("--timeout 0 leaves no time to answer: write one like 5s");
}

std::string text_of(const Replies& replies) {
  std::string text;
  for (const WordReply& reply : replies) {
    if (reply.result != WordResult::answered) continue;
    if (replies.size() == 1) return reply.text;
    if (!text.empty()) text += '\n';
    text += fmt::format("==> {} <==\n{}", to_string(reply.server), reply.text);
    end_line(text);
  }
  return text;
}

std::string text_for_terminal(const Replies& replies) {
  std::string text = printable_lines(text_of(replies));
  end_line(text);
  return text;
}

std::string trouble_of(const WordReply& reply) {
  return advice_for(reply).first;
}

std::string advice_on(const WordReply& reply) {
  const auto [trouble, remedy] = advice_for(reply);
  return fmt::format("{}: {}: {}", to_string(reply.server), trouble, remedy);
}

ExitStatus status_of(const Replies& replies) {
  ExitStatus status = ExitStatus::done;
  for (const WordReply& reply : replies) {
    if (reply.result == WordResult::answered) continue;
    const bool refused = reply.result == WordResult::not_allowed || reply.result == WordResult::certificate_refused;
    if (!refused) return ExitStatus::unavailable;
    status = ExitStatus::refused;
  }
  return status;
}

}  // namespace zklock::command
