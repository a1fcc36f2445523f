// SPDX-License-Identifier: Apache-2.0
// The queue of delay_model.cc: items, the folders T that they are due at, pushers, consumers and their line.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>

namespace zklock::model::delay {

constexpr uint8_t kLast = 3;  // the end of time: the last T, and the longest flight
constexpr uint8_t kNever = 255;
constexpr uint8_t kNone = 255;

enum Where : uint8_t { gone, at_1, at_2, plain, dead };  // at_1: below T = 1
struct Node {
  uint8_t where;
  uint8_t owner;  // of its claim, counted from 1; 0: it is free
  auto operator<=>(const Node&) const = default;
};

struct Folder {  // T
  uint8_t there;
  uint8_t segments;  // a bit for each priority
  uint8_t life;      // how often it was made, if that matters
};

enum Status : uint8_t { to_come, queued, sent, failed, doubtful, taken_in };
enum Belief : uint8_t { unknown, absent, bare, open };  // what a pusher knows of a T; bare: without its segment
struct Item {
  uint8_t status, t, form, marker;
  uint8_t times;   // how often it was put in
  uint8_t warned;  // reported as possibly in twice
};

enum Pushing : uint8_t { opening, marking, making_folder, pushing, over, refused };
struct Pusher {
  std::array<Item, 2> items;
  uint8_t count, phase, priority;
  uint8_t marker, next;           // the node's version; the same as the pusher knows it
  std::array<uint8_t, 2> belief;  // of each T
  std::array<uint8_t, 2> used;    // the life of T in which its token was used; 0: in none
  uint8_t recovering;
};

enum Kind : uint8_t { follows, is_older, takes_all };
enum Phase : uint8_t {
  starting,
  asking,    // for the servers' time
  looking,   // Consumer::begin
  claiming,  // in line: leaves it in the same transaction
  claim_lost,
  working,
  removing,  // T
  in_line,   // IdleLine: if it is the first, it looks
  sets_watches,
  sleeping,
  killed,
  ended,
};
struct Consumer {
  uint8_t kind, phase, item;
  uint8_t knows;  // that the queue is at mark 2
  int8_t lag;     // how late its idea of the time is; in `asking`, when it asked
  uint8_t began;  // takes_all: not after this
  uint8_t woken;
  uint8_t timer;     // kNever: none
  uint8_t watched;   // a bit for each T
  uint8_t left_out;  // the same
};

enum Upkeep : uint8_t { idle, begun, halfway };

enum Error : uint8_t { fine, early, lost, not_deleted, same_name, too_soon, overflow };
struct State {
  std::array<Node, 4> nodes;
  std::array<Folder, 2> folders;
  std::array<Pusher, 2> pushers;
  std::array<Consumer, 2> consumers;
  std::array<uint8_t, 2> line;  // consumers, counted from 1
  uint8_t mark;                 // 0: the queue is deleted
  uint8_t later, now, troubles;
  uint8_t purge;     // the time of the T that a purge is at; 0: none
  uint8_t deletion;  // Upkeep
  uint8_t error;
};

inline uint8_t bit(size_t t) {
  return static_cast<uint8_t>(1 << t);
}
inline int time_of(size_t t) {
  return static_cast<int>(t) + 1;
}
inline bool is_delayed(const Node& n) {
  return n.where == at_1 || n.where == at_2;
}
inline size_t t_of(const Node& n) {
  return static_cast<size_t>(n.where - at_1);
}
inline bool has_items(const State& s, size_t t) {
  return std::ranges::any_of(s.nodes, [t](const Node& n) { return n.where == at_1 + t; });
}

// The order of the items means nothing.
inline void sort_nodes(State& s) {
  for (size_t i = 1; i < s.nodes.size(); ++i) {
    for (size_t k = i; k > 0 && s.nodes[k] < s.nodes[k - 1]; --k) {
      std::swap(s.nodes[k], s.nodes[k - 1]);
      for (Consumer& c : s.consumers) {
        if (c.phase == removing || (c.item != k && c.item != k - 1)) continue;
        c.item = static_cast<uint8_t>(c.item == k ? k - 1 : k);
      }
    }
  }
}

// Wakes the consumers that sleep. They watch the plain items, and a T that was due.
inline void changed(State& s, const Node& node) {
  for (Consumer& c : s.consumers) {
    c.woken |= c.phase == sleeping && (!is_delayed(node) || (c.watched & bit(t_of(node))));
  }
}
inline void free_node(State& s, Node& node) {
  node.owner = 0;
  changed(s, node);
}
// Another item may take its room, so a claim of this one must not find that.
inline void remove_node(State& s, Node& node) {
  changed(s, node);
  for (Consumer& c : s.consumers) {
    const bool claims = c.phase == claiming || c.phase == claim_lost;
    if (claims && c.item == &node - s.nodes.data()) c.item = kNone;
  }
  node = {};
}

inline bool is_in_line(const State& s, size_t who) {
  return std::ranges::find(s.line, who + 1) != s.line.end();
}
// Returns where a consumer goes on if its claim or removal is over.
inline Phase back(const State& s, size_t who) {
  return is_in_line(s, who) ? in_line : looking;
}
inline void leave_line(State& s, size_t who) {
  std::replace(s.line.begin(), s.line.end(), static_cast<uint8_t>(who + 1), uint8_t{0});
  if (s.line[0] == 0) std::swap(s.line[0], s.line[1]);
}

inline void end_session(State& s, size_t who) {
  leave_line(s, who);
  for (Node& node : s.nodes) {
    if (node.owner == who + 1) free_node(s, node);
  }
}

}  // namespace zklock::model::delay
