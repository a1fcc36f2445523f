// SPDX-License-Identifier: Apache-2.0
// Our membership of a group: our node in it. The node counts only while it belongs to the present session. The
// functions throw what the session throws, and a Failure if there is no other way. Its status is 65 if the path is used
// for something else or the data is too large, and 77 if the ACL forbids it.
#pragma once

#include "recipe/group/group.h"
#include "zk/session.h"

#include <string>

namespace zklock::recipe {

struct Membership {
  std::string group;
  std::string name;     // of our node; the server adds a number, unless `unique`
  bool unique = false;  // no number is added, so only one member can have the name
  std::string data;
};

enum class MemberState {
  in,
  taken,    // another client has the name; see taken_by()
  removed,  // our node was deleted while our session lived
};

class GroupMember {
 public:
  GroupMember(zk::Session& session, Membership membership);

  using State = MemberState;

  // Makes the group if it is absent, and joins it. Returns `in` or `taken`. If in, look() is due, which sets the watch.
  // After a Failure our node may be there: leave().
  State join();
  const zk::Stat& taken_by() const { return taken_by_; }
  // After `taken`: waits until the name may be free, or the session is over. Returns false when the session's deadline
  // has passed.
  bool wait_for_name();

  // While in: true if something may have happened to our node, or it was not yet looked at. It does not show that the
  // session is over.
  bool is_disturbed() const { return !path_.empty() && (!watch_ || watch_->fired); }
  // Asks a quorum whether our node is there, and watches it again.
  State look();
  // Sets the data of our node; later joins use it too.
  State set_data(std::string data);

  // Deletes our node, which ends the session, and waits for the answer, for `budget` at most. May be called if we are
  // not in. Throws only what other sources of the loop throw. A node that is left goes with the session.
  void leave(Duration budget);
  // Forgets our node without a request: it went with its session.
  void forget();

  const std::string& path() const { return path_; }  // of our node; empty if we are not in

 private:
  // True if the node is there and belongs to our session.
  bool still_ours(Deadline until);
  std::string stem() const;
  zk::Code make_group(const FoundGroup& group);
  zk::Code enter(const FoundGroup& group, size_t skipped);
  zk::Call send_entry(bool first, size_t skipped);
  std::string entered_path() const;
  size_t taken_numbers();
  State find();
  State look_at_name();

  zk::Session& session_;
  Membership membership_;
  std::string tried_;
  zk::Call entering_;  // the create whose answer may still come
  std::string path_;
  zk::Stat taken_by_;
  zk::Watch watch_;
};

}  // namespace zklock::recipe
