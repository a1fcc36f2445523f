// SPDX-License-Identifier: Apache-2.0
// The shortest life of a session from each proof of a lock on, computed from src/zk/timing.h and zk::LastHeard
// themselves. It covers all phases of zklock's requests, of a follower's reports to its leader and of the leader's
// clock. Requests arrive at once or as late as they may, and the cut comes at the worst moment. Every request counts as
// a proof here, though only heartbeats do. The model also computes whether there is time to ask a third server before
// the lease ends.
//
// An answer comes at once when its request has arrived, and a report reaches the leader at once. If the leader's side
// stands still for a while, the report and the proof's answer pass each other; then only another cut within that moment
// gives the leader less than this says. The model leaves out wrong answers of a throttling server, answers that take
// long to arrive, another timeout after a reconnect, reports that are late or come together, and an observer master.
// For the first two, zk::LastHeard bounds a proof by the last answer.
//
//   model_lease            the tables; 1 if some fence is later than the session may end, or too early for a third
//   server model_lease --mutant NAME | --mutants | --quick
//                          with a mutant, which must be found; all of them, 1 if one is not; a coarser grid
//          model_lease --replay FILE... | --refuse FILE...     histories: lease_replay.h
#include "lease_replay.h"
#include "zk/last_heard.h"
#include "zk/timing.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

using zklock::Duration;

// Moments and spans; T is Ensemble::session.
using Units = long;

struct Ensemble {
  const char* name;  // T in ticks
  Units session;
  Units tick;
  Units report() const { return tick / 2; }  // Leader.java: pings its learners every half tick; the reply names the
};                                           // sessions heard since the last (LearnerZooKeeperServer, getTouchSnapshot)

// 330 and 480 make all parts of T and half a tick whole numbers.
constexpr Ensemble kEnsembles[] = {{"2", 480, 240},   {"2.5", 480, 192}, {"2.75", 330, 120}, {"3", 480, 160},
                                   {"3.5", 420, 120}, {"4", 480, 120},   {"5", 480, 96},     {"6", 480, 80},
                                   {"8", 480, 60},    {"20", 480, 24}};

// zklock's timing, as parts of T. Mirrors zk::Link (be_heard, was_silent, cut_at) and recipe::Lease.
struct Protocol {
  const char* name;
  Duration (*beat)(Duration) = zklock::zk::beat_of;
  Duration (*heartbeat)(Duration) = zklock::zk::heartbeat_of;
  Duration (*silence)(Duration) = zklock::zk::longest_silence_of;
  Duration (*fence)(Duration) = zklock::zk::fence_of;
  bool patient = true;        // a proof counts no more than what the leader has surely heard
  bool counts_delays = true;  // we know only that a request has reached our follower when it is answered
  // The greatest age of the proof of a grant by a list alone (ProtectedNode::look_again).
  Duration (*granted)(Duration) = zklock::zk::heartbeat_of;
  bool first_counts_from_grant = false;    // the first heartbeat, not from the proof
  Duration (*listed)(Duration) = nullptr;  // a list counts as a proof, so much later than the last transaction
};

constexpr Duration whole(Duration t) {
  return t;
}
constexpr Duration third(Duration t) {
  return t / 3;
}
constexpr Duration quarter(Duration t) {
  return t / 4;
}
constexpr Duration eighth(Duration t) {
  return t / 8;
}

Protocol real() {
  return Protocol{"as it is"};
}

// The times of requests have no mutants: zk::LastHeard takes a longer silence for a gap, and a proof counts for less.
std::vector<Protocol> mutants() {
  std::vector<Protocol> list;
  const auto add = [&](const char* name) -> Protocol& { return list.emplace_back(Protocol{name}); };
  add("fence-at-T").fence = whole;
  add("proof-right-after-handshake").patient = false;
  add("delays-forgotten").counts_delays = false;
  add("list-for-a-proof").listed = zklock::zk::heartbeat_of;
  add("heartbeat-every-quarter").heartbeat = quarter;
  add("list-alone-however-old").granted = third;
  add("first-heartbeat-from-the-grant").first_counts_from_grant = true;
  return list;
}

Units in_units(Duration (*part)(Duration), const Ensemble& ensemble) {
  return part(Duration(ensemble.session)).count();
}

// SessionTrackerImpl: the session expires at the next tick of its clock after the touch and T, in the worst phase.
Units earliest_end(const Ensemble& e, Units touched) {
  Units earliest = 0;
  for (Units phase = 0; phase < e.tick; ++phase) {
    const Units end = ((touched + e.session + phase) / e.tick + 1) * e.tick - phase;
    earliest = phase == 0 ? end : std::min(earliest, end);
  }
  return earliest;
}

constexpr Units kNoHandshake = -1000000;

// Returns the leader's last word of us if our follower is cut off right after `heard.back()`, the proof. A report made
// at the same moment as a request does not contain it.
Units last_word(const Ensemble& e, Units handshake, const std::vector<Units>& heard, Units phase) {
  const Units proof = heard.back();
  const Units first = ((proof - phase) / e.report()) * e.report() + phase;
  for (Units report = first >= proof ? first - e.report() : first; report > std::max(handshake, heard.front());
       report -= e.report()) {
    for (const Units moment : heard) {
      if (moment >= report - e.report() && moment < report) return report;
    }
  }
  return handshake;
}

struct Finding {
  Units safe = 0;  // the shortest life of a session from a proof on
  long cases = 0;
};

class Search {
 public:
  Search(const Ensemble& ensemble, const Protocol& protocol, Units step)
      : ensemble_(ensemble),
        protocol_(protocol),
        step_(step),
        life_(earliest_end(ensemble, 0)),
        beat_(in_units(protocol.beat, ensemble)),
        silence_(std::max(beat_, in_units(protocol.silence, ensemble))),
        least_(std::max(step, in_units(protocol.heartbeat, ensemble) - beat_)) {
    finding_.safe = ensemble.session * 10;
  }

  // Checks a new lock, and its heartbeats.
  Finding fresh() {
    from_handshake(3);
    return finding_;
  }
  // Checks a waiter, at any moment after its connection was resumed: its check, and the heartbeats after that.
  Finding reconnected() {
    from_handshake(4);
    return finding_;
  }
  // Checks a waiter that has long had one connection; or an idle consumer, whose claim is that transaction.
  Finding waited() {
    const Units usual = beat_;
    const Units longest = silence_;
    for (const Units earlier : {usual, longest}) {
      for (Units before : {least_, usual, (usual + longest) / 2, longest}) {
        for (Units last = 1; last <= longest; last += step_) {
          requests_.clear();
          for (Units back = 6; back > 0; --back) send(-before - back * earlier, 0);
          send(-before, 0);
          heard_from(kNoHandshake, 0, {0, last}, 2);
        }
      }
    }
    return finding_;
  }

 private:
  struct Sent {
    Units sent;
    Units arrived;
  };

  // At 0 the leader has counted the handshake; its answer, and our first request, may come any time later.
  void from_handshake(int more) {
    const Units latest = in_units(zklock::zk::longest_silence_of, ensemble_);
    for (Units first = 0; first <= latest; first += step_) {
      requests_.clear();
      heard_from(0, 0, {first}, more);
    }
  }

  // The server answers requests one after another; each must be answered within the patience once it has its turn.
  void send(Units at, Units delay) {
    const Units turn = requests_.empty() ? at : std::max(at, requests_.back().arrived);
    requests_.push_back({at, turn + delay});
  }

  // Sends the requests at these moments, each at once or as late as allowed, and then as many heartbeats.
  void heard_from(Units handshake, size_t next, const std::vector<Units>& moments, int more) {
    if (next == moments.size()) return heartbeats(handshake, more);
    for (const Units delay : {Units(0), in_units(zklock::zk::patience_of, ensemble_)}) {
      send(moments[next], delay);
      if (next + 1 == moments.size()) prove(handshake);
      heard_from(handshake, next + 1, moments, more);
      requests_.pop_back();
    }
  }

  // Heartbeats are in step, or late by as much as allowed.
  void heartbeats(Units handshake, int more) {
    if (more == 0) return;
    for (const Units gap : {least_, beat_, (beat_ + silence_) / 2, silence_}) {
      heard_from(handshake, 0, {requests_.back().sent + gap}, more - 1);
    }
  }

  void prove(Units handshake) {
    heard_.clear();
    for (const Sent& request : requests_) heard_.push_back(request.arrived);
    const Units proof = counted(handshake);
    for (Units phase = 0; phase < ensemble_.report(); phase += step_) {
      const Units word = last_word(ensemble_, handshake, heard_, phase);
      finding_.safe = std::min(finding_.safe, word + life_ - proof);
      ++finding_.cases;
    }
  }

  // Mirrors zk::Link::proof_now() at the time of the last request.
  Units counted(Units handshake) const {
    const Units sent = requests_.back().sent;
    const Units proof = sent + (protocol_.listed ? in_units(protocol_.listed, ensemble_) : 0);
    if (!protocol_.patient) return proof;
    zklock::zk::LastHeard leader;
    if (handshake != kNoHandshake) leader.begin(moment(handshake));
    for (const Sent& request : requests_) {
      if (request.arrived > sent) break;
      const Units arrived = protocol_.counts_delays ? request.arrived : request.sent;
      leader.note_answer(moment(request.sent), moment(arrived), Duration(ensemble_.session));
    }
    return (leader.proof_at(moment(proof), Duration(ensemble_.session)) - moment(0)).count();
  }

  // Never returns the clock's own zero.
  static zklock::Deadline moment(Units at) { return zklock::Deadline(Duration(at - 2 * kNoHandshake)); }

  const Ensemble& ensemble_;
  const Protocol& protocol_;
  Units step_;
  Units life_;
  Units beat_;
  Units silence_;
  Units least_;  // from a read of zk::Link's to the next heartbeat
  std::vector<Sent> requests_;
  std::vector<Units> heard_;  // by our follower
  Finding finding_;
};

double parts(const Ensemble& ensemble, Units span) {
  return 48.0 * static_cast<double>(span) / static_cast<double>(ensemble.session);
}

// Returns the latest moment, from a proof on, at which a third server is asked: the heartbeat after that proof has no
// answer, and the second server is dead. Mirrors Lease::add for the first proof.
Units third_server(const Ensemble& e, const Protocol& protocol) {
  const Units heartbeat = in_units(protocol.heartbeat, e);
  const Units age = in_units(protocol.granted, e);
  const Units first = std::max(heartbeat, age + in_units(zklock::zk::least_pause_of, e));
  const Units sent = protocol.first_counts_from_grant ? age + heartbeat : first;
  return sent + 2 * in_units(zklock::zk::patience_of, e);
}

// Returns when it must have answered: the fence less the longest grace (kGraceParts in src/command/lock/locks.h).
Units end_of_lease(const Ensemble& e, const Protocol& protocol) {
  return in_units(protocol.fence, e) - in_units(eighth, e);
}

// False if a fence is too late, or too early.
bool check(const Protocol& protocol, Units step, bool print) {
  const Ensemble& any = kEnsembles[0];
  const Units asked = third_server(any, protocol);
  const Units end = end_of_lease(any, protocol);
  bool safe = asked < end;
  if (print) {
    std::printf(
        "%s, in parts of T/48: from a proof on a third server is asked at %.1f, with all grace the lease ends at "
        "%.1f%s\n",
        protocol.name, parts(any, asked), parts(any, end), safe ? "" : "  TOO LATE");
    std::printf("%s, in parts of T/48: how long a session lives at least from a proof on\n", protocol.name);
    std::printf("%8s %8s %8s %8s %8s %8s\n", "T/tick", "fresh", "wait", "reconn.", "claim", "fence");
  }
  for (const Ensemble& e : kEnsembles) {
    const Units fence = in_units(protocol.fence, e);
    const Units fresh = Search(e, protocol, step).fresh().safe;
    const Units wait = Search(e, protocol, step).waited().safe;
    const Units again = Search(e, protocol, step).reconnected().safe;
    const bool fine = std::min({fresh, wait, again}) >= fence;
    safe &= fine;
    if (!safe && !print) return false;
    if (!print) continue;
    std::printf("%8s %8.1f %8.1f %8.1f %8.1f %8.1f%s\n", e.name, parts(e, fresh), parts(e, wait), parts(e, again),
                parts(e, wait), parts(e, fence), fine ? "" : "  UNSAFE");
  }
  return safe;
}

bool check_mutants(Units step, const char* only) {
  bool found = true;
  bool known = !only;
  for (const Protocol& mutant : mutants()) {
    if (only && std::strcmp(only, mutant.name) != 0) continue;
    known = true;
    const bool safe = check(mutant, step, only);
    std::printf("mutant %s: %s\n", mutant.name, safe ? "NOT FOUND" : "found");
    found &= !safe;
  }
  return found && known;
}

}  // namespace

int main(int argc, char** argv) {
  const auto wish = zklock::model::files_to_replay(argc, argv);
  if (!wish.empty()) return zklock::model::replay_leases(wish);
  Units step = 1;
  const char* mutant = nullptr;
  bool with_mutants = false;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--quick") {
      step = 3;
    } else if (word == "--mutants") {
      with_mutants = true;
    } else if (word == "--mutant" && i + 1 < argc) {
      mutant = argv[++i];
    } else {
      std::fprintf(stderr, "usage: model_lease [--quick] [--mutants | --mutant NAME]\n");
      return 64;
    }
  }
  // With one mutant alone, 1 says that it was found, as for what is really unsafe.
  if (mutant) return check_mutants(step, mutant) ? 1 : 0;
  const bool safe = check(real(), step, true);
  return safe && (!with_mutants || check_mutants(step, nullptr)) ? 0 : 1;
}
