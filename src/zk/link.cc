// SPDX-License-Identifier: Apache-2.0
#include "zk/link.h"

#include "host/trace.h"
#include "zk/timing.h"

#include <algorithm>
#include <utility>

namespace zklock::zk {

namespace {

using namespace std::chrono_literals;

// The least limits for an attempt before T is negotiated, because the T that was requested may be tiny. A busy Java
// server needs more than half a second for its first TLS handshakes. If we gave up many of them and began again, we
// would keep it busy for ever.
constexpr Duration kFirstPatience = 500ms;
constexpr Duration kFirstTlsPatience = 2500ms;
// The greatest limits before the first connection. Servers may be far away: TCP takes a round trip, and the handshake
// after it another. So each round of failed servers doubles the limit for either, up to this. A host that is down costs
// as much.
constexpr Duration kLongestFirst = 2500ms;
constexpr Duration kLongestFirstTls = 10s;
constexpr size_t kMostDoublings = 8;
// The pause between two rounds of servers is at least this, and then this part of the time without a connection.
constexpr Duration kLeastRoundPause = 150ms;
constexpr int kAwayParts = 20;
// The limit of a TLS handshake for an existing session, as a part of the time without a connection.
constexpr int kAttemptParts = 2;
// An answer is late after this time, and this many round trips.
constexpr Duration kLate = 300ms;
constexpr int kLateTrips = 3;

}  // namespace

void Link::arm(host::PollSet& set) {
  note_state();
  polled_.fd = -1;
  if (client_.state() == ClientState::expired || client_.state() == ClientState::auth_failed) return;
  if (!attempt_.under_way && BootClock::now() < attempt_.not_before) return set.wake_at(attempt_.not_before);

  if (!attempt_.under_way) begin_attempt();
  be_heard();
  const Client::Interest interest = client_.interest();
  note_state();
  // The attempt has failed at once.
  if (!attempt_.under_way) return set.wake_at(attempt_.not_before);
  polled_ = interest;
  // This check comes after the sending, which a pause of ours may have delayed. What is sent now does not make up for
  // the silence before it.
  if (was_silent()) {
    cut(true);
    return set.wake_at(attempt_.not_before);
  }
  heard_ = std::max(heard_, client_.last_sent());
  set.watch(polled_.fd, interest.events);
  set.wake_at(std::min(deadline_in(interest.within), cut_at()));
  if (client_.state() == ClientState::connected) set.wake_at(word_at());
}

void Link::begin_attempt() {
  attempt_.under_way = true;
  attempt_.server = to_string(addresses_.current());
  attempt_.since = BootClock::now();
  client_.aim(addresses_.current(), addresses_.names());
}

void Link::record(const host::PollSet& set) {
  if (was_silent() && polled_.fd >= 0) cut(true);
  if (polled_.fd < 0) return;
  const short revents = set.seen(polled_.fd);
  if (revents != 0 || polled_.within == Duration::zero()) client_.process(revents);
  note_state();
  const bool moved = client_.state() == ClientState::connected && client_.is_moved();
  if (attempt_.under_way && (moved || BootClock::now() >= cut_at())) cut();
}

// Sends a cheap read if nothing else was sent, even while answers are arriving: the server must hear from us.
void Link::be_heard() {
  if (client_.state() != ClientState::connected || BootClock::now() < word_at()) return;
  if (client_.is_ending()) {
    heard_ = BootClock::now();
    client_.ping();
  } else {
    client_.exists("/");
  }
}

// Returns when the server must hear from us next. In releases before 3.6.4, 3.7.2 and 3.8.1, a server may keep the
// answer to a transaction until it hears something more (ZOOKEEPER-4537). So a word follows a request whose answer is
// late, if nothing was sent behind it.
Deadline Link::word_at() const {
  const Deadline sent = std::max(heard_, client_.last_sent());
  const Deadline beat = sent + beat_of(client_.session_timeout());
  const Deadline waiting = client_.is_ending() ? client_.ending_since() : client_.silent_since();
  if (waiting == kNever || sent > waiting) return beat;
  return std::min(beat, waiting + std::max<Duration>(kLate, kLateTrips * round_trip_));
}

// Returns whether zklock itself stood still for too long. Our server may then not have told its leader for a long time
// that we live. Only a new handshake tells the leader at once: neither a sync nor a transaction does.
bool Link::was_silent() const {
  if (client_.state() != ClientState::connected) return false;
  const Duration beat = beat_of(client_.session_timeout());
  const Duration longest = std::max(longest_silence_of(client_.session_timeout()), beat + kBusyMachine);
  return BootClock::now() > heard_ + longest;
}

// A client that has just lost all servers needs the first one that serves again at once. T/60, the library's pause, may
// be half a second. A client that has been without servers for long is one of many, and tries as rarely as the library
// would.
Duration Link::round_pause() const {
  const Duration away = BootClock::now() - unconnected_since_;
  return std::min<Duration>(client_.session_timeout() / 60, std::max<Duration>(kLeastRoundPause, away / kAwayParts));
}

// Our handshake cannot have been sent before this moment: TCP and TLS come first, each with a round trip or two.
Deadline Link::handshake_since() const {
  return std::max(attempt_.since, client_.begun_at());
}

// Returns the moment by which the server must have sent something.
Deadline Link::cut_at() const {
  if (client_.state() == ClientState::connected) {
    const Deadline since = client_.silent_since();
    return since == kNever ? kNever : since + patience_of(client_.session_timeout());
  }
  const Duration attempt = attempt_of(client_.session_timeout());
  if (client_.connections() > 0) {
    // Without an answer to TCP or in ZooKeeper's handshake, the server is taken for dead as soon as without TLS.
    return handshake_since() + (in_tls_handshake() ? longest_attempt() : attempt);
  }
  const bool tls = client_.uses_tls();
  Duration patience = std::max<Duration>(attempt, tls ? kFirstTlsPatience : kFirstPatience);
  // In the first round, each server gets its turn, unless the connect timeout is too short for all.
  const auto servers = static_cast<int64_t>(std::max<size_t>(addresses_.count(), 1));
  const Duration share = std::max<Duration>(client_.patience() / servers, kFirstPatience);
  if (addresses_.rounds() == 0) patience = std::min(patience, share);
  const Duration longest = tls ? kLongestFirstTls : kLongestFirst;
  return handshake_since() + std::min(longest, patience * (1 << std::min(addresses_.rounds(), kMostDoublings)));
}

// A server that takes connections and does not end the TLS handshake may be busy with those of all clients after an
// outage. Attempts that are given up keep it busy in vain. So these take longer, the longer the session is away: never
// longer in the first T/3. What then is left until the fence is no more than one attempt.
Duration Link::longest_attempt() const {
  const Duration usual = attempt_of(client_.session_timeout());
  const bool silent = in_tls_handshake() || (trouble_ && trouble_->second.kind == host::TlsFailure::Kind::silent);
  if (unconnected_since_ == kNever || !silent) return usual;
  const Duration away = attempt_.since - unconnected_since_;
  return std::max(usual, std::min<Duration>(away / kAttemptParts, kLongestFirstTls));
}

bool Link::in_tls_handshake() const {
  const auto failure = client_.tls_failure();
  return failure && failure->kind == host::TlsFailure::Kind::silent;
}

void Link::cut(bool paused) {
  client_.cut(polled_.fd, paused);
  polled_.fd = -1;
  note_state();
}

void Link::note_state() {
  if (client_.has_ended()) return;
  if (client_.state() != ClientState::connected) {
    if (connected_) trace_loss();
    if (unconnected_since_ == kNever) unconnected_since_ = BootClock::now();
    if (client_.state() != ClientState::unconnected) return;
    if (attempt_.under_way) note_failure();
    attempt_.under_way = false;
    return;
  }
  // The leader counted the handshake when our server passed it on, which was after this moment.
  if (unconnected_since_ != kNever) {
    heard_ = handshake_since();
    leader_.begin(heard_);
    answers_ = client_.answers();  // those of the connection before tell nothing about this one
    if (connected_) connected_();
    if (connected_) host::trace("heard", {{"since", heard_}});
  }
  unconnected_since_ = kNever;
  if (client_.answers() == answers_) return;
  answers_ = client_.answers();
  const Deadline now = BootClock::now();
  round_trip_ = now - client_.last_answered_sent();
  leader_.note_answer(client_.last_answered_sent(), now, client_.session_timeout());
  addresses_.note_answer();
  trouble_.reset();
}

void Link::trace_loss() {
  if (unconnected_since_ == kNever) host::trace("disconnected");
  if (client_.state() == ClientState::expired && !std::exchange(expiry_traced_, true)) host::trace("expired");
}

void Link::note_failure() {
  const auto failure = client_.tls_failure();
  const bool agreed = client_.begun_at() >= attempt_.since;
  if (failure) {
    trouble_ = {attempt_.server, *failure};
  } else if (agreed && trouble_ && trouble_->first == attempt_.server) {
    trouble_.reset();
  }
  const size_t rounds = addresses_.rounds();
  addresses_.note_failure(attempt_.server, failure && failure->is_lasting());
  attempt_.not_before = addresses_.rounds() == rounds ? Deadline{} : deadline_in(round_pause());
}

void Link::use(const std::vector<Server>& servers) {
  addresses_.replace(servers);
  attempt_.not_before = {};
  if (attempt_.under_way && polled_.fd >= 0 && client_.state() != ClientState::connected &&
      !addresses_.contains(attempt_.server))
    cut();
}

std::optional<Link::TlsTrouble> Link::tls_trouble() const {
  if (trouble_ || !attempt_.under_way) return trouble_;
  const auto failure = client_.tls_failure();
  return failure ? std::optional<TlsTrouble>({attempt_.server, *failure}) : std::nullopt;
}

Deadline SecondSession::confirmed_at(Duration attempt) {
  if (!connected()) return connected_since_ = kNever;
  connected_since_ = std::min(connected_since_, BootClock::now());
  return connected_since_ + 2 * attempt;
}

}  // namespace zklock::zk
