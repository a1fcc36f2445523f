// SPDX-License-Identifier: Apache-2.0
// An ephemeral sequential node of ours, created under Curator's protection. Its name has a unique id, so that we find
// it even if the create was not answered. It counts only while it belongs to the present session. Contenders in a line
// and slots are such nodes.
#pragma once

#include "recipe/use.h"
#include "zk/path.h"
#include "zk/session.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::recipe {

// What we hold, as long as `node` is there and belongs to the session `owner`.
struct Held {
  std::string path;  // of the lock, as the user named it
  std::string node;
  int64_t owner = 0;
  int64_t token = 0;       // the node's czxid: grows from one holder to the next
  int64_t created_ms = 0;  // its ctime, the server's clock, ms since 1970
  Deadline proved{};       // a moment since which a quorum has known of the node; see ProtectedNode::proved()
  Deadline sent{};         // when the request that proved it was sent: for the trace
  // The node was made between these two moments. They are not set if it was made long ago.
  Deadline asked{};
  Deadline seen{};
  zk::Watch watch = {};  // on the node's data, which was read when the watch was set; nullptr: none was set
  zk::Call beside = {};  // a read that Lock::set_besides() has sent; nullptr: none, or it is too old
};

// What the owner of a node wants to know besides, without a round trip of its own.
struct Besides {
  // Sends a read in the flight of make(), behind the list, and returns it. It may send more.
  zk::Session::Send send = nullptr;
  // Called before make() creates parents, when the answers to its first flight are there. May throw.
  std::function<void()> before_parents = nullptr;
};

// Returns the answer to `early`. If `early` is null or was not answered, sends `send` and returns its answer.
zk::Answer answer_to(zk::Session& session, const zk::Call& early, const zk::Session::Send& send);

// Returns a random UUID (version 4), 36 characters.
std::string make_uuid();

// Returns how long the deletion of our nodes may take at most while a caller waits for us to end.
Duration withdrawal_budget(const zk::Session& session);

class ProtectedNode {
 public:
  // Makes no request. The node will be below the last of `parents`. If that one is missing, make() creates the parents
  // in this order, with the mode `parent_mode`, and the nodes above them as persistent ones. Without a mode, the last
  // parent must exist. `tried` is for messages: "cannot take /l".
  ProtectedNode(zk::Session& session, std::vector<std::string> parents, std::optional<zk::CreateMode> parent_mode,
                std::string tried)
      : session_(session), parents_(std::move(parents)), parent_mode_(parent_mode), tried_(std::move(tried)) {}

  // Creates the node, named `stem` and the server's number, and lists its siblings at once. `stem` must have an id that
  // was never used before. Like the next two functions, it returns true if the node is there: its path, its Stat and
  // its siblings are known. False: there is none, or it is gone. Throws what the session throws, and a Failure if
  // the server refuses a request. The status is 65 if the path is part of a queue or of a line in it.
  bool make(const std::string& stem, const std::string& data);
  // Tells the next make() that the last of `parents` is missing, so that it creates them at once. The caller has
  // checked the site (recipe/use.h).
  void expect_no_parent() { no_parent_ = true; }
  // To be called before make().
  void set_besides(Besides besides) { besides_ = std::move(besides); }
  // The read of Besides that was sent behind the list of siblings(); nullptr: they were listed again since.
  const zk::Call& beside() const { return beside_; }

  // Lists the siblings again, for a contender that waits until those before it are gone. Asks a quorum only if the last
  // proof is older than the interval of a holder's heartbeats. The node may be gone although the result is true:
  // then it is not among its siblings, or a watch on it fires. Throws what make() throws.
  bool look_again();

  // Asks a quorum whether the node is there, then lists the siblings. `watch` is set on the list. Throws what make()
  // throws.
  bool confirm(const zk::Watch& watch = nullptr);

  // Throws a Failure (70) if the server's counter is used up: it sticks at its end and hands out ties.
  void check_number() const;

  // Deletes the node and waits for the answer, for `budget` at most. Returns true if no node of ours is left. May be
  // called if there is no node. Throws only what other sources of the loop throw. A node that is left, or may not be
  // deleted, goes with the session.
  bool remove(Duration budget);
  // Sends the delete whose answer remove() waits for: for several nodes that are removed together.
  void start_removal();
  // After remove(): throws a Failure (77) if it failed because we may not delete the node, or SessionOver; but not if
  // it was only too slow.
  void check_refusal(std::string_view tried) const;
  // After remove(): true if another client had deleted the node before, while the session lived.
  bool was_deleted() const { return removal_.by_others; }

  // Forgets the node without a request: it is gone with its session.
  void forget();

  const std::string& path() const { return held_.node; }
  std::string name() const { return zk::name_of(held_.node); }
  // To be called while the node is there. The lock's path is the first of `parents`.
  Held held() const;
  // The moment from which the lease counts, at which a quorum knew of the node. It is just before the create was sent,
  // or the last request whose answer proved that the node is there. So time that was spent in line before is not
  // missing from the lease; see zk/session.h.
  Deadline proved() const { return held_.proved; }
  // True if that moment is recent enough to begin something with the node.
  bool is_proved() const;
  // The children of the node's parent, ours among them, and the parent's Stat, as last listed.
  const zk::Answer& siblings() const { return siblings_; }

 private:
  struct Removal {
    zk::Call sent;           // the delete that start_removal() sent
    bool doubtful = false;   // a delete was sent and may be done although its answer was lost
    bool by_others = false;  // another client had deleted the node before
    zk::Answer refusal;      // the answer, if remove() was refused
  };

  zk::Call send(const std::string& stem, const std::string& data, const std::optional<Site>& site);
  void note_created(const char* event, const std::string& path, const zk::Stat& stat);
  bool find();
  void note_sending();
  void take_list(const zk::Answer& list);
  void send_removal();
  void trace_proof() const;
  const std::string& parent() const { return parents_.back(); }

  zk::Session& session_;
  std::vector<std::string> parents_;
  std::optional<zk::CreateMode> parent_mode_;
  std::string tried_;
  std::string stem_;   // its path up to the number; empty: no attempt was made to create it
  zk::Call entering_;  // the create whose answer may still come
  Held held_;          // without the lock's path; the node's own once known
  Removal removal_;
  zk::Answer siblings_;
  bool no_parent_ = false;  // see expect_no_parent()
  Besides besides_;
  zk::Call beside_;
};

}  // namespace zklock::recipe
