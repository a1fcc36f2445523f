// SPDX-License-Identifier: Apache-2.0
// The nodes of a queue, and what their names and Stats say. Pure: it makes no requests.
//
//   <queue>                                             the text kQueueFormat, or kTaggedQueue
//   <queue>/items/PPP-SSSSSSSSSS                        a segment: priority (000 first) and number (last + 1)
//   <queue>/items/PPP-SSSSSSSSSS/<token>-NNNNNNNNNN           an item: raw bytes, in the order of the server's numbers
//   <queue>/items/PPP-SSSSSSSSSS/<token>-NNNNNNNNNN/claim     ephemeral: a consumer works on the item
//   <queue>/dead/PPP-SSSSSSSSSS/<token>-NNNNNNNNNN            a dead letter, with the name and bytes of the item
//   <queue>/dead/PPP-SSSSSSSSSS/<token>-NNNNNNNNNN/why        the text that says why
//   <queue>/pushing/<token>                             ephemeral: a pusher's marker; its version is its last batch
//   <queue>/waiting                                     the line of idle consumers (the lock recipe)
//   <queue>/awaited/<token>                             a push that waits for the end of its items: see awaited.h
//
// The name of an item that needs more than to be taken has tags, between dots: <token>.<tag>.NNNNNNNNNN. Its dead
// letter has the same name. Versions that do not know such names leave these items alone, as this one does with tags
// that it does not know. A tag is a letter and a value:
//
//   p<token>   the item of an awaited push: whatever ends the item or brings it back counts that there
//
// The ID of an item never contains tags: <token>-NNNNNNNNNN.
//
// A segment takes items until it is sealed: then its version is 1 or more. The transaction that brings it to
// kSegmentSize items seals it and makes the next one. If the pusher learns only from the answer how full the segment
// is, a later transaction seals it. So each priority that was ever used has one open segment, its last. No two items of
// a queue have the same name, because a pusher takes a new token for each segment that it fills.
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
inline constexpr int64_t kSegmentSize = 1000;  // items ever made in it, left or not; may be exceeded by a few batches

struct Segment {
  int priority = kUsualPriority;
  int64_t number = 0;

  auto operator<=>(const Segment&) const = default;
  std::string name() const;
  Segment next() const { return {priority, number + 1}; }
};

// Returns nothing if the name is not a segment's.
std::optional<Segment> parse_segment(std::string_view name);

// Returns the segments among the children of items or dead, in the order in which they are taken. Other names are left
// out.
std::vector<Segment> segments_of(const std::vector<std::string>& names);

// What the name of an item or dead letter says.
struct ItemName {
  std::string_view token;  // of its pusher
  std::string_view push;   // the token of the awaited push that it belongs to; empty: none
  int64_t number = 0;      // from the server's counter
};

// Returns nothing if the name is not an item's, or has a tag that this version does not know.
std::optional<ItemName> parse_item(std::string_view name);

// Returns the ID of the item or dead letter of this path.
std::string id_of(const std::string& item_path);
// Returns the token of the awaited push that the item or dead letter of this path belongs to; empty: none.
std::string push_of(const std::string& item_path);
// Returns the tags in the names of items of an awaited push, for QueueTail::stem(); none for an empty token.
std::string tags_for(const std::string& push);

// Returns the paths of the items among the children of the segment at `segment`, in the order in which they are taken.
// Other names are left out.
std::vector<std::string> item_paths(const std::string& segment, const std::vector<std::string>& names);

// Returns a random token of 12 hexadecimal digits, which no pusher had before.
std::string make_token();
bool is_token(std::string_view name);

struct QueueLayout {
  std::string queue;  // its path

  std::string items() const { return queue + "/items"; }
  std::string dead() const { return queue + "/dead"; }
  std::string pushing() const { return queue + "/pushing"; }
  std::string waiting() const { return queue + "/waiting"; }
  std::string awaited() const { return queue + "/awaited"; }
  std::string folder(bool dead_letters) const { return dead_letters ? dead() : items(); }
  // Those that each queue has; awaited() is made when it is needed.
  std::vector<std::string> folders() const { return {items(), dead(), pushing(), waiting()}; }
  // Returns the path to which an item goes when it becomes a dead letter.
  std::string dead_of(const std::string& item_path) const { return dead() + item_path.substr(items().size()); }
  std::string marker(const std::string& token) const { return pushing() + "/" + token; }
  std::string awaited_push(const std::string& token) const { return awaited() + "/" + token; }
};

// `folder` is items() or dead().
std::string segment_path(const std::string& folder, const Segment& segment);

std::string claim_of(const std::string& item_path);
std::vector<std::string> claims_of(const std::vector<std::string>& item_paths);
std::string why_of(const std::string& dead_path);

// Returns the segment that the item or dead letter of this path is in.
Segment segment_of(const std::string& item_path);

// True if a segment with this Stat is sealed.
inline bool is_sealed(const zk::Stat& segment) {
  return segment.version > 0;
}

// Returns how many children were ever made below a node. For an item, these are its claims, those given back uncounted
// included.
inline int64_t made_in(const zk::Stat& stat) {
  return (int64_t{stat.child_version} + stat.children) / 2;
}

// Returns how many claims on an item count as attempts. A release takes one back: it
// writes the item's own bytes, which raises the version.
inline int64_t attempts_of(const zk::Stat& item) {
  return made_in(item) - item.version;
}

// True if an item with this Stat is in work. It cannot be deleted then.
inline bool is_claimed(const zk::Stat& item) {
  return item.children > 0;
}

// An item that we work on. Its claim is ours as long as the session `owner` lives. While an item has a claim, the
// server refuses to delete it.
struct Item {
  std::string path;
  std::string data;
  int64_t created_ms = 0;  // when it was pushed, ms since 1970 by the server's clock
  int64_t attempts = 0;    // claims that count, this one included
  int64_t owner = 0;       // the session that made the claim
  int64_t token = 0;       // the claim's czxid: grows from one claim on the item to the next
  Deadline proved{};       // a moment since which a quorum has known of our claim
};

// Returns the paths of `all`, which may be items, or anything else with a path.
template <typename Range>
std::vector<std::string> paths_of(const Range& all) {
  std::vector<std::string> paths;
  for (const auto& one : all) paths.push_back(one.path);
  return paths;
}

// These return steps for a transaction. The first makes a queue at a path without a node. The second makes a segment if
// `folder` has the version `folder_version`. The third seals a segment and makes the next one.
std::vector<zk::Step> steps_to_make(const QueueLayout& layout);
std::vector<zk::Step> steps_to_open(const std::string& folder, int folder_version, const Segment& segment);
std::vector<zk::Step> steps_to_seal(const std::string& folder, const Segment& segment);

}  // namespace zklock::recipe
