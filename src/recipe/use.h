// SPDX-License-Identifier: Apache-2.0
// What a path is used for, told by the data on its node and by the names below it, and where something new may be made.
// Beneath the recipes: it is all that one of them knows of the others' nodes.
//
// Whatever throws here throws a Failure (65) that says what was `tried` ("cannot take /l"), and what the session
// throws.
#pragma once

#include "recipe/names.h"
#include "zk/session.h"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::recipe {

enum class PathUse {
  lock,   // or nothing
  slots,  // Curator's InterProcessSemaphoreV2
  queue,
  group,
};

// What zklock writes on the node of a queue, and of a group. Other programs' groups have what they like.
inline constexpr std::string_view kQueueFormat = "zklock queue 1";
inline constexpr std::string_view kKeptGroup = "zklock group 1";
// A container: the server removes it some time after its last member has left.
inline constexpr std::string_view kPassingGroup = "zklock group 1, until its last member leaves";

enum class PathMark {
  none,  // nothing of zklock's
  queue,
  newer_queue,  // in a form that this version does not know
  kept_group,
  passing_group,
  newer_group,
};

PathMark mark_of(std::string_view data);

// Of zklock's, in whatever form.
bool is_queue(PathMark mark);
bool is_group(PathMark mark);

// Whether a node with this Stat is somebody's as long as his session lives.
bool is_ephemeral(const zk::Stat& stat);

// True for a contender that never lets go, because its node is in no session: a backup may have been restored. Nobody
// waits for it. Kazoo's locks may be persistent on purpose, so they count.
bool is_leftover(const Contender& contender, const zk::Stat& stat);

// Returns the names of those in the `line` below `path`. Throws what the session throws; once that has expired, the
// result means nothing.
std::set<std::string> leftovers_in(zk::Session& session, const std::string& path, const std::vector<Contender>& line,
                                   Deadline until);

// Throws a Failure (65) if one of the children of `path`, `names`, belongs to a session of a program that would not
// wait for zklock: says what was `tried`, and whose it is if that can be told. Reads the Stats of those that may, but
// for the `harmless`, to which it adds what stays. True if it has asked the server.
bool check_no_foreign(zk::Session& session, const std::string& path, const std::vector<std::string>& names,
                      std::set<std::string>& harmless, std::string_view tried, Deadline until);
// The sentence for that.
std::string foreign_text(std::string_view tried, const std::string& node);

// Whether the data may be the mark of a group, from its length alone.
bool may_be_group(const zk::Stat& stat);

// What the children of a path without a mark show that it is used for, in words; nothing if it can be a group.
std::optional<std::string> other_use(const std::vector<std::string>& names);

// Queues, groups and the rest, from the lists of the paths' children: reads the data of those that may be either.
std::vector<PathUse> uses_of(zk::Session& session, const std::vector<std::string>& paths,
                             const std::vector<zk::Answer>& lists, Deadline until);

// Throws where a path with that list of children is no lock, or not for slots, as `wanted`. It reads what the list
// leaves open.
void check_use(zk::Session& session, const std::string& path, const zk::Answer& list, PathUse wanted,
               std::string_view tried, Deadline until);

// Throws where what stands on a path's node says that it is no queue, or no group, as `wanted`.
void check_mark(PathMark mark, PathUse wanted, std::string_view tried);
// The same from the names below one without a mark, that may be a group of another program.
void check_names_of_group(const std::vector<std::string>& names, std::string_view tried);

// Before anything is made at `path`, or below it, where nothing is yet: what lies below a queue is the queue's own, and
// a node that is called like a contender would be taken for one. (Nothing need be said of what lies below a contender
// or a member: those are ephemeral, and the server refuses it.) Reads all nodes above it, at once. What may not be read
// does not count. Returns also when the session has expired.
void check_site(zk::Session& session, const std::string& path, std::string_view tried, Deadline until);

// The same where something may be already: asks nobody unless `path` has a name in it that nodes of queues have.
void check_site_by_name(zk::Session& session, const std::string& path, std::string_view tried, Deadline until);

}  // namespace zklock::recipe
