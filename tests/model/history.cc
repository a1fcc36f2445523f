// SPDX-License-Identifier: Apache-2.0
#include "history.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace zklock::model {

namespace {

// Reads the flat objects that src/host/trace.cc writes.
class Reader {
 public:
  explicit Reader(const std::string& line) : line_(line) {}

  Event read() {
    Event event;
    event.line = line_;
    expect('{');
    while (line_.at(at_) != '}') {
      const std::string name = quoted();
      expect(':');
      take_value(event, name);
      if (line_.at(at_) == ',') ++at_;
    }
    event.at = event.number("at");
    event.pid = event.number("pid");
    event.session = event.text("session");
    event.name = event.text("event");
    return event;
  }

 private:
  void expect(char wanted) {
    if (line_.at(at_++) != wanted) throw std::out_of_range(line_);
  }

  void take_value(Event& event, const std::string& name) {
    if (line_.at(at_) == '"') {
      event.fields[name] = quoted();
      return;
    }
    const size_t end = line_.find_first_of(",}", at_);
    const std::string word = line_.substr(at_, end - at_);
    if (word != "null") event.fields[name] = word;
    at_ = std::min(end, line_.size());
  }

  // Names are only compared, so escapes in them may stay.
  std::string quoted() {
    expect('"');
    std::string text;
    for (; line_.at(at_) != '"'; ++at_) {
      if (line_[at_] == '\\') text += line_[at_++];
      text += line_.at(at_);
    }
    ++at_;
    return text;
  }

  const std::string& line_;
  size_t at_ = 0;
};

using Accounts = std::map<int64_t, std::vector<Account>>;  // the accounts of all processes that had this id

// The fault suite's events come after all others, with their own times.
void add(Event event, std::vector<Account>& accounts) {
  if (accounts.empty() || event.is("began")) accounts.emplace_back();
  auto account = accounts.rbegin();
  while (std::next(account) != accounts.rend() && !account->empty() && account->front().at > event.at) ++account;
  account->push_back(std::move(event));
}

void read_file(const std::string& name, Accounts& accounts) {
  std::ifstream file(name);
  if (!file) throw std::runtime_error("cannot read " + name);
  for (std::string line; std::getline(file, line);) {
    if (file.eof()) return;  // no newline: its writer was killed
    try {
      Event event = Reader(line).read();
      std::vector<Account>& of_pid = accounts[event.pid];
      add(std::move(event), of_pid);
    } catch (const std::out_of_range&) {
      throw std::runtime_error(name + ": no event: " + line);
    }
  }
}

}  // namespace

std::string Event::text(std::string_view field) const {
  const auto found = fields.find(field);
  return found == fields.end() ? "" : found->second;
}

int64_t Event::number(std::string_view field) const {
  return std::strtoll(text(field).c_str(), nullptr, 10);
}

std::vector<Account> read_history(const std::vector<std::string>& files) {
  Accounts accounts;
  for (const std::string& name : files) read_file(name, accounts);
  std::vector<Account> all;
  for (auto& [pid, of_pid] : accounts) std::move(of_pid.begin(), of_pid.end(), std::back_inserter(all));
  std::stable_sort(all.begin(), all.end(), [](const Account& a, const Account& b) { return a[0].at < b[0].at; });
  return all;
}

std::string parent_of(const std::string& node) {
  return node.substr(0, node.rfind('/'));
}

}  // namespace zklock::model
