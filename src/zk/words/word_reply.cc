// SPDX-License-Identifier: Apache-2.0
#include "zk/words/word_reply.h"

#include "base/text.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace zklock::zk {

namespace {

using std::string_view;

constexpr string_view kNotAllowed = " is not executed because it is not in the whitelist.";
// ClickHouse Keeper sends this without "ZooKeeper".
constexpr string_view kNotServing = "instance is not currently serving requests";

// A reply that consists of lines: what the first line contains, and what else every complete reply contains.
struct ReplyForm {
  string_view word;
  string_view first;
  string_view later;
};

constexpr std::array<ReplyForm, 14> kForms{{{"srvr", " version: ", "\nNode count: "},
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

// Returns true for text without control characters except tabs.
bool is_plain(string_view line) {
  return std::ranges::none_of(line, [](unsigned char byte) { return (byte < ' ' && byte != '\t') || byte == 0x7f; });
}

bool contains(string_view text, string_view part) {
  return text.find(part) != string_view::npos;
}

WordResult one_of(std::initializer_list<string_view> replies, string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (std::ranges::find(replies, text) != replies.end()) return WordResult::answered;
  const bool begun = std::ranges::any_of(replies, [&](string_view reply) { return reply.starts_with(text); });
  return begun ? WordResult::cut_short : WordResult::foreign;
}

WordResult number(string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  const bool digits = text.find_first_not_of("-0123456789") == string_view::npos;
  return digits && !text.empty() ? WordResult::answered : WordResult::foreign;
}

bool is_whole(const ReplyForm& form, string_view text) {
  if (!contains(text, form.later)) return false;
  // A member of an ensemble appends its configuration, whose last line has no newline.
  if (form.word == "conf" && contains(text, "\nmembership:")) return contains(text, "\nversion=");
  return text.ends_with('\n');
}

WordResult lines(const ReplyForm& form, string_view text) {
  const size_t end = text.find('\n');
  const string_view first = text.substr(0, end);
  if (!is_plain(first)) return WordResult::foreign;
  if (end == string_view::npos) return WordResult::cut_short;
  if (!contains(first, form.first)) return WordResult::foreign;
  return is_whole(form, text) ? WordResult::answered : WordResult::cut_short;
}

// Counts the lines "server.N=BEGIN…ROLE…" of conf.
auto count_servers(const Fields& conf, string_view begin, string_view role) {
  return std::ranges::count_if(conf.items, [&](const auto& item) {
    return item.first.starts_with("server.") && item.second.starts_with(begin) &&
           item.second.find(role) != string_view::npos;
  });
}

// --- fields

// Accepts a real number only up to the largest whole number that a double holds exactly.
std::optional<int64_t> whole_number(string_view text) {
  constexpr double kMost = 9007199254740992;  // 2^53
  if (const auto number = parse_number(text)) return number;
  const auto real = parse_real(text);
  if (!real || *real < 0 || *real > kMost) return std::nullopt;
  const auto whole = static_cast<int64_t>(*real);
  return static_cast<double>(whole) == *real ? std::optional(whole) : std::nullopt;
}

std::string value_of(const Fields& fields, string_view name) {
  const std::string* value = fields.find(name);
  return value ? *value : "";
}

}  // namespace

const char* name_of(WordResult result) {
  constexpr std::array<const char*, 12> kNames{"answered",    "not-in-whitelist", "not-serving", "refused",
                                               "unreachable", "unknown-host",     "no-answer",   "closed",
                                               "cut-short",   "foreign",          "no-tls",      "certificate-refused"};
  static_assert(kNames.size() == static_cast<size_t>(WordResult::certificate_refused) + 1);
  return kNames[static_cast<size_t>(result)];
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
  const auto* form = std::ranges::find(kForms, word, &ReplyForm::word);
  return form == kForms.end() ? WordResult::answered : lines(*form, text);
}

WordResult judge_unended(string_view word, string_view text) {
  if (text.empty()) return WordResult::no_answer;
  const WordResult result = judge_reply(word, text);
  return result == WordResult::answered ? WordResult::cut_short : result;
}

Fields Fields::parse(string_view text, char separator) {
  Fields fields;
  for (const string_view line : split(text, '\n')) {
    const size_t at = line.find(separator);
    if (at == string_view::npos) continue;
    fields.items.emplace_back(trimmed(line.substr(0, at)), trimmed(line.substr(at + 1)));
  }
  return fields;
}

const std::string* Fields::find(string_view name) const {
  const auto found = std::ranges::find(items, name, [](const auto& item) { return string_view(item.first); });
  return found == items.end() ? nullptr : &found->second;
}

std::optional<int64_t> Fields::number(string_view name) const {
  const std::string* value = find(name);
  return value ? whole_number(*value) : std::nullopt;
}

ServerStatus parse_status(string_view text) {
  const Fields fields = Fields::parse(text, ':');
  ServerStatus status;
  const auto version =
      std::ranges::find_if(fields.items, [](const auto& item) { return item.first.ends_with(" version"); });
  if (version != fields.items.end()) status.version = version->second;
  status.latency_ms = parse_latency(value_of(fields, "Latency min/avg/max"));
  status.received = fields.number("Received");
  status.sent = fields.number("Sent");
  status.connections = fields.number("Connections");
  status.outstanding = fields.number("Outstanding");
  status.zxid = value_of(fields, "Zxid");
  status.mode = value_of(fields, "Mode");
  status.nodes = fields.number("Node count");
  return status;
}

std::optional<Latency> parse_latency(string_view text) {
  const auto parts = split(text, '/');
  if (parts.size() != 3) return std::nullopt;
  const auto min = parse_real(parts[0]);
  const auto average = parse_real(parts[1]);
  const auto max = parse_real(parts[2]);
  if (!min || !average || !max) return std::nullopt;
  return Latency{*min, *average, *max};
}

std::optional<uint64_t> parse_zxid(string_view text) {
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  uint64_t zxid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), zxid, hexadecimal ? 16 : 10);
  const bool all = end == text.data() + text.size() && !text.empty();
  return error == std::errc() && all ? std::optional(zxid) : std::nullopt;
}

std::optional<int64_t> voters_in(const Fields& conf) {
  const auto count = count_servers(conf, "", ":participant");
  return count == 0 ? std::nullopt : std::optional<int64_t>(count);
}

bool has_only_observer(const Fields& conf, string_view host) {
  const std::string begin = std::string(host) + ":";
  return count_servers(conf, begin, ":observer") > 0 && count_servers(conf, begin, ":participant") == 0;
}

}  // namespace zklock::zk
