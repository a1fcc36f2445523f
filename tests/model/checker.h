// SPDX-License-Identifier: Apache-2.0
// An explicit-state model checker: visits all states that a model can reach, the nearest first, and names the shortest
// way to one that must not be.
//
// A model has
//   State                               plain bytes without padding
//   State first() const                 where all begins
//   void steps(state, Steps&) const     all that can happen next
//   void tidy(State&) const             makes states that mean the same equal
//   const char* fault(state) const      what is wrong with it; null: nothing
//   bool is_settled(state) const        all have what they wanted, and nothing is left behind
//
// From each state, moves alone (without luck) must reach a settled one. This finds contenders that wait forever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace zklock::model {

enum class Kind {
  move,    // happens sooner or later: a program's next step, or a server's
  chance,  // may happen: a fault, or a wish of the user's
};

struct Step {
  Kind kind;
  size_t actor;      // numbered from 0; kNobody: the servers, the network
  const char* what;  // for the trace
};
constexpr size_t kNobody = SIZE_MAX;

template <class State>
class Steps {
 public:
  void move(const State& next, size_t actor, const char* what) { add(next, {Kind::move, actor, what}); }
  void chance(const State& next, size_t actor, const char* what) { add(next, {Kind::chance, actor, what}); }

  struct Successor {
    State state;
    Step step;
  };
  std::vector<Successor>& all() { return all_; }

 private:
  void add(const State& next, Step step) { all_.push_back({next, step}); }
  std::vector<Successor> all_;
};

struct Finding {
  size_t states = 0;
  std::string fault;               // empty: the model is sound
  std::vector<std::string> trace;  // the steps that lead to it
};

std::string describe(const Step& step);

template <class Model>
class Checker {
 public:
  using State = typename Model::State;
  static_assert(std::has_unique_object_representations_v<State>);

  explicit Checker(const Model& model) : model_(model), slots_(size_t{1} << 16, kNone) {}

  Finding run() {
    State first = model_.first();
    model_.tidy(first);
    enter(first, kNone);
    for (uint32_t at = 0; at < states_.size(); ++at) {
      if (const char* fault = model_.fault(states_[at])) return found(fault, at);
      follow(at);
    }
    const uint32_t stuck = find_stuck();
    return stuck == kNone ? Finding{states_.size(), "", {}} : found("never settles", stuck);
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  const std::vector<typename Steps<State>::Successor>& successors_of(State state) {
    steps_.all().clear();
    model_.steps(state, steps_);
    for (auto& next : steps_.all()) model_.tidy(next.state);
    return steps_.all();
  }

  void follow(uint32_t at) {
    first_move_.push_back(moves_.size());
    for (const auto& next : successors_of(states_[at])) {
      const uint32_t to = enter(next.state, at);
      if (next.step.kind == Kind::move && to != at) moves_.push_back(to);
    }
  }

  static uint64_t hash_of(const State& state) {
    unsigned char bytes[sizeof(State)];
    std::memcpy(bytes, &state, sizeof bytes);
    uint64_t hash = 0xcbf29ce484222325;
    for (const unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
    return hash ^ (hash >> 29);
  }

  // Returns the state's number, a new one if it is unknown.
  uint32_t enter(const State& state, uint32_t parent) {
    if (2 * states_.size() >= slots_.size()) grow();
    uint32_t& slot = slots_[slot_of(state)];
    if (slot != kNone) return slot;
    slot = static_cast<uint32_t>(states_.size());
    states_.push_back(state);
    parents_.push_back(parent);
    return slot;
  }

  size_t slot_of(const State& state) const {
    const size_t mask = slots_.size() - 1;
    size_t slot = hash_of(state) & mask;
    while (slots_[slot] != kNone && std::memcmp(&states_[slots_[slot]], &state, sizeof state) != 0) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  void grow() {
    slots_.assign(2 * slots_.size(), kNone);
    for (uint32_t at = 0; at < states_.size(); ++at) slots_[slot_of(states_[at])] = at;
  }

  // Returns the first state from which moves reach no settled one. Searches backwards from the settled ones.
  uint32_t find_stuck() {
    first_move_.push_back(moves_.size());
    std::vector<size_t> first_from(states_.size() + 1, 0);
    for (const uint32_t to : moves_) ++first_from[to];
    size_t sum = 0;
    for (size_t& first : first_from) first = sum += first;
    std::vector<uint32_t> from(moves_.size());
    for (uint32_t at = 0; at < states_.size(); ++at) {
      for (size_t i = first_move_[at]; i < first_move_[at + 1]; ++i) from[--first_from[moves_[i]]] = at;
    }
    const std::vector<bool> settles = reach_back(from, first_from);
    for (uint32_t at = 0; at < states_.size(); ++at) {
      if (!settles[at]) return at;
    }
    return kNone;
  }

  std::vector<bool> reach_back(const std::vector<uint32_t>& from, const std::vector<size_t>& first_from) const {
    std::vector<bool> reached(states_.size());
    std::vector<uint32_t> open;
    const auto reach = [&](uint32_t at) {
      if (reached[at]) return;
      reached[at] = true;
      open.push_back(at);
    };
    for (uint32_t at = 0; at < states_.size(); ++at) {
      if (model_.is_settled(states_[at])) reach(at);
    }
    while (!open.empty()) {
      const uint32_t at = open.back();
      open.pop_back();
      for (size_t i = first_from[at]; i < first_from[at + 1]; ++i) reach(from[i]);
    }
    return reached;
  }

  // Steps are not kept with the states, so they are made again on the way back.
  Finding found(const std::string& fault, uint32_t at) {
    Finding finding{states_.size(), fault, {}};
    for (; parents_[at] != kNone; at = parents_[at]) {
      for (const auto& next : successors_of(states_[parents_[at]])) {
        if (std::memcmp(&next.state, &states_[at], sizeof(State)) != 0) continue;
        finding.trace.insert(finding.trace.begin(), describe(next.step));
        break;
      }
    }
    return finding;
  }

  const Model& model_;
  Steps<State> steps_;
  std::vector<State> states_;
  std::vector<uint32_t> parents_;
  std::vector<uint32_t> slots_;     // a hash table of numbers of states
  std::vector<uint32_t> moves_;     // the states that moves lead to, in the order of the states that they start from
  std::vector<size_t> first_move_;  // for each state, in moves_
};

}  // namespace zklock::model
