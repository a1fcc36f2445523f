// SPDX-License-Identifier: Apache-2.0
// A lock, or slots, looked at and watched in one, for who wants to be told of each hand-over. Reads only. It costs the
// servers a watch on the list of each folder in which contenders stand, one or of slots three; each change one list,
// and one read for each contender that was not seen before.
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
  released,  // it held, and is gone
  left,      // it waited, and is gone: it gave up, or held for less than a look takes
  acquired,
  waiting,  // it has come, or has its place no more and waits anew
};

struct LockChange {
  LockEvent event;
  Participant who;                      // as it is now, or was when it was seen last
  size_t position = 0;                  // 1 is the first; 0: it is gone
  std::optional<Duration> lasted = {};  // what is over: how long it waited, or held; nothing where that is not known
};

// A contender as somebody who follows the lock has seen it.
struct Standing {
  Participant who;
  std::optional<Deadline> since = {};  // it holds, or waits; nothing: since before it was followed
};

// From those that stood there to those of `now`, first come first, as seen at `moment` (nothing: for the first time):
// who is gone, and then who holds or waits that did not before, both in the order of their line. Who is in the gate of
// slots is the same as who gets one. `standings` is brought up to date. Pure.
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

  // Lists what is stale. From when it returns on no change is missed, but for what begins and ends within the round
  // trips of the next look. False when the session has expired: participants() is then as before; open another one and
  // look again. Throws what the session throws, and a Failure for what may not be listed (77) or is no lock (65).
  bool look(Deadline until);
  // After look(): there may be a change, or the session is over.
  bool is_stale() const;

  const std::string& path() const { return path_; }
  // First come first, as in a Survey, each with its data as of when it was seen first. Of one that was gone before it
  // could be read nothing but its node is known; at slots it is left out. Who has a slot and may not have left the gate
  // is there with the next look; until then he waits, if he was seen in the gate before.
  const std::vector<Participant>& participants() const { return participants_; }

 private:
  struct Line {
    int64_t folder = 0;  // its czxid: a name may come again in another folder of the same path
    std::vector<Participant> who;
    std::set<std::string> fresh;  // the nodes that were not read before
  };

  bool has_folders() const;
  bool look_at(WatchedNode& node, Deadline until);
  bool check_use(Deadline until);
  Line line_at(const std::string& folder, const WatchedNode& node) const;
  bool read(const std::vector<Line*>& lines, Deadline until);
  void leave_out_undecided(Line& slots, Line& gate, bool passed);
  void keep_waiting(const Participant& slot, Line& gate) const;

  zk::Session& session_;
  std::string path_;
  std::string tried_;
  WatchedNode node_;
  WatchedNode gate_;  // this one and the next only where has_folders()
  WatchedNode slots_;
  int64_t looked_in_ = 0;  // the session of the last whole look
  // Those that were read and were there in the last look, by their folder and node; also what is no contender.
  std::map<std::pair<int64_t, std::string>, Participant> known_;
  std::vector<Participant> participants_;
};

}  // namespace zklock::recipe
