// SPDX-License-Identifier: Apache-2.0
// Reads a lock, or slots, and watches it, to report each hand-over. It reads only. It costs the servers one watch on
// the list of each folder in which contenders stand: one for a lock, three for slots. Each change costs one list, and
// one read for each new contender.
#pragma once

#include "recipe/lock/survey.h"
#include "recipe/watched_node.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace zklock::recipe {

enum class LockEvent {
  released,  // it held the lock, and is gone
  left,      // it waited, and is gone: it gave up, or held for less than a look takes
  holding,   // it already held the lock when we began to follow
  acquired,
  waiting,  // it has come, or it no longer holds and waits again
};

struct LockChange {
  LockEvent event;
  Participant who;                      // as it is now, or as it was last seen
  size_t position = 0;                  // 1 is the first; 0: it is gone
  std::optional<Duration> lasted = {};  // how long it waited or held until now; nothing: not known
};

// A contender as it was last seen.
struct Standing {
  Participant who;
  std::optional<Deadline> since = {};  // when it began to hold or wait; nothing: before we began to follow
};

// Compares `standings` with `now`, the line as seen at `moment` (nothing: for the first time), and updates `standings`.
// Returns the contenders that are gone, then those that hold or wait now and did not before, both in the order of their
// line. A contender in the gate of slots is the same as the one that gets a slot. Pure.
std::vector<LockChange> advance(std::vector<Standing>& standings, const std::vector<Participant>& now,
                                std::optional<Deadline> moment);

class WatchedLock {
 public:
  // `tried` is for messages: "cannot follow /l".
  WatchedLock(zk::Session& session, const std::string& path, const std::string& tried)
      : session_(session),
        path_(path),
        tried_(tried),
        node_(session, path, Aspect::children, tried),
        gate_(session, path + "/locks", Aspect::children, tried),
        slots_(session, path + "/leases", Aspect::children, tried) {}

  // Lists what is stale and returns what has changed since the last look, as advance() does. No change after its return
  // is missed, except for what begins and ends within the round trips of the next look. Throws what the session throws,
  // and a Failure if a node may not be listed (77) or is not a lock (65). standings() is then as before.
  std::vector<LockChange> look();
  // After look(): true if there may be a change, or the session is over.
  bool is_stale() const;
  // Returns when the next look() is due, though no watch may have fired, as in a WatchedNode.
  Deadline due() const { return is_stale() ? kAtOnce : node_.again(); }

  const std::string& path() const { return path_; }
  // Returns the contenders, first come first, as in a Survey, with the data that they had when first seen. If a
  // contender was gone before it could be read, only its node is known; for slots it is left out. A contender that has
  // a slot but may not have left the gate is listed at the next look. Until then it is listed as waiting if it was seen
  // in the gate before.
  const std::vector<Standing>& standings() const { return standings_; }

 private:
  struct Line {
    int64_t folder = 0;  // its czxid: a name may come again in another folder of the same path
    std::vector<Participant> who;
    std::set<std::string> fresh;  // the nodes that were not read before
  };

  bool has_folders() const;
  Line line_at(const std::string& folder, const WatchedNode& node) const;
  void read(const std::vector<Line*>& lines);
  void leave_out_undecided(Line& slots, Line& gate, bool passed);
  void keep_waiting(const Participant& slot, Line& gate) const;

  zk::Session& session_;
  std::string path_;
  std::string tried_;
  WatchedNode node_;
  WatchedNode gate_;  // this one and the next only if has_folders()
  WatchedNode slots_;
  // The nodes that were read and were there in the last look, by their folder and path; leftovers too.
  std::map<std::pair<int64_t, std::string>, Participant> known_;
  std::vector<Standing> standings_;
  bool looked_ = false;
};

}  // namespace zklock::recipe
