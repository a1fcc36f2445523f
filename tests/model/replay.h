// SPDX-License-Identifier: Apache-2.0
// Checks whether a model allows a history. It keeps the set of the model's states that agree with the events so far.
// Between two events anything may happen that is not recorded: actions of servers, the network and chance. An event
// that none of the states allows is a failure.
//
// Each actor's events come in its own order. Events of two actors may come in either order, unless one was recorded
// before the other can have begun: a server acts between the request and the record of its answer. So it visits cells;
// each is the number of events that each actor has had.
//
// A story is a history in terms of a model:
//   using Model
//   const Model& model() const
//   std::vector<State> beginnings() const
//   const std::vector<Line>& lines() const                      each actor's
//   bool may_hide(step, before, after, Moment) const            it may happen without an event
//   bool explains(mark, actor, step, before, after) const       it is what the event tells
//   bool agrees(mark, actor, state) const                       the event tells of no step, and fits the state
//   void refill(State&) const                                   faults are not counted
//   std::string describe(state) const                           for messages
#pragma once

#include "checker.h"
#include "history.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

namespace zklock::model {

// An event, and the earliest moment at which it can have happened; the latest is that of its line.
struct Mark {
  int64_t earliest;
  Event event;
  int64_t fence = kAlways;  // of the last proof before it
  bool checked = false;     // after a quorum's word
};
using Marks = std::vector<Mark>;

// How far each actor is, and the latest moment for what happens now.
struct Moment {
  const std::vector<size_t>& had;
  int64_t latest;
};

struct Verdict {
  bool allowed = true;
  bool given_up = false;         // too many states: nothing is known
  std::vector<std::string> why;  // the last events, the one that is impossible, the states before it
  std::set<std::string> taken;   // the steps of one way through
  size_t states = 0;
};

template <class Story>
class Replay {
 public:
  using Model = typename Story::Model;
  using State = typename Model::State;

  explicit Replay(const Story& story) : story_(story), lines_(story.lines()) {}

  Verdict run() {
    const Cell begin(lines_.size(), 0);
    for (State state : story_.beginnings()) enter(begin, state, kNone, nullptr);
    std::map<size_t, std::set<Cell>> waves{{0, {begin}}};
    for (auto wave = waves.begin(); wave != waves.end(); wave = waves.erase(wave)) {
      for (const Cell& cell : wave->second) {
        close(cell);
        if (is_end(cell)) return allowed(cell);
        for (size_t actor = 0; actor < lines_.size(); ++actor) {
          if (may_come(cell, actor) && advance(cell, actor)) waves[wave->first + 1].insert(after(cell, actor));
        }
      }
      last_ = wave->second;
    }
    return refused();
  }

 private:
  using Cell = std::vector<size_t>;
  static constexpr size_t kNone = SIZE_MAX;
  static constexpr size_t kMostStates = 400000;
  struct Entry {
    State state;
    size_t parent;
    const char* what;
  };
  struct Hash {
    size_t operator()(const State& state) const {
      unsigned char bytes[sizeof(State)];
      std::memcpy(bytes, &state, sizeof bytes);
      size_t hash = 0xcbf29ce484222325;
      for (const unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
      return hash ^ (hash >> 29);
    }
  };
  struct Same {
    bool operator()(const State& a, const State& b) const { return std::memcmp(&a, &b, sizeof a) == 0; }
  };
  using Known = std::unordered_set<State, Hash, Same>;

  static Cell after(Cell cell, size_t actor) {
    ++cell[actor];
    return cell;
  }
  bool is_end(const Cell& cell) const {
    for (size_t i = 0; i < cell.size(); ++i) {
      if (cell[i] < lines_[i].size()) return false;
    }
    return true;
  }
  int64_t latest(const Cell& cell) const {
    int64_t moment = kNeverEnds;
    for (size_t i = 0; i < cell.size(); ++i) {
      if (cell[i] < lines_[i].size()) moment = std::min(moment, lines_[i][cell[i]].event.at);
    }
    return moment;
  }
  // True if no other actor has an event to come that was over before this one can have begun.
  bool may_come(const Cell& cell, size_t actor) const {
    return cell[actor] < lines_[actor].size() && lines_[actor][cell[actor]].earliest <= latest(cell);
  }

  bool enter(const Cell& cell, State state, size_t parent, const char* what) {
    story_.refill(state);
    story_.model().tidy(state);
    if (!cells_[cell].insert(state).second) return false;
    entries_.push_back({state, parent, what});
    members_[cell].push_back(entries_.size() - 1);
    return true;
  }

  // Adds all states that unrecorded steps reach.
  void close(const Cell& cell) {
    const Moment moment{cell, latest(cell)};
    for (size_t i = 0; i < members_[cell].size() && entries_.size() < kMostStates; ++i) {
      const size_t at = members_[cell][i];
      const State before = entries_[at].state;
      steps_.all().clear();
      story_.model().steps(before, steps_);
      for (const auto& next : steps_.all()) {
        if (story_.may_hide(next.step, before, next.state, moment)) enter(cell, next.state, at, next.step.what);
      }
    }
  }

  bool advance(const Cell& cell, size_t actor) {
    const Mark& mark = lines_[actor][cell[actor]];
    const Cell to = after(cell, actor);
    for (size_t i = 0; i < members_[cell].size(); ++i) {
      const size_t at = members_[cell][i];
      const State before = entries_[at].state;
      if (story_.agrees(mark, actor, before)) enter(to, before, at, nullptr);
      steps_.all().clear();
      story_.model().steps(before, steps_);
      for (const auto& next : steps_.all()) {
        const bool told = next.step.actor == actor && story_.explains(mark, actor, next.step, before, next.state);
        if (told) enter(to, next.state, at, next.step.what);
      }
    }
    return !members_[to].empty();
  }

  Verdict allowed(const Cell& cell) {
    Verdict verdict;
    verdict.states = entries_.size();
    for (size_t at = members_[cell].front(); at != kNone; at = entries_[at].parent) {
      if (entries_[at].what) verdict.taken.insert(entries_[at].what);
    }
    return verdict;
  }

  Verdict refused() const {
    if (entries_.size() >= kMostStates) return {true, true, {}, {}, entries_.size()};
    constexpr size_t kLastEvents = 8, kStatesShown = 6;
    Verdict verdict;
    verdict.allowed = false;
    verdict.states = entries_.size();
    const Cell& cell = *last_.rbegin();
    std::vector<std::pair<int64_t, std::string>> events;
    for (size_t i = 0; i < cell.size(); ++i) {
      const size_t from = cell[i] > kLastEvents ? cell[i] - kLastEvents : 0;
      for (size_t n = from; n < std::min(cell[i] + 1, lines_[i].size()); ++n) {
        const Event& event = lines_[i][n].event;
        const std::string mark = n == cell[i] ? "  cannot be: " : "  ";
        events.emplace_back(event.at, mark + static_cast<char>('A' + static_cast<int>(i)) + ": " + event.line);
      }
    }
    std::sort(events.begin(), events.end());
    for (auto& [at, text] : events) verdict.why.push_back(std::move(text));
    const auto members = members_.find(cell);
    for (size_t i = 0; members != members_.end() && i < std::min(kStatesShown, members->second.size()); ++i) {
      verdict.why.push_back("  state: " + story_.describe(entries_[members->second[i]].state));
    }
    return verdict;
  }

  const Story& story_;
  const std::vector<Marks>& lines_;
  Steps<State> steps_;
  std::vector<Entry> entries_;
  std::map<Cell, Known> cells_;
  std::map<Cell, std::vector<size_t>> members_;
  std::set<Cell> last_;
};

// Returns all that a model can do, for the list of what no history did.
template <class Model>
std::set<std::string> steps_of(const Model& model) {
  using State = typename Model::State;
  std::set<std::string> names, known;
  std::deque<State> open;
  const auto enter = [&](State state) {
    model.tidy(state);
    if (known.emplace(reinterpret_cast<const char*>(&state), sizeof state).second) open.push_back(state);
  };
  enter(model.first());
  for (Steps<State> steps; !open.empty(); open.pop_front()) {
    steps.all().clear();
    model.steps(State(open.front()), steps);
    for (const auto& next : steps.all()) {
      names.insert(next.step.what);
      enter(next.state);
    }
  }
  return names;
}

}  // namespace zklock::model
