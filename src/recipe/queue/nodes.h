// SPDX-License-Identifier: Apache-2.0
// The nodes of a queue at the server: whether a path is a queue, and the segment that takes new items. What is anything
// else is refused and not touched. All functions here throw a Failure for what has no way round, and what the session
// throws. `tried` is for messages: "cannot push to /q".
#pragma once

#include "recipe/queue/layout.h"
#include "zk/session.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::recipe {

enum class QueueState {
  there,
  absent,
  expired,  // nothing is known: the session is over
};

// Throws a Failure where the path is used for something else (65) or may not be read (77).
QueueState look_at_queue(zk::Session& session, const QueueLayout& layout, std::string_view tried, Deadline until);

// The same, and makes it where it is absent, in one transaction; the nodes above it before that. There afterwards,
// unless the session has expired.
QueueState make_queue(zk::Session& session, const QueueLayout& layout, std::string_view tried, Deadline until);

// What a transaction was answered that somebody else was faster than, or whose answer was lost: only another look tells
// what is there now.
bool is_overtaken(zk::Code code);

// Return what is below the items or the dead of a queue, the `folder`: the segments, after a sync; the items of one, in
// order; their paths. They throw a Failure (69) if the session has expired, and one (77) for what may not be listed.
std::vector<Segment> list_segments(zk::Session& session, const std::string& folder, Deadline until);
std::vector<ItemName> list_items(zk::Session& session, const std::string& folder, const Segment& segment,
                                 Deadline until);
std::vector<std::string> item_paths(zk::Session& session, const std::string& folder, const Segment& segment,
                                    Deadline until);

// Returns a node below an item, or a dead one, that is not zklock's, and because of which the item cannot be deleted;
// empty: there is none.
std::string foreign_below(zk::Session& session, const std::string& item, Deadline until);
// The Failure (65) for such a node.
Failure not_ours(std::string_view tried, const std::string& node);

// Of a segment, as it was seen: deletes it if it is sealed and empty. It gets no items any more, nor does its version
// change; who else deletes it does no harm.
void remove_if_done(zk::Session& session, const std::string& segment, const zk::Stat& stat, Deadline until);

// Removes the claim of an item, as it was seen, if it is in no session: a backup was restored. False if it is not, or
// if it has changed since.
bool remove_left_claim(zk::Session& session, const std::string& item, const zk::Stat& claim, Deadline until);

// The open segment of a priority: the last one below a queue's items or dead, where new items go.
class QueueTail {
 public:
  // `folder` is the items or the dead of a queue.
  QueueTail(zk::Session& session, std::string folder, int priority, std::string tried)
      : session_(session), folder_(std::move(folder)), tried_(std::move(tried)), segment_{priority, 0} {}

  // Looks for it, and makes it where there is none. False if the session is expired.
  bool find(Deadline until);
  bool found() const { return found_; }

  // The rest counts along from there; who relies on it checks the segment's version 0 in the same transaction.
  const Segment& segment() const { return segment_; }
  std::string path() const { return segment_path(folder_, segment_); }
  // The path of a new item, but for its number.
  std::string stem() const { return path() + "/" + token_ + "-"; }

  // For the end of a transaction that brings so many items: if they fill the segment, it is sealed.
  void put_seal(int64_t items, std::vector<zk::Step>& steps) const;
  // That is on its way: what they fill has made way for the next segment.
  void count(int64_t items);
  // Takes another token, because a node that stays has the name of the next item.
  void renew_token() { token_ = make_token(); }
  // At least so many were ever made in it, those on their way among them.
  void note_made(int64_t made) { made_ = std::max(made_, made); }

 private:
  void open(const Segment& segment, int folder_version, Deadline until);
  bool is_filled_by(int64_t items) const { return made_ + items >= kSegmentSize; }

  zk::Session& session_;
  std::string folder_;
  std::string tried_;
  Segment segment_;
  std::string token_ = make_token();  // for the names of items in this segment
  int64_t made_ = 0;
  bool found_ = false;
};

}  // namespace zklock::recipe
