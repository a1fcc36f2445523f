// SPDX-License-Identifier: Apache-2.0
// The nodes of a queue, and what their names and Stats say. Pure: it asks nobody.
//
//   <queue>                                             the text kQueueFormat
//   <queue>/items/PPP-SSSSSSSSSS                        a segment: priority (000 first) and number (last + 1)
//   <queue>/items/PPP-SSSSSSSSSS/<token>-NNNNNNNNNN           an item: raw bytes, in the order of the server's numbers
//   <queue>/items/PPP-SSSSSSSSSS/<token>-NNNNNNNNNN/claim     ephemeral: somebody works on it
//   <queue>/dead/PPP-SSSSSSSSSS/<token>-NNNNNNNNNN            an item given up on, under the name that it had; its text
//   <queue>/dead/PPP-SSSSSSSSSS/<token>-NNNNNNNNNN/why        says why
//   <queue>/pushing/<token>                             ephemeral: a pusher; its version is that of its last batch
//   <queue>/waiting                                     the line of idle consumers (the lock recipe)
//
// A segment takes items until it is sealed, with its version 1 or more; the transaction that brings it to
// kSegmentSize items seals it and makes the next. So each priority has one open segment, its last, once it was used.
// No two items of a queue have the same name: a pusher takes a new token for each segment that it fills.
#pragma once

#include "base/time.h"
#include "recipe/use.h"
#include "zk/client.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::recipe {

inline constexpr int kUsualPriority = 100;
inline constexpr int kLastPriority = 999;
inline constexpr int64_t kSegmentSize = 1000;  // items ever made in it, not those that are left

// In bytes. A request may have 1,048,575; the rest is for what goes along when an item moves: paths, why.
inline constexpr size_t kLargestItem = 983040;

struct Segment {
  int priority = kUsualPriority;
  int64_t number = 0;

  auto operator<=>(const Segment&) const = default;
  std::string name() const;
  Segment next() const { return {priority, number + 1}; }
};

// Nothing for a name that is not a segment's.
std::optional<Segment> parse_segment(std::string_view name);

// Those among the children of items or dead, in the order in which they are taken. Strangers are left out.
std::vector<Segment> segments_of(const std::vector<std::string>& names);

struct ItemName {
  std::string name;
  int64_t number = 0;  // the server's
};

std::optional<ItemName> parse_item(std::string_view name);

// Those among the children of a segment, in the order in which they are taken. Strangers are left out.
std::vector<ItemName> items_of(const std::vector<std::string>& names);

// A token nobody had before, of 12 letters.
std::string make_token();
bool is_token(std::string_view name);

struct QueueLayout {
  std::string queue;  // its path

  std::string items() const { return queue + "/items"; }
  std::string dead() const { return queue + "/dead"; }
  std::string pushing() const { return queue + "/pushing"; }
  std::string waiting() const { return queue + "/waiting"; }
  // Where the item goes when it is given up on.
  std::string dead_of(const std::string& item_path) const { return dead() + item_path.substr(items().size()); }
  std::string marker(const std::string& token) const { return pushing() + "/" + token; }
};

// Paths below items() or dead(), the `folder`.
std::string segment_path(const std::string& folder, const Segment& segment);
std::string item_path(const std::string& folder, const Segment& segment, const std::string& name);

std::string claim_of(const std::string& item_path);
std::string why_of(const std::string& dead_path);

// The one that the item of this path, or the dead one, is in.
Segment segment_of(const std::string& item_path);

// Of a segment.
inline bool is_sealed(const zk::Stat& segment) {
  return segment.version > 0;
}

// How many children were ever made below a node. Of an item: claims, those given back uncounted among them.
inline int64_t made_in(const zk::Stat& stat) {
  return (int64_t{stat.child_version} + stat.children) / 2;
}

// How often work on an item was begun and not given back uncounted, by a write of its own bytes.
inline int64_t attempts_of(const zk::Stat& item) {
  return made_in(item) - item.version;
}

// Of an item in work: it cannot be deleted.
inline bool is_claimed(const zk::Stat& item) {
  return item.children > 0;
}

// An item that we work on. Its claim is ours as long as the session `owner` lives, and nobody can remove an item with a
// claim on it.
struct Item {
  std::string path;
  std::string data;
  int64_t created_ms = 0;  // when it was pushed, the server's clock, ms since 1970
  int64_t attempts = 0;    // claims that count, this one included
  int64_t owner = 0;       // the session that made the claim
  int64_t token = 0;       // the claim's czxid: grows from one claim on it to the next
  Deadline proved{};       // a moment since which a quorum has known of our claim
};

std::vector<std::string> paths_of(const std::vector<Item>& items);

// The steps that make a queue where there is nothing yet; those that end a segment below `folder` and begin the next.
std::vector<zk::Step> steps_to_make(const QueueLayout& layout);
std::vector<zk::Step> steps_to_seal(const std::string& folder, const Segment& segment);

}  // namespace zklock::recipe
