// SPDX-License-Identifier: Apache-2.0
// Replays histories of contenders for exclusive locks as the two of line_model.cc. It takes each two whose lives
// overlap; the others in their line come and go. A proof is too old when its real fence is over, not before. Left out:
// tests/faults/checker.py checks whether the command of a killed zklock lived on.
#pragma once

#include "line_servers.h"
#include "lives.h"

#include <string_view>
#include <utility>

namespace zklock::model::line {

template <class Line>
class Story {
 public:
  using Model = Line;
  using State = typename Line::State;

  Story(const Model& model, const Life& one, const Life& other)
      : model_(model), lives_{one, other}, lines_{one.marks, other.marks} {
    std::set<std::string> strangers;
    for (const Life& life : lives_) {
      for (const std::string& name : life.named) strangers.insert(name);
    }
    for (const Life& life : lives_) {
      for (const std::string& name : life.nodes) strangers.erase(name);
    }
    model_.surround({std::min<size_t>(strangers.size(), 3), {one.removed, other.removed}});
  }

  static std::vector<Story> stories_of(const std::vector<Account>& accounts, const Model& model) {
    std::vector<Story> stories;
    const std::vector<Life> lives = lives_in(accounts);
    for (size_t i = 0; i < lives.size(); ++i) {
      for (size_t n = i + 1; n < lives.size(); ++n) {
        if (concern(lives[i], lives[n])) stories.emplace_back(model, lives[i], lives[n]);
      }
    }
    return stories;
  }

  std::string name() const {
    return "contenders " + std::to_string(lives_[0].pid) + " (A) and " + std::to_string(lives_[1].pid) + " (B) for " +
           lives_[0].line;
  }
  const Model& model() const { return model_; }
  const std::vector<Marks>& lines() const { return lines_; }

  // Most histories need no server that lags.
  bool widen() { return !std::exchange(wide_, true); }

  // Each contender may have begun at any server.
  std::vector<State> beginnings() const {
    if (!wide_) return {model_.first()};
    std::vector<State> all;
    for (const Server one : {a, b}) {
      for (const Server other : {a, b}) {
        State s = model_.first();
        s.contenders[0].server = one;
        s.contenders[1].server = other;
        all.push_back(s);
      }
    }
    return all;
  }

  void refill(State& s) const {
    s.losses = s.expiries = s.withdrawals = 1;
    s.was_deposed = 0;
  }

  bool may_hide(const Step& step, const State&, const State& after, const Moment& moment) const {
    const std::string_view what = step.what;
    if (what == "somebody else comes") return any_to_come(moment);
    if (!wide_ && (what.starts_with("B") || what == "connects to B")) return false;
    if (step.actor == kNobody) return !what.starts_with("B, the leader") || lost_any(moment);
    if (step.actor >= 2) return false;
    const Life& life = lives_[step.actor];
    const size_t had = moment.had[step.actor];
    if (had == life.marks.size()) return may_follow(life, what);
    if (what.starts_with("connects") || what.starts_with("what was on its way")) return true;
    if (what == "the session that it left behind expires") return true;
    if (what == "its session expires") return life.may_expire && (life.taken || life.fences[had] <= moment.latest);
    if (what == "its last proof is too old") return life.taken || life.fences[had] <= moment.latest;
    if (what == "hears that its session is over") return near(life.expiries, had);
    if (what == "its command ends") return !life.runs[had];
    if (what == "somebody deletes its node" || what.ends_with("makes another one")) return life.removed;
    if (what == "is told to end") return is_ending(life.marks[had].event);
    if (what == "watches the one before it") return watches_still(life, had);
    if (what == "is woken" || what == "looks though nothing has woken it") return is_look(life.marks[had].event);
    if (what == "was held up, and asks once more") return is_look(life.marks[had].event);
    return after.contenders[step.actor].server == nowhere && near(life.losses, had) && !is_write(what);
  }

  bool explains(const Mark& mark, size_t actor, const Step& step, const State& before, const State& after) const {
    const std::string_view what = step.what;
    const Event& event = mark.event;
    const uint8_t phase = after.contenders[actor].phase;
    if (event.is("created")) return what == "creates its node";
    if (event.is("create unknown")) return before.contenders[actor].phase == start && phase == unknown;
    if (event.is("found")) return what == "finds its node";
    if (event.is("not found")) return what == "finds that there is none";
    if (event.is("seen")) return fits(mark, actor, what, after);
    if (event.is("handed over")) return what == "the only one before it is gone, and it holds";
    if (event.is("watched")) {
      if (event.text("there") == "true") return what == "watches the one before it";
      return what == "it is gone already" || what == "its own node is gone, it looks again";
    }
    if (event.is("woken")) return what == "is woken" || what == "looks though nothing has woken it";
    if (event.is("ended") || event.is("killed by the guard")) return what == "its command ends";
    if (event.is("deleted") || event.is("recorded")) return what == "deletes its node";
    if (event.is("record unknown")) return before.contenders[actor].phase == removing && phase == removing;
    if (event.is("delete unknown")) return before.contenders[actor].phase == removing && phase == removing;
    if (event.is("closing")) {
      const bool gives_up = before.contenders[actor].phase == unknown && what == "is told to end";
      return gives_up || (lives_[actor].undone && what == "has no time left to delete its node");
    }
    return false;
  }

  bool agrees(const Mark& mark, size_t actor, const State& s) const {
    const Event& event = mark.event;
    const Contender& c = s.contenders[actor];
    if (event.is("proved")) return event.has("node") || c.alive;
    if (event.is("granted") || event.is("started")) {
      return c.phase == holding || (c.phase == removing && mark.fence <= event.at);
    }
    if (event.is("watched")) return event.text("there") == "false" && c.phase == confirming;
    if (event.is("woken")) return event.text("again") == "false" && c.phase == waiting;
    if (event.is("ended") || event.is("killed by the guard")) return c.phase != holding;
    if (event.is("deleted") || event.is("recorded")) return c.phase == left;
    if (event.is("delete unknown") || event.is("record unknown")) return c.phase == removing;
    if (event.is("not recorded")) return true;
    if (event.is("closing")) return c.phase == start || c.phase == left;
    return false;
  }

  std::string describe(const State& s) const {
    static constexpr std::array kPhases = {"start",   "listed",  "made",    "confirming", "to watch",
                                           "waiting", "unknown", "holding", "removing",   "left"};
    static constexpr std::array kServers = {"nowhere", "at A", "at B"};
    std::string text;
    for (size_t who = 0; who < 2; ++who) {
      const Contender& c = s.contenders[who];
      text += std::string(who == 0 ? "A " : "; B ") + kPhases[c.phase] + ", " + kServers[c.server] +
              (c.alive ? "" : ", session over") + (c.proved ? ", proved" : "");
    }
    text += "; nodes:";
    for (const uint8_t node : s.nodes) {
      if (!node) continue;
      text += node & other ? " other" : node & owner ? " B's" : " A's";
      text += node & at_a ? (node & at_b ? "" : " (new)") : " (gone, B has it)";
    }
    return text;
  }

 private:
  // Contenders that were never in each other's way show nothing about the line.
  static bool concern(const Life& one, const Life& other) {
    if (one.pid == other.pid || one.line != other.line) return false;
    if (one.begins() > other.ends() || other.begins() > one.ends()) return false;
    return is_named(one.nodes, other.named) || is_named(other.nodes, one.named) || (one.granted && other.granted);
  }

  // A contender that comes after both is in no one's way.
  bool any_to_come(const Moment& moment) const {
    for (size_t who = 0; who < 2; ++who) {
      const Marks& marks = lives_[who].marks;
      const auto from = marks.begin() + static_cast<ptrdiff_t>(moment.had[who]);
      const auto enters = [](const Mark& mark) { return mark.event.is("created") || mark.event.is("found"); };
      if (std::any_of(from, marks.end(), enters)) return true;
    }
    return false;
  }

  bool lost_any(const Moment& moment) const {
    for (size_t who = 0; who < 2; ++who) {
      for (const size_t at : lives_[who].losses) {
        if (at >= moment.had[who]) return true;
      }
    }
    return false;
  }

  // The event is recorded when the loop sees it, which may be before an answer that came first.
  static bool near(const std::vector<size_t>& moments, size_t had) {
    return std::any_of(moments.begin(), moments.end(), [had](size_t at) { return at + 1 >= had && at <= had + 1; });
  }

  static bool is_write(std::string_view what) {
    return what == "creates its node, the answer is lost" || what == "deletes its node, the answer is lost";
  }
  static bool is_ending(const Event& event) {
    return event.is("deleted") || event.is("delete unknown") || event.is("closing") || event.is("recorded") ||
           event.is("woken");
  }
  // It has looked before its watch fired, so that watch is still set (Lock::is_watched).
  static bool watches_still(const Life& life, size_t had) {
    const auto own = [](const Mark& mark) { return !mark.event.is("proved") || mark.event.has("node"); };
    const auto here = life.marks.begin() + static_cast<ptrdiff_t>(had);
    const auto next = std::find_if(here, life.marks.end(), own);
    const auto last = std::find_if(std::make_reverse_iterator(here), life.marks.rend(), own);
    return next != life.marks.end() && next->event.is("woken") && last != life.marks.rend() && last->event.is("seen");
  }
  static bool is_look(const Event& event) { return event.is("seen") || (event.is("proved") && event.has("node")); }

  // Applies to a killed zklock: its last request may be done, its command is dead, its session ends.
  static bool may_follow(const Life& life, std::string_view what) {
    if (what == "the session that it left behind expires" || what.starts_with("what was on its way")) return true;
    if (!life.killed) return false;
    if (what == "its last proof is too old" || what == "its session expires") return true;
    return life.in_flight && (what == "creates its node" || what == "deletes its node");
  }

  bool fits(const Mark& mark, size_t actor, std::string_view what, const State& after) const {
    const Event& event = mark.event;
    const Contender& c = after.contenders[actor];
    if (event.text("there") == "false") return what == "its node is gone";
    const bool looks = what == (mark.checked ? "checks its node and lists" : "lists");
    if (!event.has("predecessor")) {
      return (looks && c.phase == holding) || what == "has its turn, and its fence is over";
    }
    if (!looks || c.phase != to_watch || c.place == kNoNode) return false;
    return Servers::owner_of(after.nodes[c.place]) == owner_of(event.text("predecessor"));
  }

  size_t owner_of(const std::string& node) const {
    for (size_t who = 0; who < 2; ++who) {
      if (lives_[who].nodes.contains(node)) return who;
    }
    return kOther;
  }

  Model model_;
  bool wide_ = false;
  std::array<Life, 2> lives_;
  std::vector<Marks> lines_;
};

}  // namespace zklock::model::line
