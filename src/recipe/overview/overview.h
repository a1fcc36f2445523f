// SPDX-License-Identifier: Apache-2.0
// All locks, queues and groups in a tree, for people to look at again and again. Reads only.
//
// What it costs is bounded, whatever the tree and whatever happens in it: a look asks at most kRequestsPerLook
// questions, and what is left then is seen in the next one; nodes beyond kMostNodes are not seen at all. Lists of
// children are watched, one watch a node, and asked for again only when they have changed. Of a lock's line two or
// three contenders are read, each once. Only queues are asked at each look.
#pragma once

#include "recipe/line.h"
#include "recipe/overview/queue_figures.h"
#include "recipe/use.h"
#include "zk/session.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::recipe {

inline constexpr size_t kRequestsPerLook = 1000;
inline constexpr size_t kMostNodes = 10'000;

// Times are ms since 1970 by the server's clock, unless they say otherwise; 0: not known.
struct LockFigures {
  std::string path;
  bool slots = false;
  size_t holders = 0;
  size_t waiters = 0;
  std::string holder;     // what stands on the node of the first of them; empty: nobody, or not known
  int64_t held_ms = 0;    // since when: its place in line, or, by our clock, when we saw it take over
  int64_t waited_ms = 0;  // since when the first of those who wait does
};

struct GroupFigures {
  std::string path;
  size_t members = 0;
  int64_t changed_ms = 0;  // when the last one came, or, by our clock, when we saw that one came or went
};

struct OverviewFigures {
  std::vector<LockFigures> locks;  // in the order of their paths; each has a contender at least
  std::vector<QueueFigures> queues;
  std::vector<GroupFigures> groups;
  bool behind = false;     // some of it waits for the next look
  bool too_large = false;  // there are nodes that it does not see
  bool exists = false;     // the root
  zk::Answer refusal;      // not ok: why the root cannot be listed
};

class Overview {
 public:
  Overview(zk::Session& session, std::string root) : session_(session), root_(std::move(root)) {}

  // False when the session has expired: the figures are as before; open another one and look again. Throws what the
  // session throws.
  bool look(Deadline until);

  // As of the last look.
  const OverviewFigures& figures() const { return figures_; }

 private:
  // One whose children are watched. A contender, a member and what lies in a queue is none.
  struct Node {
    PathUse use = PathUse::lock;
    zk::Watch watch;  // none before it was listed
    bool listed = false;
    bool refused = false;  // may not be listed
    std::vector<Contender> line;
    std::set<std::string> strangers;  // called like a contender, and none
    std::string holder;               // the node, as it was seen last
    int64_t took_over_ms = 0;         // when we saw it take over
    size_t members = 0;
    std::string newest;      // member, by the numbers of their names
    int64_t changed_ms = 0;  // when we saw a change

    bool is_stale() const { return !refused && (!watch || watch->fired); }
  };
  using Nodes = std::map<std::string, Node>;
  using Names = std::vector<std::string>;

  void begin();
  bool list_some(Deadline until);
  std::map<std::string, zk::Watch> take_stale();
  void take_in(const std::string& path, const zk::Answer& list, PathUse use);
  void take_in_line(const std::string& path, Node& node, const Names& names);
  void take_in_members(Node& node, const Names& names, bool first);
  void keep_below(const std::string& path, const std::set<std::string>& names);
  void erase_below(const std::string& path);
  const Node* part_of(const std::string& path, const char* name) const;
  bool is_part(const std::string& path, const Node& node) const;
  bool is_in_slots(const std::string& path) const;
  void read_contenders(Deadline until);
  std::set<std::string> wanted() const;
  const zk::Answer& known(const std::string& path) const;
  void note_stranger(const std::string& path);
  void draw_up();
  void draw_up_line(const std::string& path, Node& node);
  void draw_up_slots(const std::string& path, Node& node);

  // Questions of each look, whatever goes on in the rest of the tree.
  static constexpr size_t kKeptForQueues = 300;
  // Of Curator's semaphore: the folder of the slots, and the lock before it.
  static constexpr const char* kSlots = "leases";
  static constexpr const char* kGate = "locks";

  zk::Session& session_;
  std::string root_;
  int64_t session_id_ = 0;
  size_t left_ = 0;  // questions of this look
  Nodes nodes_;
  std::set<std::string> listed_;                  // in this look
  std::string last_listed_;                       // the next look goes on behind it
  std::map<std::string, zk::Answer> contenders_;  // and members that were read
  QueueSurveyor surveyor_{session_};
  OverviewFigures figures_;
};

}  // namespace zklock::recipe
