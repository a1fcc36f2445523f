// SPDX-License-Identifier: Apache-2.0
#include "zk/link.h"

#include "host/trace.h"
#include "zk/timing.h"

#include <algorithm>
#include <utility>

namespace zklock::zk {

namespace {

using namespace std::chrono_literals;

// At least, before T is negotiated: what was asked for may be tiny. The first handshakes of TLS take a Java server
// longer than half a second when it is busy; many at once, and given up and begun anew, would keep it busy for ever, so
// this doubles with each round of servers, up to 10 s.
constexpr Duration kFirstPatience = 500ms;
constexpr Duration kFirstTlsPatience = 2500ms;
constexpr size_t kMostDoublings = 2;
constexpr Duration kLeastPause = 50ms;   // of ours beyond a beat; less is a busy machine
constexpr Duration kAfterFailure = 5ms;  // before the library is asked again when it could not even try
// Between two rounds of servers: at least, and a part of the time that they have been away.
constexpr Duration kLeastRoundPause = 150ms;
constexpr int kAwayParts = 20;

}  // namespace

void Link::arm(host::PollSet& set) {
  note_state();
  fd_ = -1;
  if (client_.state() == ClientState::expired || client_.state() == ClientState::auth_failed) return;
  if (BootClock::now() < not_before_) return set.wake_at(not_before_);

  // What was sent since the last turn makes up for no silence before it.
  const bool silent = was_silent();
  if (!silent) be_heard();
  const Client::Interest interest = client_.interest();
  note_state();
  if (!interest.usable || interest.fd < 0) {
    not_before_ = deadline_in(interest.usable ? std::min(interest.within, round_pause()) : kAfterFailure);
    if (!interest.usable) note_attempt();
    return set.wake_at(not_before_);
  }
  fd_ = interest.fd;
  has_unread_ = interest.within == Duration::zero();
  if (!trying_) {
    trying_ = true;
    server_ = client_.server();
    tried_since_ = BootClock::now();
    note_attempt();
  }
  // Known to be dead: on to the next one, at once.
  const bool dead = client_.state() != ClientState::connected && failed_.contains(server_);
  if (dead || silent) {
    cut();
    return set.wake_at(BootClock::now());
  }
  set.watch(fd_, interest.events);
  set.wake_at(std::min(deadline_in(interest.within), cut_at()));
  if (client_.state() == ClientState::connected) set.wake_at(heard_ + beat_of(client_.session_timeout()));
}

void Link::record(const host::PollSet& set) {
  if (was_silent() && fd_ >= 0) cut();
  if (fd_ < 0) return;
  const short revents = set.seen(fd_);
  if (revents != 0 || has_unread_) client_.process(revents);
  note_state();
  if (trying_ && BootClock::now() >= cut_at()) cut();
}

// Where nothing else is sent. Also while answers are coming in: what matters is that we are heard.
void Link::be_heard() {
  if (client_.state() != ClientState::connected) return;
  heard_ = std::max(heard_, client_.last_sent());
  if (BootClock::now() < heard_ + beat_of(client_.session_timeout())) return;
  client_.exists("/");
  heard_ = std::max(heard_, client_.last_sent());
}

Deadline Link::proof_now() const {
  const Deadline now = BootClock::now();
  const Duration timeout = client_.session_timeout();
  if (now >= begun_ + first_report_of(timeout)) return now;
  return std::min(now, begun_ + timeout - fence_of(timeout));
}

// Whether we ourselves stood still for too long. Our server may then not have told its leader for long that we live,
// and nothing but a new handshake tells it at once: neither a sync nor a transaction does.
bool Link::was_silent() const {
  if (client_.state() != ClientState::connected) return false;
  const Duration beat = beat_of(client_.session_timeout());
  const Duration longest = std::max(longest_silence_of(client_.session_timeout()), beat + kLeastPause);
  return BootClock::now() > heard_ + longest;
}

// Who has just lost all servers wants the first that serves again at once: T/60, the library's pause, would be half a
// second. Who has been without for long is one of many, and tries as seldom as the library would.
Duration Link::round_pause() const {
  return std::max<Duration>(kLeastRoundPause, (BootClock::now() - unconnected_since_) / kAwayParts);
}

// Before this ours has not left: TLS comes first, and takes two round trips more.
Deadline Link::handshake_since() const {
  return std::max(tried_since_, client_.secured_at());
}

// The moment by which the server must have shown life.
Deadline Link::cut_at() const {
  if (client_.state() == ClientState::connected) {
    const Deadline since = client_.silent_since();
    return since == kNever ? kNever : since + patience_of(client_.session_timeout());
  }
  const Duration attempt = attempt_of(client_.session_timeout());
  if (client_.connections() > 0) return handshake_since() + attempt;
  const Duration least =
      client_.uses_tls() ? kFirstTlsPatience * (1 << std::min(rounds_, kMostDoublings)) : kFirstPatience;
  return handshake_since() + std::max(attempt, least);
}

void Link::cut() {
  client_.cut(fd_);
  fd_ = -1;
  note_state();
}

void Link::note_state() {
  if (client_.state() != ClientState::connected) {
    if (connected_) trace_loss();
    if (unconnected_since_ == kNever) unconnected_since_ = BootClock::now();
    if (client_.state() != ClientState::unconnected) return;
    if (trying_) note_failure();
    trying_ = false;
    return;
  }
  // The leader has counted the handshake when it came by, which was after this.
  if (unconnected_since_ != kNever) {
    heard_ = begun_ = handshake_since();
    if (connected_) connected_();
    if (connected_) host::trace("heard", {{"since", begun_}});
  }
  unconnected_since_ = kNever;
  if (client_.answers() == answers_) return;
  answers_ = client_.answers();
  failed_.clear();
  refusing_.clear();
  trouble_.reset();
  attempts_ = 0;
}

void Link::trace_loss() {
  if (unconnected_since_ == kNever) host::trace("disconnected");
  if (client_.state() == ClientState::expired && !std::exchange(expiry_traced_, true)) host::trace("expired");
}

void Link::note_failure() {
  failed_.insert(server_);
  const auto failure = client_.tls_failure();
  if (failure) trouble_ = {server_, *failure};
  if (failure && failure->is_lasting()) {
    refusing_.insert(server_);
  } else {
    refusing_.erase(server_);
  }
}

std::optional<Link::TlsTrouble> Link::tls_trouble() const {
  if (trouble_ || !trying_) return trouble_;
  const auto failure = client_.tls_failure();
  return failure ? std::optional<TlsTrouble>({server_, *failure}) : std::nullopt;
}

// The library needs one round to come past every server, so after a round all are worth another try.
void Link::note_attempt() {
  if (++attempts_ <= round_) return;
  failed_.clear();
  attempts_ = 0;
  ++rounds_;
}

// Two attempts at dead servers may come first.
Deadline SecondSession::confirmed_at() {
  if (!connected()) return connected_since_ = kNever;
  connected_since_ = std::min(connected_since_, BootClock::now());
  return connected_since_ + 2 * attempt_of(client_.session_timeout());
}

}  // namespace zklock::zk
