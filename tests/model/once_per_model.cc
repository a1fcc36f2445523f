// SPDX-License-Identifier: Apache-2.0
// `run --once-per P` on two hosts: src/recipe/lock/last_success.cc, and its callers in src/command/lock/job.cc. The
// lock keeps its promises (line_model.cc, lease_model.cc). Time goes in steps; the servers' clock may be ahead for a
// while.
#include "run.h"

#include <algorithm>
#include <array>

namespace zklock::model::once_per {
namespace {

enum Phase : uint8_t {
  away,    // until cron starts it
  asking,  // holds the lock: LastSuccess::age
  running,
  recording,    // LastSuccess::record: the success, and the end of the node, in one transaction
  record_lost,  // LastSuccess::look_again
  writing,      // the two halves, only in a mutant
};

constexpr uint8_t kPeriod = 2;
constexpr uint8_t kAhead = 3;
constexpr uint8_t kEnd = 5;  // of time in the model
constexpr uint8_t kNever = 255;

struct Host {
  uint8_t phase;
  uint8_t made_at;  // when its node was made, by the servers' clock
  uint8_t expired;
};

class OncePer {
 public:
  enum class Mutant { none, future, no_look, two_requests, after_delete, unheld };
  static constexpr std::array kMutants = {"a success in the future counts", "a lost transaction counts as done",
                                          "the lock is given back before the success is written",
                                          "a lost transaction is sent again without a look",
                                          "asks before it has the lock"};
  struct State {
    std::array<Host, 2> hosts;
    uint8_t holder;          // from 1 on; 0: the lock is free
    uint8_t time, ahead;     // the servers' clock is ahead by so much
    uint8_t recorded;        // the success's time by the servers' clock
    uint8_t recorder;        // from 1 on
    uint8_t recorded_ahead;  // how far the clock was ahead then
    uint8_t succeeded;       // when a run last ended with 0, by that clock
    uint8_t losses, expiries;
    uint8_t error;
  };
  enum Error : uint8_t { fine, too_soon, in_future, wrong_loss };

  OncePer(Size size, Mutant mutant) : full_(size == Size::full), mutant_(mutant) {}

  State first() const {
    State s{};
    s.ahead = kAhead;
    s.recorded = s.succeeded = kNever;
    s.losses = s.expiries = full_ ? 3 : 1;
    return s;
  }
  void tidy(State&) const {}

  const char* fault(const State& s) const {
    constexpr std::array<const char*, 4> kFaults = {nullptr, "it runs again within the period",
                                                    "it is skipped for a success in the future",
                                                    "a success that is recorded is said to be lost"};
    return kFaults[s.error];
  }
  bool is_settled(const State& s) const {
    return s.holder == 0 && std::all_of(s.hosts.begin(), s.hosts.end(), [](const Host& h) { return h.phase == away; });
  }

  void steps(const State& s, Steps<State>& out) const {
    clock_steps(s, out);
    for (size_t who = 0; who < 2; ++who) {
      const Host& host = s.hosts[who];
      if (host.expired) {
        learn_of_expiry(s, who, out);
      } else {
        expire(s, who, out);
        host_steps(s, who, out);
      }
    }
  }

 private:
  static uint8_t id(size_t who) { return static_cast<uint8_t>(who + 1); }
  static uint8_t now(const State& s) { return static_cast<uint8_t>(s.time + s.ahead); }
  static void clock_steps(State s, Steps<State>& out) {
    if (s.time < kEnd) {
      ++s.time;
      out.chance(s, kNobody, "time goes on");
      --s.time;
    }
    if (s.ahead == 0) return;
    s.ahead = 0;
    s.succeeded = kNever;  // it is unknown how long ago that was
    out.chance(s, kNobody, "the servers' clock is put right");
  }

  static void expire(State s, size_t who, Steps<State>& out) {
    if (s.expiries == 0 || s.hosts[who].phase == away) return;
    --s.expiries;
    s.hosts[who].expired = 1;
    if (s.holder == id(who)) s.holder = 0;
    out.chance(s, who, "its session expires");
  }
  // The run ends with 76, and may be started again.
  static void learn_of_expiry(State s, size_t who, Steps<State>& out) {
    s.hosts[who] = {away, 0, 0};
    out.move(s, who, "hears that its session is over: the lock is lost");
  }

  void host_steps(const State& s, size_t who, Steps<State>& out) const {
    switch (static_cast<Phase>(s.hosts[who].phase)) {
      case away: return take(s, who, out);
      case asking: return ask(s, who, out);
      case running: return end_command(s, who, out);
      case recording: return record(s, who, out);
      case record_lost: return look_again(s, who, out);
      case writing: return write(s, who, out);
    }
  }

  void take(State s, size_t who, Steps<State>& out) const {
    if (mutant_ == Mutant::unheld && !is_lately(s, now(s)) && s.hosts[who].made_at == 0) {
      s.hosts[who].made_at = now(s);  // it has checked, and will wait for the lock
      return out.chance(s, who, "is started, and asks when it ran last");
    }
    if (s.holder != 0) return;
    s.holder = id(who);
    s.hosts[who].phase = s.hosts[who].made_at == 0 ? asking : running;
    note_run(s, who);
    s.hosts[who].made_at = now(s);
    out.chance(s, who, "is started, and has the lock");
  }

  // The age of the last success counts from our node's time, so that both times are of one clock.
  bool is_lately(const State& s, uint8_t made_at) const {
    if (s.recorded == kNever) return false;
    if (s.recorded > made_at) return mutant_ == Mutant::future;
    return made_at - s.recorded < kPeriod;
  }

  // Job::check_last_success.
  void ask(State s, size_t who, Steps<State>& out) const {
    Host& host = s.hosts[who];
    if (is_lately(s, host.made_at)) {
      if (s.recorded > host.made_at) s.error = in_future;
      s.holder = 0;
      host = {away, 0, 0};
      return out.move(s, who, "skips: it ran lately");
    }
    host.phase = running;
    note_run(s, who);
    out.move(s, who, "starts its command");
  }

  // Notes whether a run began too soon after one that ended with 0, by a clock that was not corrected meanwhile.
  static void note_run(State& s, size_t who) {
    const Host& host = s.hosts[who];
    const bool lately = s.succeeded != kNever && host.made_at >= s.succeeded && host.made_at - s.succeeded < kPeriod;
    if (host.phase == running && !host.expired && lately) s.error = too_soon;
  }

  void end_command(State s, size_t who, Steps<State>& out) const {
    s.hosts[who].phase = recording;
    out.move(s, who, "its command succeeds");
  }

  static void note_success(State& s, size_t who) {
    s.recorded = now(s);
    s.recorded_ahead = s.ahead;
    s.recorder = id(who);
  }

  void record(const State& s, size_t who, Steps<State>& out) const {
    State done = s;
    // Its node is gone, so the transaction was done before its answer was lost.
    if (s.holder != id(who)) return fail(s, who, out);
    done.holder = 0;
    if (mutant_ == Mutant::two_requests) {
      done.hosts[who].phase = writing;
      return out.move(done, who, "gives the lock back");
    }
    note_success(done, who);
    State over = done;
    end_with_0(over, who);
    out.move(over, who, "records its success and gives the lock back");
    lose(s, done, who, out);
  }

  static void end_with_0(State& s, size_t who) {
    s.succeeded = s.recorded_ahead == s.ahead ? s.recorded : kNever;
    s.hosts[who] = {away, 0, 0};
    note_run(s, 1 - who);
  }

  void lose(State s, State done, size_t who, Steps<State>& out) const {
    if (s.losses == 0) return;
    for (State* next : {&s, &done}) {
      --next->losses;
      next->hosts[who].phase = mutant_ == Mutant::after_delete ? recording : record_lost;
    }
    out.chance(s, who, "the transaction is lost");
    out.chance(done, who, "the transaction is done, its answer is lost");
  }

  static void fail(State s, size_t who, Steps<State>& out) {
    if (s.recorder == id(who)) s.error = wrong_loss;
    s.hosts[who] = {away, 0, 0};
    out.move(s, who, "says that its success could not be recorded");
  }

  // If our text is on the node above the lock, it was done. Otherwise our own node shows whether to try again.
  void look_again(State s, size_t who, Steps<State>& out) const {
    const bool recorded = s.recorder == id(who) && s.holder != id(who);
    if (recorded || mutant_ == Mutant::no_look) {
      if (s.holder == id(who)) s.holder = 0;
      end_with_0(s, who);
      if (!recorded) s.succeeded = now(s);
      return out.move(s, who, "takes its success for recorded");
    }
    s.hosts[who].phase = recording;
    out.move(s, who, "finds that it is not recorded");
  }

  static void write(State s, size_t who, Steps<State>& out) {
    note_success(s, who);
    end_with_0(s, who);
    out.move(s, who, "records its success");
  }

  bool full_;
  Mutant mutant_;
};

}  // namespace
}  // namespace zklock::model::once_per

int main(int argc, char** argv) {
  return zklock::model::run_model<zklock::model::once_per::OncePer>("once_per", argc, argv);
}
