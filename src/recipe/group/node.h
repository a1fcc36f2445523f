// SPDX-License-Identifier: Apache-2.0
// Whether a path is a group, and making it one. Groups of other programs, which have no mark, are groups too. All throw
// what the session throws, a Failure (65) where the path is used for something else, and one (77) where it may not be
// read; `tried` is for messages: "cannot join /g".
#pragma once

#include "zk/session.h"

#include <string>
#include <string_view>

namespace zklock::recipe {

enum class GroupState {
  there,
  absent,
  expired,  // nothing is known: the session is over
};

GroupState look_at_group(zk::Session& session, const std::string& group, std::string_view tried, Deadline until);

// For a member that comes: makes it where it is absent, as a container where the server has them, so that it goes when
// nobody is in it any more.
GroupState make_passing_group(zk::Session& session, const std::string& group, std::string_view tried, Deadline until);

// One that stays when it is empty. Throws a Failure (75) where a passing one is in the way.
GroupState make_kept_group(zk::Session& session, const std::string& group, std::string_view tried, Deadline until);

struct GroupRemoval {
  enum class End {
    done,
    absent,
    not_empty,  // see what follows
    expired,
  };
  End end = End::done;
  size_t members = 0;
  size_t others = 0;  // nodes below it that are no members
};

// Deletes it if it is empty. With `force`, its members too: they are not told, and do not join again. Throws a Failure
// (65) also for a node whose data is nobody's mark.
GroupRemoval remove_group(zk::Session& session, const std::string& group, bool force, std::string_view tried,
                          Deadline until);

}  // namespace zklock::recipe
