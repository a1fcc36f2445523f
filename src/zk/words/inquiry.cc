// SPDX-License-Identifier: Apache-2.0
#include "zk/words/inquiry.h"

#include <algorithm>

namespace zklock::zk {

namespace {

using host::ExchangeEnd;

// A dump of a large ensemble has some ten million bytes.
constexpr size_t kMostBytes = 64 << 20;

}  // namespace

Interview::Interview(Server server, std::vector<std::string> words, Deadline until)
    : server_(std::move(server)), words_(std::move(words)), until_(until) {
  if (host::is_numeric_address(server_.host)) {
    addresses_ = {server_.host};
    ask();
  } else {
    lookup_.emplace(std::vector<std::string>{server_.host});
  }
}

void Interview::arm(host::PollSet& set) {
  if (over_) return;
  if (lookup_) {
    lookup_->arm(set);
    set.wake_at(until_);
  }
  if (exchange_) exchange_->arm(set);
}

void Interview::record(const host::PollSet& set) {
  if (over_) return;
  if (lookup_) lookup_->record(set);
  if (exchange_) exchange_->record(set);
}

void Interview::decide() {
  if (over_) return;
  if (lookup_) return note_lookup();
  exchange_->decide();
  if (exchange_->end() != ExchangeEnd::none) note_exchange();
}

void Interview::note_lookup() {
  if (!lookup_->done()) {
    if (left_until(until_) > Duration::zero()) return;
    return add(WordResult::unknown_host, "", "no answer from the resolver in time");
  }
  const host::Resolved resolved = lookup_->results().front();
  lookup_.reset();
  addresses_ = resolved.addresses;
  if (addresses_.empty())
    return add(WordResult::unknown_host, "", resolved.error.empty() ? "no address" : resolved.error);
  ask();
}

void Interview::ask() {
  began_ = BootClock::now();
  exchange_.emplace(addresses_, server_.port, words_[replies_.size()], kMostBytes, until_);
}

void Interview::note_exchange() {
  const std::string& word = words_[replies_.size()];
  const std::string& text = exchange_->text();
  switch (exchange_->end()) {
    case ExchangeEnd::none:
      break;
    case ExchangeEnd::closed:
      return add(judge_reply(word, text), text, "");
    case ExchangeEnd::refused:
      return add(WordResult::refused, "", "");
    case ExchangeEnd::unreachable:
      return add(WordResult::unreachable, "", exchange_->error());
    case ExchangeEnd::no_connection:
      return add(WordResult::no_answer, "", "no connection");
    case ExchangeEnd::no_end:
      return add(judge_unended(word, text), text, text.empty() ? "it took the connection" : "it had no end in time");
    case ExchangeEnd::too_long:
      return add(judge_unended(word, text), text, "it was longer than any");
  }
}

void Interview::add(WordResult result, std::string text, std::string reason) {
  replies_.push_back({words_[replies_.size()], result, std::move(text), std::move(reason), BootClock::now() - began_});
  const bool talks =
      result == WordResult::answered || result == WordResult::not_allowed || result == WordResult::not_serving;
  over_ = !talks || replies_.size() == words_.size();
  if (!over_) ask();
}

Inquiry::Inquiry(host::Loop& loop, const std::vector<Server>& servers, const std::vector<std::string>& words,
                 Deadline until)
    : loop_(loop), until_(until) {
  for (const Server& server : servers) {
    interviews_.push_back(std::make_unique<Interview>(server, words, until));
    loop_.add(*interviews_.back());
  }
}

Inquiry::~Inquiry() {
  for (const auto& interview : interviews_) loop_.remove(*interview);
}

const std::vector<std::unique_ptr<Interview>>& Inquiry::finish() {
  const auto over = [](const auto& interview) { return interview->over(); };
  while (!std::all_of(interviews_.begin(), interviews_.end(), over)) loop_.turn(until_);
  return interviews_;
}

}  // namespace zklock::zk
