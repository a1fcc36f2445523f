// SPDX-License-Identifier: Apache-2.0
// Two clients change a value, src/recipe/value/change.cc, under a lock or not. Others write, delete and make it again,
// and answers are lost. fate_of() itself judges the outcome of a change. What was sent through a lost connection may be
// done later, until a barrier was answered.
#include "recipe/value/fate.h"
#include "run.h"

#include <algorithm>
#include <array>

namespace zklock::model::value {
namespace {

using recipe::ChangeKind;
using recipe::Fate;
using recipe::Sight;

enum Phase : uint8_t {
  away,
  looking,  // at the node, and for a node above it
  sending,
  sent,
  lost,  // no answer; the request may still be on its way
  ended,
};

enum End : uint8_t { none, done, refused, unheld, unknown };

struct Writer {
  uint8_t phase;
  uint8_t kind;
  uint8_t bytes;    // that it writes
  uint8_t version;  // that it demands
  uint8_t late;     // the request of a lost connection is still on its way
  uint8_t makes;    // the request on its way makes the node, which was not there
  uint8_t seen, seen_created, seen_version, seen_around;
  uint8_t was_done;  // how often it was really done
  uint8_t end;
};

class ValueModel {
 public:
  enum class Mutant { none, blind, again, no_barrier, bytes_prove, gone_proves, uncounted, fence_before };
  static constexpr std::array kMutants = {"a lost answer counts as done",
                                          "a change is sent again without a look",
                                          "the look is not behind a quorum's word",
                                          "the same bytes prove a compare and set",
                                          "a node that is gone was removed by us",
                                          "what was made and deleted meanwhile is not looked for",
                                          "the lock is looked at before, not in the transaction"};
  struct State {
    std::array<Writer, 2> writers;
    uint8_t exists, created, version, bytes;
    uint8_t around;     // children were made and deleted
    uint8_t held;       // the lock under which the first one writes
    uint8_t looked_at;  // whether it was held before; only in a mutant
    uint8_t losses, strangers;
    uint8_t error;
  };
  enum Error : uint8_t { fine, twice, not_written, written, unfenced };

  ValueModel(Size size, Mutant mutant) : full_(size == Size::full), mutant_(mutant) {}

  State first() const {
    State s{};
    s.exists = s.held = 1;
    s.created = 1;
    s.losses = full_ ? 2 : 1;
    s.strangers = full_ ? 3 : 2;
    return s;
  }
  void tidy(State&) const {}

  const char* fault(const State& s) const {
    constexpr std::array<const char*, 5> kFaults = {nullptr, "it is done twice", "0, and it was not done",
                                                    "1, 75 or 76, and it was done",
                                                    "it is done though the lock was lost"};
    return kFaults[s.error];
  }
  bool is_settled(const State& s) const {
    return std::ranges::all_of(s.writers, [](const Writer& w) { return w.phase == away || w.phase == ended; });
  }

  void steps(const State& s, Steps<State>& out) const {
    others(s, out);
    for (size_t who = 0; who < s.writers.size(); ++who) {
      serve_late(s, who, out);
      writer(s, who, out);
    }
  }

 private:
  static ChangeKind kind_of(const Writer& w) { return static_cast<ChangeKind>(w.kind); }
  static bool is_removal(const Writer& w) {
    return kind_of(w) == ChangeKind::remove || kind_of(w) == ChangeKind::remove_version;
  }
  static bool has_version(const Writer& w) {
    return kind_of(w) == ChangeKind::set_version || kind_of(w) == ChangeKind::remove_version;
  }

  static void make(State& s, uint8_t bytes) {
    s.exists = 1;
    s.created = static_cast<uint8_t>(s.around + 2);
    s.version = 0;
    s.bytes = bytes;
    ++s.around;
  }
  static void write(State& s, uint8_t bytes) {
    ++s.version;
    s.bytes = bytes;
  }
  static void remove(State& s) {
    s.exists = s.created = s.version = s.bytes = 0;
    ++s.around;
  }

  static void others(State s, Steps<State>& out) {
    if (s.held) {
      State next = s;
      next.held = 0;
      out.chance(next, kNobody, "the lock is lost");
    }
    if (s.strangers == 0) return;
    --s.strangers;
    for (const uint8_t bytes : {uint8_t{1}, uint8_t{2}}) {
      State next = s;
      s.exists ? write(next, bytes) : make(next, bytes);
      out.chance(next, kNobody, bytes == 1 ? "somebody writes the first one's bytes" : "somebody writes other bytes");
    }
    if (!s.exists) return;
    remove(s);
    out.chance(s, kNobody, "somebody deletes the node");
  }

  void writer(const State& s, size_t who, Steps<State>& out) const {
    switch (static_cast<Phase>(s.writers[who].phase)) {
      case away: return start(s, who, out);
      case looking: return look(s, who, out);
      case sending: return send(s, who, out);
      case sent: return serve(s, who, out);
      case lost: return resolve(s, who, out);
      case ended: return;
    }
  }

  // The second one may write the same bytes as the first.
  static void start(const State& s, size_t who, Steps<State>& out) {
    for (uint8_t kind = 0; kind <= static_cast<uint8_t>(ChangeKind::remove_version); ++kind) {
      for (uint8_t bytes = 1; bytes <= who + 1; ++bytes) {
        State next = s;
        next.writers[who] = {looking, kind, bytes, s.version, 0, 0, 0, 0, 0, 0, 0, none};
        out.chance(next, who, "begins");
      }
    }
  }

  void look(State s, size_t who, Steps<State>& out) const {
    Writer& w = s.writers[who];
    w.seen = s.exists;
    w.seen_created = s.created;
    w.seen_version = s.version;
    w.seen_around = s.around;
    w.phase = sending;
    if (who == 0) s.looked_at = s.held;
    if (!s.exists && is_removal(w)) end(s, who, refused);
    out.move(s, who, "looks");
  }

  static void send(State s, size_t who, Steps<State>& out) {
    Writer& w = s.writers[who];
    w.makes = kind_of(w) == ChangeKind::create || (kind_of(w) == ChangeKind::set && !w.seen);
    w.phase = sent;
    out.move(s, who, "sends the transaction");
  }

  // The server handles the request. Returns whether it was done.
  bool apply(State& s, size_t who) const {
    Writer& w = s.writers[who];
    const bool held = mutant_ == Mutant::fence_before ? s.looked_at : s.held;
    if (who == 0 && !held) return false;
    if (w.makes ? s.exists : !s.exists) return false;
    if (has_version(w) && s.version != w.version) return false;
    if (who == 0 && !s.held) s.error = unfenced;
    if (++w.was_done > 1) s.error = twice;
    if (w.end == refused || w.end == unheld) s.error = written;
    is_removal(w) ? remove(s) : w.makes ? make(s, w.bytes) : write(s, w.bytes);
    return true;
  }

  void end(State& s, size_t who, End how) const {
    Writer& w = s.writers[who];
    if ((how == refused || how == unheld) && w.was_done > 0) s.error = written;
    if (how == done && w.was_done == 0 && !is_as_wished(s, w)) s.error = not_written;
    w.phase = ended;
    w.end = how;
    w.seen = w.seen_created = w.seen_version = w.seen_around = 0;
  }
  // A change that demands a version, or that there is no node, must be done by us.
  static bool is_as_wished(const State& s, const Writer& w) {
    if (kind_of(w) == ChangeKind::set) return s.exists && s.bytes == w.bytes;
    return kind_of(w) == ChangeKind::remove && (!s.exists || s.created != w.seen_created);
  }

  void serve(const State& s, size_t who, Steps<State>& out) const {
    State next = s;
    const bool was_done = apply(next, who);
    if (next.error == fine) {
      State answered = next;
      was_done ? end(answered, who, done) : refuse(answered, who);
      out.move(answered, who, "is answered");
    } else {
      out.move(next, who, "is answered");
    }
    if (s.losses == 0) return;
    State gone = s;
    for (State* one : {&next, &gone}) {
      --one->losses;
      one->writers[who].phase = lost;
    }
    out.chance(next, who, "loses the connection, and the answer");
    out.chance(gone, who, "loses the connection, and the request");
    gone.writers[who].late = 1;
    out.chance(gone, who, "loses the connection with the request on its way");
  }

  void serve_late(State s, size_t who, Steps<State>& out) const {
    if (!s.writers[who].late) return;
    s.writers[who].late = 0;
    apply(s, who);
    out.chance(s, who, "is served after all");
  }

  static bool looks_again(const State& s, const Writer& w) {
    if (kind_of(w) == ChangeKind::set) return true;
    // A node above it was deleted, or the node itself, before its version could be compared.
    return kind_of(w) == ChangeKind::remove && !s.exists;
  }
  void refuse(State& s, size_t who) const {
    Writer& w = s.writers[who];
    if (who == 0 && !s.held) return end(s, who, unheld);
    if (looks_again(s, w)) {
      w.phase = looking;
    } else {
      end(s, who, refused);
    }
  }

  void resolve(const State& s, size_t who, Steps<State>& out) const {
    State next = s;
    if (mutant_ == Mutant::blind) {
      end(next, who, done);
      return out.move(next, who, "takes it for done");
    }
    Writer& w = next.writers[who];
    if (mutant_ != Mutant::no_barrier) w.late = 0;
    if (mutant_ == Mutant::again) {
      w.phase = sending;
      return out.move(next, who, "sends it again");
    }
    switch (judge(next, w)) {
      case Fate::done: end(next, who, done); break;
      case Fate::not_done: w.phase = looking; break;
      case Fate::unknown: end(next, who, unknown); break;
    }
    out.move(next, who, "looks what has become of it");
  }

  Fate judge(const State& s, const Writer& w) const {
    const bool ours = s.exists && s.bytes == w.bytes;
    if (mutant_ == Mutant::bytes_prove && kind_of(w) == ChangeKind::set_version && ours && s.version == w.version + 1) {
      return Fate::done;
    }
    if (mutant_ == Mutant::gone_proves && kind_of(w) == ChangeKind::remove_version && !s.exists) return Fate::done;
    Sight before{w.seen != 0, w.seen_created, w.seen_version, std::nullopt, w.seen_around};
    const Sight after{s.exists != 0, s.created, s.version, ours, s.around};
    if (mutant_ == Mutant::uncounted) before.around = after.around;
    return fate_of(kind_of(w), has_version(w) ? w.version : -1, before, after);
  }

  bool full_;
  Mutant mutant_;
};

}  // namespace
}  // namespace zklock::model::value

int main(int argc, char** argv) {
  return zklock::model::run_model<zklock::model::value::ValueModel>("value", argc, argv);
}
