// SPDX-License-Identifier: Apache-2.0
#include "zk/words/word_reply.h"

#include <algorithm>
#include <array>

namespace zklock::zk {

namespace {

using std::string_view;

constexpr string_view kNotAllowed = " is not executed because it is not in the whitelist.";
// ClickHouse Keeper leaves "ZooKeeper" out.
constexpr string_view kNotServing = "instance is not currently serving requests";

// Of replies in lines: what stands in the first one, and what else is in every whole one.
struct Form {
  string_view word;
  string_view first;
  string_view later;
};

constexpr std::array<Form, 14> kForms{{{"srvr", " version: ", "\nNode count: "},
                                       {"stat", " version: ", "\nNode count: "},
                                       {"mntr", "zk_", "\nzk_server_state\t"},
                                       {"conf", "=", "\n"},
                                       {"cons", "(", "\n"},
                                       {"dump", "ump", "\n"},  // "SessionTracker dump:", "Sessions dump (2):"
                                       {"envi", "Environment", "\nuser.dir="},
                                       {"wchs", " watching ", "\nTotal watches:"},
                                       {"wchc", "", ""},
                                       {"wchp", "", ""},
                                       {"hash", "", ""},
                                       {"dirs", "dir_size: ", "\nlog"},
                                       {"srst", "tats reset.", ""},
                                       {"crst", "tats reset.", ""}}};

// A line of text, as far as it goes.
bool is_plain(string_view line) {
  return std::none_of(line.begin(), line.end(),
                      [](unsigned char byte) { return (byte < ' ' && byte != '\t') || byte == 0x7f; });
}

bool contains(string_view text, string_view part) {
  return text.find(part) != string_view::npos;
}

WordResult one_of(std::initializer_list<string_view> replies, string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  for (const string_view reply : replies) {
    if (text == reply) return WordResult::answered;
  }
  const bool begun =
      std::any_of(replies.begin(), replies.end(), [&](string_view reply) { return reply.starts_with(text); });
  return begun ? WordResult::cut_short : WordResult::foreign;
}

WordResult number(string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  const bool digits = text.find_first_not_of("-0123456789") == string_view::npos;
  return digits && !text.empty() ? WordResult::answered : WordResult::foreign;
}

bool is_whole(const Form& form, string_view text) {
  if (!contains(text, form.later)) return false;
  // Of an ensemble's own members; the line ends with no newline.
  if (form.word == "conf" && contains(text, "\nmembership:")) return contains(text, "\nversion=");
  return text.ends_with('\n');
}

WordResult lines(const Form& form, string_view text) {
  const size_t end = text.find('\n');
  const string_view first = text.substr(0, end);
  if (!is_plain(first)) return WordResult::foreign;
  if (end == string_view::npos) return WordResult::cut_short;
  if (!contains(first, form.first)) return WordResult::foreign;
  return is_whole(form, text) ? WordResult::answered : WordResult::cut_short;
}

}  // namespace

const char* name_of(WordResult result) {
  switch (result) {
    case WordResult::answered:
      return "answered";
    case WordResult::not_allowed:
      return "not-in-whitelist";
    case WordResult::not_serving:
      return "not-serving";
    case WordResult::refused:
      return "refused";
    case WordResult::unreachable:
      return "unreachable";
    case WordResult::unknown_host:
      return "unknown-host";
    case WordResult::no_answer:
      return "no-answer";
    case WordResult::closed:
      return "closed";
    case WordResult::cut_short:
      return "cut-short";
    case WordResult::foreign:
      return "foreign";
  }
  return "";
}

WordResult judge_reply(string_view word, string_view text) {
  if (text.empty()) return WordResult::closed;
  if (text.starts_with(word) && text.substr(word.size()).starts_with(kNotAllowed)) return WordResult::not_allowed;
  if (text.starts_with("This ") && contains(text.substr(0, text.find('\n')), kNotServing)) {
    return WordResult::not_serving;
  }
  if ((std::string(word) + std::string(kNotAllowed)).starts_with(text)) return WordResult::cut_short;
  if (word == "ruok") return one_of({"imok"}, text);
  if (word == "isro" && text.starts_with("null")) return WordResult::not_serving;
  if (word == "isro") return one_of({"rw", "ro", "null"}, text);
  if (word == "gtmk") return number(text);
  const auto* form = std::find_if(kForms.begin(), kForms.end(), [&](const Form& f) { return f.word == word; });
  return form == kForms.end() ? WordResult::answered : lines(*form, text);
}

WordResult judge_unended(string_view word, string_view text) {
  if (text.empty()) return WordResult::no_answer;
  const WordResult result = judge_reply(word, text);
  return result == WordResult::answered ? WordResult::cut_short : result;
}

}  // namespace zklock::zk
