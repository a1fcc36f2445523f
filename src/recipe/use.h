// SPDX-License-Identifier: Apache-2.0
// Determines what a path is used for, from the data on its node and the names below it, and where something new may be
// made. The recipes build on this: it is all that one of them knows of the others' nodes.
//
// If a function here throws, it throws a Failure (65) that says what was `tried` ("cannot take /l"), or what the
// session throws.
#pragma once

#include "recipe/names.h"
#include "zk/session.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::recipe {

enum class PathUse {
  lock,   // or not in use
  slots,  // Curator's InterProcessSemaphoreV2
  queue,
  group,
};

// zklock writes these texts on the node of a queue, and of a group. Other programs' groups may have any data.
inline constexpr std::string_view kQueueFormat = "zklock queue 1";
// The queue has, or had, items with tags in their names (recipe/queue/layout.h), which older versions do not see.
inline constexpr std::string_view kTaggedQueue = "zklock queue 2";
inline constexpr int64_t kNewestForm = 2;
// Nothing can be put into the queue any more. `zklock queue delete` deletes what is left of it.
inline constexpr std::string_view kLeavingQueue = "zklock queue 2, being deleted";
inline constexpr std::string_view kKeptGroup = "zklock group 1";
// The node is a container: the server removes it some time after its last member has left.
inline constexpr std::string_view kPassingGroup = "zklock group 1, until its last member leaves";

enum class PathMark {
  none,  // no mark of zklock's
  queue,
  tagged_queue,
  leaving_queue,
  newer_queue,  // in a form that this version does not know
  kept_group,
  passing_group,
  newer_group,
};

PathMark mark_of(std::string_view data);

// True for a queue's mark, of any version.
bool is_queue(PathMark mark);

// True if a node with this Stat is ephemeral, so that it lives as long as the session that owns it.
bool is_ephemeral(const zk::Stat& stat);

// True for a contender's node that is in no session, so that it never goes by itself: a backup may have been restored.
// No contender waits for it. Kazoo's locks may be persistent on purpose, so they are never leftovers.
bool is_leftover(const Contender& contender, const zk::Stat& stat);

// Returns the names of the leftovers in the `line` below `path`. Throws what the session throws.
std::set<std::string> leftovers_in(zk::Session& session, const std::string& path, const std::vector<Contender>& line);

// Throws a Failure (65) if one of the children of `path`, `names`, is ephemeral and of a program that would not wait
// for zklock. The message says what was `tried`, and which program it is if the name shows that. Reads the Stat of each
// child that may be foreign, except for the `harmless`, to which it adds those that are persistent.
void check_no_foreign(zk::Session& session, const std::string& path, const std::vector<std::string>& names,
                      std::set<std::string>& harmless, std::string_view tried);
// Returns the message of that Failure.
std::string foreign_text(std::string_view tried, const std::string& node);

// True if data of this length may be the mark of a group.
bool may_be_group(const zk::Stat& stat);

// Returns in words what a path without a mark is used for, judging by its children's names; nothing if it can be a
// group.
std::optional<std::string> other_use(const std::vector<std::string>& names);

// True if the data of a node with this list of children must be read to know its use.
bool may_have_mark(const zk::Answer& list);
// Returns whether a node, given the list of its children and its data, is a queue, a group or something else (`lock`).
PathUse use_of(const zk::Answer& list, const zk::Answer& read);
// Returns the use of each path, given the lists of their children. Reads the data of those that may be a queue or a
// group.
std::vector<PathUse> uses_of(zk::Session& session, const std::vector<std::string>& paths,
                             const std::vector<zk::Answer>& lists);

// Throws if a path with that list of children is in use, but not as `wanted`: `lock` or `slots`. Reads what the list
// leaves open. Throws a Failure (77) if the slots may not be listed.
void check_use(zk::Session& session, const std::string& path, const zk::Answer& list, PathUse wanted,
               std::string_view tried);

// Throws if the mark on a path's node shows that it is not a queue, or not a group, as `wanted`. A path without a mark
// may be a group.
void check_mark(PathMark mark, PathUse wanted, std::string_view tried);
// Throws if the names below a path without a mark show that it is not a group of another program.
void check_names_of_group(const std::vector<std::string>& names, std::string_view tried);

// The nodes above a path that is to be made.
struct Site {
  std::string anchor;                // the nearest one that is there; "" if it is not known
  zk::Stat stat;                     // the anchor's
  std::vector<std::string> missing;  // those between the anchor and the path, in the order in which they are made
};

// Throws if zklock must not make anything at `path`, or below it: because `path` contains a name of a contender, or
// lies below a queue. A node with a contender's name would be taken for one, and what lies below a queue is the queue's
// own. (Contenders and members need no check: they are ephemeral, so the server refuses children below them.) Call it
// if there is nothing at `path` yet. Reads all nodes above `path` at once and ignores those that may not be read.
Site check_site(zk::Session& session, const std::string& path, std::string_view tried);

// The same in two steps, so that the reads can go out with other requests: the paths that are to be read, from the root
// on, and what the answers say.
std::vector<std::string> nodes_above(const std::string& path);
Site check_site(zk::Session& session, const std::string& path, const std::vector<zk::Answer>& above,
                std::string_view tried);

// Does the same if there may be a node at `path` already. Asks the server only if `path` contains a name that a queue's
// nodes have.
void check_site_by_name(zk::Session& session, const std::string& path, std::string_view tried);

}  // namespace zklock::recipe
