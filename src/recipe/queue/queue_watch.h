// SPDX-License-Identifier: Apache-2.0
// Watches everything in a queue that may bring a consumer an item: new segments, new items, and claims that go. What a
// Consumer has found in work is watched item by item.
//
// After a reconnect, the library sends all watches in one packet, and a server drops the connection each time if that
// packet is too large. So the watched paths take at most 64 KiB. What cannot be watched for lack of room is looked at
// from time to time.
#pragma once

#include "recipe/queue/consumer.h"
#include "recipe/queue/layout.h"
#include "zk/session.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace zklock::recipe {

class QueueWatch {
 public:
  QueueWatch(zk::Session& session, QueueLayout layout, Consumer& consumer)
      : session_(session), layout_(std::move(layout)), consumer_(consumer) {}

  // Watches what is not watched yet. Returns false if some of it has changed since the consumer looked. Throws what the
  // session throws, and a Failure if the queue was deleted (65) or may not be listed.
  bool watch();
  // The watches that are set. It is time to look again when one of them fires, or at next_poll().
  std::vector<zk::Watch> watches() const;
  Deadline next_poll() const;
  // True if not all open segments are watched, for lack of room. Then the caller looks at all items after next_poll().
  bool is_blind() const { return blind_; }
  // Reads the items in work that are due for a look. Returns false if some are free or have become so.
  bool look_at_due();

  // Hands over the paths of the items that are new or were given back, in order.
  std::vector<std::string> take_found() { return std::exchange(found_, {}); }

  // Forgets the watches and what was found. To be called when the session is over.
  void forget();

 private:
  void list_segments();
  bool watch_open(bool check_all);
  bool watch_items();
  bool take_note(const std::string& segment, const std::vector<std::string>& names);
  size_t overhead() const;
  bool take_room(const std::string& path, size_t limit);

  zk::Session& session_;
  QueueLayout layout_;
  Consumer& consumer_;
  zk::Watch items_watch_;                             // on the list of segments
  std::vector<std::string> segments_;                 // paths of the listed segments
  std::vector<std::string> open_;                     // paths of the segments that take items
  std::map<std::string, zk::Watch> segment_watches_;  // on the lists of segments that are or were open
  bool blind_ = false;
  size_t room_taken_ = 0;  // bytes of watched paths
  std::vector<std::string> found_;
};

}  // namespace zklock::recipe
