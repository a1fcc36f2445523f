// SPDX-License-Identifier: Apache-2.0
#include "lease_replay.h"

#include "zk/timing.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace zklock::model {

namespace {

// A busy machine may hold us up between reading the clock for a decision and for the event.
constexpr int64_t kHeldUp = 300'000'000;

class Reader {
 public:
  std::vector<std::string> read(const Account& account) {
    const auto granted = [](const Event& event) { return event.is("granted"); };
    holds_ = std::any_of(account.begin(), account.end(), granted);
    for (const Event& event : account) take(event);
    return std::move(breaches_);
  }

 private:
  void take(const Event& event) {
    if (event.is("session")) session(event);
    if (event.is("asking") || event.is("creating")) ask(event);
    if (event.is("proved")) prove(event);
    if (event.is("granted")) grant(event);
    if (event.is("started") && holds_) start(event);
    if (event.is("lost") && holds_) lose(event);
    if (event.is("closing")) lost_ = false;
  }

  void breach(const char* rule, const Event& event) { breaches_.push_back(std::string(rule) + ": " + event.line); }
  Duration timeout() const { return Duration(timeout_); }

  void session(const Event& event) {
    timeout_ = event.number("timeout") * 1'000'000;
    if (event.session != session_) asked_ = sent_ = fence_ = 0;
    session_ = event.session;
  }

  // If several requests are under way, only the last counts, so that only certain breaches are found.
  void ask(const Event& event) {
    asked_ = event.at;
    anew_ = event.is("asking");
  }

  void prove(const Event& event) {
    const int64_t sent = event.number("sent"), fence = event.number("fence");
    if (asked_ == 0) return breach("a proof that nobody has asked for", event);
    if (sent > asked_) breach("a proof that counts from later than its question", event);
    if (fence > sent + zk::fence_of(timeout()).count()) breach("a fence later than 2T/3 from its proof", event);
    answered_ = event.at;
    sent_ = std::max(sent_, sent);
    fence_ = std::max(fence_, fence);
  }

  void grant(const Event& event) {
    if (fence_ == 0) return breach("granted without a proof in this session", event);
    if (event.number("sent") > sent_) breach("granted by a proof that there was not", event);
    const int64_t oldest = zk::heartbeat_of(timeout()).count() + kHeldUp;
    // A proof that was asked for again may take its time.
    if (event.at - (anew_ ? answered_ : sent_) > oldest) breach("granted by a proof too old", event);
  }

  void start(const Event& event) {
    if (event.number("fence") > fence_) breach("started with a fence later than its proof's", event);
    if (lost_) breach("started when the lock was lost", event);
  }

  void lose(const Event& event) {
    lost_ = true;
    if (event.text("why") == "unproved" && event.number("fence") > fence_) {
      breach("held for longer than its proof is good", event);
    }
  }

  std::string session_;
  bool holds_ = false;  // a lock, at some time; the proofs of claims are not recorded
  int64_t timeout_ = 0;
  int64_t asked_ = 0, answered_ = 0, sent_ = 0, fence_ = 0;
  bool anew_ = false;  // the last request was not the creation of a node
  bool lost_ = false;
  std::vector<std::string> breaches_;
};

size_t breaches_in(const std::vector<std::string>& files, bool tell, size_t& accounts) {
  size_t breaches = 0;
  for (const Account& account : read_history(files)) {
    ++accounts;
    for (const std::string& breach : late_in(account)) {
      if (tell) std::printf("lease: %s\n", breach.c_str());
      ++breaches;
    }
  }
  return breaches;
}

}  // namespace

std::vector<std::string> late_in(const Account& account) {
  return Reader().read(account);
}

int replay_leases(const ReplayWish& wish) {
  try {
    size_t accounts = 0;
    bool fine = true;
    if (!wish.refuse) {
      const size_t breaches = breaches_in(wish.files, true, accounts);
      std::printf("lease: %zu accounts, %zu breaches\n", accounts, breaches);
      return breaches == 0 ? 0 : 1;
    }
    for (const std::string& file : wish.files) {
      const bool refused = breaches_in({file}, false, accounts) > 0;
      std::printf("lease: %s: %s\n", file.c_str(), refused ? "refused" : "NOT REFUSED");
      fine &= refused;
    }
    return fine ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lease_model: %s\n", error.what());
    return 70;
  }
}

}  // namespace zklock::model
