// SPDX-License-Identifier: Apache-2.0
// Requests about the nodes of a queue: whether a path is a queue, and which segment takes new items. A path that is
// used for something else is refused and not touched. All functions throw what the session throws, and a Failure for an
// answer that they cannot handle. `tried` is for messages: "cannot push to /q".
#pragma once

#include "recipe/queue/layout.h"
#include "recipe/use.h"
#include "zk/session.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zklock::recipe {

// A queue as a command finds it, seen after one sync.
struct FoundQueue {
  bool exists = false;
  std::vector<zk::Answer> lists = {};  // of the folders that the command wanted to know
  PathMark mark = PathMark::none;
  int version = 0;           // of the queue's node, with that mark
  uint64_t connections = 0;  // Client::connections() when they were listed
  Site site = {};            // where it can be made; only from look_at_queue_or_site()
};

// Looks at the queue after a sync, and lists these of its folders in the same flight: layout.items(), layout.dead().
// Throws a Failure if the path is used for something else (65) or may not be read (77). The first also refuses a queue
// that is being deleted (65).
FoundQueue look_at_queue(zk::Session& session, const QueueLayout& layout, const std::vector<std::string>& folders,
                         std::string_view tried);
FoundQueue look_at_queue_to_delete(zk::Session& session, const QueueLayout& layout,
                                   const std::vector<std::string>& folders, std::string_view tried);

// Does the same as the first, and looks at the nodes above the path in the same flight. If there is no queue, throws a
// Failure (65) also if none may be made at this path.
FoundQueue look_at_queue_or_site(zk::Session& session, const QueueLayout& layout,
                                 const std::vector<std::string>& folders, std::string_view tried);

// Sends a transaction that makes a queue, behind the creation of the nodes that are missing above it. If one of them
// cannot be made, the answer is no_node, as for an unknown site. Call it when the session is ready.
zk::Call send_making(zk::Session& session, const Site& site, const std::vector<zk::Step>& steps);

// Does the same as look_at_queue_or_site(), but makes the queue if it is absent, in one transaction after the nodes
// above it.
FoundQueue make_queue(zk::Session& session, const QueueLayout& layout, const std::vector<std::string>& folders,
                      std::string_view tried);

// True if a transaction has failed because another client was faster, or if its outcome is unknown. Read the nodes
// again to find out what is there now.
bool is_overtaken(zk::Code code);

// Return the segments in a list of `folder`, or the paths of the items of a segment, both in order. `folder` is the
// items or dead letters of a queue. A missing node has none. They throw a Failure (77) if the node may not be listed.
std::vector<Segment> segments_in(const std::string& folder, const zk::Answer& list);
std::vector<std::string> list_items(zk::Session& session, const std::string& folder, const Segment& segment);

// Lists the segments of a folder one after the other, in order.
class SegmentWalk {
 public:
  // `list` is that of `folder`. Throws what segments_in() throws.
  SegmentWalk(zk::Session& session, std::string folder, const zk::Answer& list)
      : session_(session), folder_(std::move(folder)), segments_(segments_in(folder_, list)) {}

  struct Listed {
    std::string path;
    zk::Stat stat;                   // as it was listed
    std::vector<std::string> items;  // their paths, in order
  };

  bool is_at_end() const { return next_ == segments_.size(); }
  // Lists the next segment; not to be called at the end. A missing one has no items. Throws a Failure (77) if it may
  // not be listed.
  Listed next();
  // Sends the request for the list that next() will return, so that it comes with the answers to what is sent now.
  void ask_ahead();

 private:
  zk::Session& session_;
  std::string folder_;
  std::vector<Segment> segments_;
  size_t next_ = 0;  // the index of the next segment
  zk::Call ahead_;   // its list, if it was asked for
};

// Returns a node below an item or dead letter that is not zklock's, so that the item cannot be deleted; empty: there is
// none.
std::string foreign_below(zk::Session& session, const std::string& item);
// Returns the Failure (65) for such a node.
Failure not_ours(std::string_view tried, const std::string& node);

// Sends the deletion of a segment that was sealed and empty when `stat` was read; null if it was not. Such a segment
// gets no more items, and its version does not change. It does no harm if another client deletes it first, or if the
// connection is lost: the next consumer deletes it.
zk::Call remove_if_done(zk::Session& session, const std::string& segment, const zk::Stat& stat);

// Deletes the claim of an item if it is in no session, as after the restore of a backup. Returns false if it is in one,
// or has changed since `claim` was read.
bool remove_left_claim(zk::Session& session, const std::string& item, const zk::Stat& claim);

// The open segment of a priority, to which new items go: the last one below a queue's items or dead letters.
class QueueTail {
 public:
  // `folder` is the path of the items or dead letters of a queue.
  QueueTail(zk::Session& session, std::string folder, int priority, std::string tried)
      : session_(session), folder_(std::move(folder)), tried_(std::move(tried)), segment_{priority, 0} {}

  // Finds it, or makes it if there is none. Throws a Failure (65) if the queue was deleted.
  void find();
  // The same with a list of the folder, without a look at the segment. So it may be sealed, which a transaction that
  // relies on it notices, or fuller than count() knows, until note_last() is told.
  void find_in(const zk::Answer& list);
  // Takes the first segment. Returns the steps that make it, for the transaction that makes the queue. If that fails,
  // call find() or find_in().
  std::vector<zk::Step> begin();
  bool found() const { return found_; }

  // The open segment as far as find() and count() know. A transaction that relies on it must check that its version is
  // 0.
  const Segment& segment() const { return segment_; }
  std::string path() const { return segment_path(folder_, segment_); }
  // The path of a new item without its number. For `tags`, see tags_for().
  std::string stem(const std::string& tags = "") const {
    return path() + "/" + token_ + (tags.empty() ? "-" : tags + ".");
  }

  // If `items` more items fill the segment, adds the steps that seal it, for the end of their transaction.
  void put_seal(int64_t items, std::vector<zk::Step>& steps) const;
  // Counts the items of a transaction that was sent. If they fill the segment, the next segment takes its place.
  void count(int64_t items);
  // Takes another token, because a node that stays has the name of the next item.
  void renew_token() { token_ = make_token(); }
  // Notes the path of the last item that a transaction has made, and that `underway` more are on their way into its
  // segment. The item's number shows how many were ever made there, by other clients too. If all of them fill the open
  // segment, the seal is sent, and the next segment takes its place. If the seal is lost, the next client that puts an
  // item in sends another.
  void note_last(const std::string& item, int64_t underway = 0);

 private:
  bool open(const Segment& segment, int folder_version);
  void take(const Segment& segment, int64_t made);
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
