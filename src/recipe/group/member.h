// SPDX-License-Identifier: Apache-2.0
// Being a member of a group: our node in it. It counts only while it belongs to the session that we have now. All throw
// what the session throws, and a Failure for what has no way round: 65 where the path is used for something else or
// the data is too large, 77 where the ACL forbids it.
#pragma once

#include "zk/session.h"

#include <string>

namespace zklock::recipe {

struct Membership {
  std::string group;
  std::string name;     // the server's number follows
  bool unique = false;  // no number: one can have it at a time
  std::string data;
};

enum class MemberState {
  in,
  taken,    // somebody else has the name; see taken_by()
  removed,  // somebody has deleted our node while our session lives
  expired,  // the session is over, and with it our node: forget(), open another and join again
};

class GroupMember {
 public:
  GroupMember(zk::Session& session, Membership membership);

  using State = MemberState;

  // Makes the group where it is absent, and joins it. Not `removed`, as long as nobody is that fast.
  State join(Deadline until);
  const zk::Stat& taken_by() const { return taken_by_; }
  // After `taken`: until the name is free, or the session is over. False when `until` has passed.
  bool wait_for_name(Deadline until);

  // While in: something may have happened to our node. Does not say that the session is over.
  bool is_disturbed() const { return watch_ && watch_->fired; }
  // A quorum's word on that; it is watched again.
  State look(Deadline until);
  // Sets its data, for good.
  State set_data(std::string data, Deadline until);

  // Deletes it and sees the answer, for `budget` at most. What is left goes with the session. Throws nothing but what
  // other sources of the loop throw. Harmless when we are not in.
  void leave(Duration budget);
  // The node went with its session.
  void forget();

  const std::string& path() const { return path_; }  // of our node; empty when we are not in

 private:
  // Whether the node is there and of our session.
  bool still_ours(Deadline until);
  std::string stem() const;
  zk::Call send_entry(size_t skipped);
  size_t taken_numbers(Deadline until);
  State find(Deadline until);
  State look_at_name(Deadline until);

  zk::Session& session_;
  Membership membership_;
  std::string tried_;
  zk::Call entering_;  // the create whose answer may still come
  std::string path_;
  zk::Stat taken_by_;
  zk::Watch watch_;
};

}  // namespace zklock::recipe
