// SPDX-License-Identifier: Apache-2.0
// The ephemeral sequential nodes below one parent, in the order of their numbers. This is for models in which all
// servers know the same; line_model.cc is the one in which they do not.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace zklock::model {

constexpr uint8_t kNoNode = 255;

template <size_t kMost>
class Nodes {
 public:
  // Returns false if the model has no room for it.
  bool add(size_t who) {
    forget(who);
    const auto free = std::find(nodes_.begin(), nodes_.end(), uint8_t{0});
    if (free == nodes_.end()) return false;
    *free = static_cast<uint8_t>(exists | session_lives | last_attempt | (who << kOwner));
    return true;
  }

  // Returns the node of its last attempt in its current session.
  uint8_t own(size_t who) const {
    for (uint8_t i = 0; i < kMost; ++i) {
      if (is_of(nodes_[i], who) && (nodes_[i] & session_lives) && (nodes_[i] & last_attempt)) return i;
    }
    return kNoNode;
  }
  bool has(uint8_t at) const { return at < kMost && nodes_[at] != 0; }
  size_t owner_of(uint8_t at) const { return static_cast<size_t>(nodes_[at] >> kOwner); }
  bool is_of_session(uint8_t at, size_t who) const { return is_of(nodes_[at], who) && (nodes_[at] & session_lives); }

  size_t count() const {
    return static_cast<size_t>(std::count_if(nodes_.begin(), nodes_.end(), [](uint8_t node) { return node != 0; }));
  }
  size_t count_of(size_t who) const {
    return static_cast<size_t>(std::count_if(nodes_.begin(), nodes_.end(),
                                             [&](uint8_t node) { return is_of(node, who) && (node & session_lives); }));
  }

  // Sets in `woken` a bit for each contender that watches the nearest node before it.
  void remove(uint8_t at, uint8_t& woken) {
    if (!has(at)) return;
    for (size_t i = at; i + 1 < kMost; ++i) nodes_[i] = nodes_[i + 1];
    nodes_.back() = 0;
    if (has(at)) woken |= static_cast<uint8_t>(1 << owner_of(at));
  }

  // Forgets its node.
  void forget(size_t who) { clear(who, last_attempt); }
  // Opens another session; the one before is not known to be over.
  void leave_session(size_t who) { clear(who, session_lives | last_attempt); }
  bool any_left_behind(size_t who) const {
    return std::any_of(nodes_.begin(), nodes_.end(),
                       [&](uint8_t node) { return is_of(node, who) && !(node & session_lives); });
  }
  // Ends its session, or those that it left behind.
  void end_session(size_t who, bool left_behind, uint8_t& woken) {
    for (uint8_t i = 0; i < kMost;) {
      const bool ends = is_of(nodes_[i], who) && !(nodes_[i] & session_lives) == left_behind;
      if (ends) {
        remove(i, woken);
      } else {
        ++i;
      }
    }
  }

 private:
  enum Bits : uint8_t { exists = 1, session_lives = 2, last_attempt = 4 };
  static constexpr int kOwner = 4;

  static bool is_of(uint8_t node, size_t who) { return node != 0 && static_cast<size_t>(node >> kOwner) == who; }
  void clear(size_t who, int bits) {
    for (uint8_t& node : nodes_) {
      if (is_of(node, who)) node &= static_cast<uint8_t>(~bits);
    }
  }

  std::array<uint8_t, kMost> nodes_{};
};

}  // namespace zklock::model
