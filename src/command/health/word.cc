// SPDX-License-Identifier: Apache-2.0
#include "command/health/word.h"

#include "base/text.h"
#include "command/cli/output.h"
#include "command/health/named_servers.h"
#include "host/terminal.h"
#include "zk/words/inquiry.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace zklock::command {

namespace {

constexpr const char* kStatuses =
    "Exit status: 0 every server gave a proper reply; 64 usage, 69 one did not,\n"
    "74 output failed, 77 the word is not in a server's whitelist.\n\n";

struct Texts {
  const char* purpose;
  const char* remark;  // of the footer
  const char* examples;
};

const std::map<std::string, Texts> kTexts{
    {"ruok",
     {"Ask servers whether their process runs",
      "imok is not health: a server without a quorum says it too. See zklock health.\n\n",
      "  zklock ruok zk1 zk2:2182\n  zklock ruok -q localhost || echo down\n"}},
    {"stat",
     {"Ask servers for their state and their clients", "",
      "  zklock stat zk1\n  zklock stat --json zk1 | jq '.reply.clients | length'\n"}},
    {"srvr",
     {"Ask servers for their state: always allowed", "",
      "  zklock srvr zk1\n  zklock -S zk1,zk2,zk3 srvr --json | jq -r .reply.mode\n"}},
    {"mntr",
     {"Ask servers for their measurements", "",
      "  zklock mntr zk1\n  zklock mntr --json | jq .reply.zk_avg_latency\n"}},
    {"4lw",
     {"Ask servers any four-letter word",
      "WORD: conf cons crst dirs dump envi gtmk hash isro srst wchc wchp wchs, others.\n\n",
      "  zklock 4lw conf zk1\n  zklock 4lw wchs --json | jq .reply.watches\n"}},
};

}  // namespace

Word::Word(CLI::App& root, const char* name) : name_(name), app_(add_command(root, name, kTexts.at(name).purpose)) {
  const Texts& texts = kTexts.at(name_);
  set_usage(*app_, fmt::format("Usage: zklock {} [OPTIONS]{} [SERVER...]", name_, name_ == "4lw" ? " WORD" : ""));
  add_value(*app_, "-w,--timeout", timeout_, "Wait at most so long for all replies (5s)", "DUR");
  add_flag(*app_, "--json", json_, "An object on a line of its own for each server");
  add_server_options(*app_, global_);
  describe(*app_, "--quiet", "Print no replies");
  set_footer(*app_, fmt::format("{}{}Examples:\n{}Manual: zklock-health(1)", texts.remark, kStatuses, texts.examples));
}

int Word::execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited&, ExitPolicy&) const {
  std::vector<std::string> operands = operands_of(*app_, arguments);
  const std::string word = take_word(operands);
  const std::vector<Asked> asked = ask(named_servers(operands, global), word, global.verbose);
  if (!global.quiet) print(shown(asked));
  for (const Asked& one : asked) {
    if (one.reply.result != zk::WordResult::answered) host::say_error(advice_on(one));
  }
  return static_cast<int>(status_of(asked));
}

std::string Word::take_word(std::vector<std::string>& operands) const {
  if (name_ != "4lw") return name_;
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

std::vector<Asked> Word::ask(const std::vector<zk::Server>& servers, const std::string& word, bool verbose) const {
  host::Loop loop;
  zk::Inquiry inquiry(loop, servers, {word}, deadline_in(asking_time(timeout_)));
  std::vector<Asked> asked;
  for (const auto& interview : inquiry.finish()) {
    asked.push_back({interview->server(), interview->replies().front()});
    const zk::WordReply& reply = asked.back().reply;
    if (verbose) {
      host::remark(fmt::format("zklock: {}: {} in {}\n", to_string(interview->server()), name_of(reply.result),
                               format_duration(reply.took)));
    }
  }
  return asked;
}

std::string Word::shown(const std::vector<Asked>& asked) const {
  if (json_) return json_of(asked);
  return host::is_terminal_output() ? text_for_terminal(asked) : text_of(asked);
}

}  // namespace zklock::command
