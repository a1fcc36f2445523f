// SPDX-License-Identifier: Apache-2.0
// Surveys all locks, queues and groups in a tree, again and again, for people to read. It reads only.
//
// Its cost is bounded, whatever the tree is and whatever happens in it. A look asks at most kRequestsPerLook questions,
// and what queues cost more than in their last look. The rest is asked in the next look. Nodes beyond kMostNodes or
// kMostPathBytes are not seen at all. The list of each node's children is watched, with one watch per node, and asked
// for again only when it has changed, or was refused a while ago. In a lock's line, two or three contenders are read,
// each once. Only queues are asked in each look.
#pragma once

#include "recipe/lock/survey.h"
#include "recipe/queue/layout.h"
#include "zk/session.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::recipe {

inline constexpr size_t kRequestsPerLook = 1000;
inline constexpr size_t kMostNodes = 10'000;
// Bytes of the watched paths. After a reconnect, the library sends all watches in one packet, and a server drops the
// connection each time if that is too large, which it is from 1 MiB on.
inline constexpr size_t kMostPathBytes = 512 * 1024;

// Times are ms since 1970 by the server's clock, unless the comment says otherwise; 0: not known.
struct LockFigures {
  std::string path;
  size_t holders = 0;
  size_t waiters = 0;
  std::string holder;     // the data on the first holder's node; empty: no holder, or not known
  int64_t held_ms = 0;    // when the first holder got its place in line, or, by our clock, when we saw it take over
  int64_t waited_ms = 0;  // when the first waiter came
};

struct QueueFigures {
  std::string path;
  int64_t items = 0;  // including those in work
  int64_t dead = 0;
  bool estimated = false;         // segments that were not asked count as full
  size_t in_work = 0;             // among the items that were asked
  bool more_in_work = false;      // all of the first kItemsLookedAt are, so there may be more
  int64_t oldest_ms = 0;          // when the oldest of the first items was pushed, by the server's clock; 0: no items
  int64_t made = 0;               // how many items were ever made, about
  std::optional<double> in, out;  // per second, since the last look
  Deadline seen{};                // when it was asked
  size_t cost = 0;                // the questions that it was asked then
};

struct GroupFigures {
  std::string path;
  size_t members = 0;
  int64_t changed_ms = 0;  // when the last one came, or, by our clock, when we saw one come or go
};

struct OverviewFigures {
  std::vector<LockFigures> locks;  // in the order of their paths; each has at least one contender
  std::vector<QueueFigures> queues;
  std::vector<GroupFigures> groups;
  bool behind = false;     // a part of it is left for the next look
  bool too_large = false;  // there are nodes that it does not see
  bool exists = false;     // whether the root exists
  zk::Answer refusal;      // if not ok: why the root cannot be listed
};

inline constexpr size_t kItemsLookedAt = 20;
inline constexpr size_t kSegmentsLookedAt = 50;  // at either end of the items, and of the dead letters
inline constexpr size_t kPrioritiesLookedAt = 4;

// Reports what many queues contain, again and again. The queues are asked together, with a bounded number of questions
// for each.
class QueueSurveyor {
 public:
  explicit QueueSurveyor(zk::Session& session) : session_(session) {}

  // Asks as many of `paths` as `left` questions allow, those first that were asked the longest time ago. Counts `left`
  // down by what each cost the last time. A queue that was never asked has no figures. Returns false if some must wait
  // for the next look.
  bool look(const std::vector<std::string>& paths, size_t& left);

  // Returns the figures of the queues that the last look was about, in the order of their paths.
  std::vector<QueueFigures> figures() const;

 private:
  struct Visit;
  const QueueFigures& known(const std::string& path) const;
  void ask_sizes(std::vector<Visit>& visits);
  void list_first_segments(std::vector<Visit>& visits);
  void ask_first_items(std::vector<Visit>& visits);
  void note(Visit& visit);

  zk::Session& session_;
  std::map<std::string, QueueFigures> known_;
};

class Overview {
 public:
  Overview(zk::Session& session, std::string root) : session_(session), root_(std::move(root)) {}

  // Updates the figures. Throws what the session throws; the figures are then as before. After SessionOver, open
  // another session and look again.
  void look();

  // Returns the figures of the last look.
  const OverviewFigures& figures() const { return figures_; }

 private:
  // A node whose children are watched. Contenders, members and the nodes in a queue are not among them.
  struct Node {
    PathUse use = PathUse::lock;
    zk::Watch watch;  // nullptr before it was listed
    bool listed = false;
    bool followed = false;  // listed in this session: what changes from now on is seen
    Deadline again_at{};    // refused: when it is listed again, as no event tells that it may be
    bool refused = false;   // it may not be listed
    size_t cut = 0;         // bytes of the first child for which there was no room; 0: there was room for all
    std::vector<Contender> line;
    std::set<std::string> strangers;  // children with a contender's name that are no contenders
    std::string holder;               // the first holder's node, as last seen
    int64_t took_over_ms = 0;         // when we saw it take over, by our clock; 0: not seen
    size_t members = 0;
    int64_t child_changed = 0;  // a group: Stat::child_changed of the list
    std::string newest;         // the newest member, judging by the numbers in the names
    int64_t changed_ms = 0;     // when we saw a change, by our clock

    bool is_stale() const { return refused ? BootClock::now() >= again_at : !watch || watch->fired; }
  };
  using Nodes = std::map<std::string, Node>;
  using Names = std::vector<std::string>;

  void begin();
  bool ask_some();
  std::map<std::string, zk::Watch> take_stale();
  Names take_unread();
  void take_list(const std::string& path, const zk::Answer& list);
  void take_in(const std::string& path, const zk::Answer& list, PathUse use);
  void take_in_line(const std::string& path, Node& node, const Names& names);
  static void take_in_members(Node& node, const zk::Answer& list, bool first);
  void keep_below(const std::string& path, const std::set<std::string>& names);
  size_t bytes_of(const std::string& path) const;
  bool is_part(const std::string& path, const Node& node) const;
  bool is_in_slots(const std::string& path) const;
  void take_in_contender(const std::string& path, const zk::Answer& read);
  std::set<std::string> wanted() const;
  const zk::Answer& known(const std::string& node) const;
  std::vector<Participant> line_at(const std::string& path) const;
  std::vector<Participant> contenders_at(const std::string& path, const Node& node) const;
  void note_stranger(const std::string& path);
  void draw_up();
  void draw_up_lock(const std::string& path, const Node& node);

  // Questions of each look that are kept for queues, whatever happens in the rest of the tree.
  static constexpr size_t kKeptForQueues = 300;
  // The parts of Curator's semaphore: the folder of the slots, and the lock before it.
  static constexpr const char* kSlots = "leases";
  static constexpr const char* kGate = "locks";

  zk::Session& session_;
  std::string root_;
  int64_t session_id_ = 0;
  size_t left_ = 0;   // questions left in this look
  size_t bytes_ = 0;  // of the paths of the nodes, and of those that went in this look
  Nodes nodes_;
  std::set<std::string> listed_;                  // in this look
  std::map<std::string, zk::Answer> unmarked_;    // lists of nodes whose data is still to be read, in this look
  std::string last_listed_;                       // the next look continues after this path
  std::map<std::string, zk::Answer> contenders_;  // contenders and members that were read
  QueueSurveyor surveyor_{session_};
  OverviewFigures figures_;
};

}  // namespace zklock::recipe
