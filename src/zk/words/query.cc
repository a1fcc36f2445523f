// SPDX-License-Identifier: Apache-2.0
#include "zk/words/query.h"

#include "host/net/exchange.h"
#include "host/net/resolver.h"

#include <algorithm>
#include <optional>

namespace zklock::zk {

using host::ExchangeEnd;

namespace {

// A dump of a large ensemble has about ten million bytes.
constexpr size_t kMostBytes = 64 << 20;

}  // namespace

// The exchanges with one server.
class ServerQuery : public host::Source {
 public:
  ServerQuery(const Server& server, const host::Tls* tls, const std::vector<std::string>& words, Deadline until)
      : tls_(tls), words_(words), until_(until), server_(server) {
    if (host::is_numeric_address(server.host)) {
      ask({server.host});
    } else {
      lookup_.emplace(server.host);
    }
  }

  bool over() const { return over_; }
  std::vector<WordReply> take() { return std::move(replies_); }

  void arm(host::PollSet& set) override {
    if (over_) return;
    // It has ended at once, for lack of a route: there is nothing to wait for.
    if (exchange_ && exchange_->end() != ExchangeEnd::none) return set.wake_at(BootClock::now());
    if (exchange_) return exchange_->arm(set);
    lookup_->arm(set);
    set.wake_at(until_);
  }

  void record(const host::PollSet& set) override {
    if (over_) return;
    if (exchange_) return exchange_->record(set);
    lookup_->record(set);
  }

  void decide() override {
    if (over_) return;
    if (!exchange_) return note_lookup();
    exchange_->decide();
    if (exchange_->end() != ExchangeEnd::none) note_exchange();
  }

 private:
  void note_lookup() {
    lookup_->decide();
    if (!lookup_->done()) {
      if (left_until(until_) > Duration::zero()) return;
      return add(WordResult::unknown_host, "", "no answer from the resolver in time");
    }
    const host::Resolved resolved = lookup_->result();
    lookup_.reset();
    if (!resolved.addresses.empty()) return ask(resolved.addresses);
    add(WordResult::unknown_host, "", resolved.error.empty() ? "no address" : resolved.error);
  }

  void ask(std::vector<std::string> addresses) {
    addresses_ = std::move(addresses);
    began_ = BootClock::now();
    exchange_.emplace(addresses_, server_.port, tls_, server_.host, word(), kMostBytes, until_);
  }

  void note_exchange() {
    const std::string& text = exchange_->text();
    switch (exchange_->end()) {
      case ExchangeEnd::none: break;
      case ExchangeEnd::closed: return add(judge_reply(word(), text), text, "");
      case ExchangeEnd::refused: return add(WordResult::refused, "", "");
      case ExchangeEnd::unreachable: return add(WordResult::unreachable, "", exchange_->error());
      case ExchangeEnd::no_connection: return add(WordResult::no_answer, "", "no connection");
      case ExchangeEnd::no_end:
        return add(judge_unended(word(), text), text,
                   text.empty() ? "it took the connection" : "it had no end in time");
      case ExchangeEnd::insecure: return note_tls_failure(exchange_->tls_failure());
      case ExchangeEnd::too_long: return add(judge_unended(word(), text), text, "it was longer than any");
    }
  }

  void note_tls_failure(const host::TlsFailure& failure) {
    using Kind = host::TlsFailure::Kind;
    WordResult result = WordResult::no_tls;
    if (failure.kind == Kind::silent) result = WordResult::no_answer;
    if (failure.kind == Kind::refused) result = WordResult::certificate_refused;
    add(result, "", failure.trouble, failure.remedy);
  }

  void add(WordResult result, std::string text, std::string reason, std::string remedy = "") {
    replies_.push_back(
        {server_, word(), result, std::move(text), std::move(reason), BootClock::now() - began_, std::move(remedy)});
    const bool talks =
        result == WordResult::answered || result == WordResult::not_allowed || result == WordResult::not_serving;
    over_ = !talks || replies_.size() == words_.size();
    if (!over_) ask(std::move(addresses_));
  }

  const std::string& word() const { return words_[replies_.size()]; }

  const host::Tls* tls_;
  std::vector<std::string> words_;
  Deadline until_;
  Server server_;
  Deadline began_ = BootClock::now();  // the start of the current word
  std::optional<host::Lookup> lookup_;
  std::vector<std::string> addresses_;
  std::optional<host::Exchange> exchange_;  // empty until the addresses are known
  std::vector<WordReply> replies_;
  bool over_ = false;
};

WordQuery::WordQuery(host::Loop& loop, const ServersAsked& asked, const std::vector<std::string>& words, Deadline until)
    : loop_(loop), until_(until), tls_(asked.tls) {
  for (const Server& server : asked.servers) {
    parts_.push_back(std::make_unique<ServerQuery>(server, tls_.get(), words, until));
  }
  for (const auto& part : parts_) loop_.add(*part);
}

WordQuery::~WordQuery() {
  for (const auto& part : parts_) loop_.remove(*part);
}

bool WordQuery::is_over() const {
  return std::ranges::all_of(parts_, [](const auto& part) { return part->over(); });
}

std::vector<std::vector<WordReply>> WordQuery::finish() {
  while (!is_over()) loop_.turn(until_);
  std::vector<std::vector<WordReply>> all;
  for (const auto& part : parts_) all.push_back(part->take());
  return all;
}

}  // namespace zklock::zk
