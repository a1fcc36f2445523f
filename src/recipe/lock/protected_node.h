// SPDX-License-Identifier: Apache-2.0
// An ephemeral sequential node of ours, made under Curator's protection: its name carries a unique id, so that one
// whose create was not answered is found again. It counts only while it belongs to the session that we have now. The
// place of a contender in its line, and a slot.
#pragma once

#include "zk/session.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::recipe {

// What is ours: as long as `node` is there and belongs to the session `owner`.
struct Held {
  std::string path;  // of the lock, as the user named it
  std::string node;
  int64_t owner = 0;
  int64_t token = 0;       // the node's czxid: grows from one holder to the next
  int64_t created_ms = 0;  // its ctime, the server's clock, ms since 1970
  Deadline proved{};       // a moment since which a quorum has known of it; see ProtectedNode::proved()
  Deadline sent{};         // when the question that proved it was sent: for the trace
  // It was made between these two; nothing: long ago.
  Deadline asked{};
  Deadline seen{};
  zk::Watch watch = {};  // on the node's data, whose text as of then was looked at; nothing: none was set
};

// Random (version 4), 36 characters.
std::string make_uuid();

// How long somebody who waits for our end can be kept waiting for nodes to be deleted.
Duration withdrawal_budget(const zk::Session& session);

enum class NodeState {
  there,    // its path and what follows that are known, its siblings are listed
  missing,  // there is none (any more)
  expired,  // nor is there a session
};

class ProtectedNode {
 public:
  // Below the last of `parents`, which are made in this order and in this mode when it is missing; those above them
  // persistent. Without a mode it has to be there. `tried` is for messages: "cannot take /l".
  ProtectedNode(zk::Session& session, std::vector<std::string> parents, std::optional<zk::CreateMode> parent_mode,
                std::string tried)
      : session_(session), parents_(std::move(parents)), parent_mode_(parent_mode), tried_(std::move(tried)) {}

  // Makes it, `stem` and the server's number its name, and lists its siblings in the same breath. `stem` carries an id
  // that was never used before. Throws a Failure for what has no way round, 65 for a path that is part of a queue or of
  // a line among it, and what the session throws.
  NodeState make(const std::string& stem, const std::string& data, Deadline until);

  // The list of siblings again, for who waits until those before it are gone. A quorum is asked only where its last
  // word is older than one on which a holder relies between two heartbeats. It may be gone though it is `there`: then
  // it is not among its siblings, or a watch on it fires.
  NodeState look_again(Deadline until);

  // A quorum's word on it, and the list of siblings behind that. With `watch` on the list.
  NodeState confirm(Deadline until, const zk::Watch& watch = nullptr);

  // The server's counter sticks at its end and hands out ties: throws a Failure (70) for a number from there.
  void check_number() const;

  // Deletes it and sees the answer, for `budget` at most; true when nothing of ours is left. What is left then, or may
  // not be deleted, goes with the session. Throws nothing but what other sources of the loop throw. Harmless without a
  // node.
  bool remove(Duration budget);
  // Sends the delete whose answer remove() sees: for several that are removed together.
  void start_removal();
  // Throws a Failure (77) if remove() has failed because we may not; not if it was just not to be had in time.
  void check_refusal(std::string_view tried) const;
  // After it: somebody else had deleted it before, while the session lived.
  bool was_deleted() const { return was_deleted_; }

  // It went with its session.
  void forget();

  const std::string& path() const { return path_; }
  std::string name() const;
  // While it is there, of the lock at `path`.
  Held held(const std::string& path) const;
  // A moment at which a quorum has known of it, for the lease to count from: just before the create was sent, or the
  // question whose answer showed that the node is there. A wait before that takes nothing off, see zk/session.h.
  Deadline proved() const { return proved_; }
  // Whether that moment is recent enough to begin something with the node.
  bool is_proved() const;
  // The children of its parent, ours among them, and that one's Stat, as last seen.
  const zk::Answer& siblings() const { return siblings_; }

 private:
  NodeState find(Deadline until);
  void make_parents(Deadline until);
  void note_sending();
  void trace_proof() const;
  const std::string& parent() const { return parents_.back(); }

  zk::Session& session_;
  std::vector<std::string> parents_;
  std::optional<zk::CreateMode> parent_mode_;
  std::string tried_;
  std::string stem_;   // its path up to the number; empty: there was no attempt to make it
  zk::Call entering_;  // the create whose answer may still come
  std::string path_;   // once known
  zk::Stat created_;
  Deadline asked_{};
  Deadline seen_{};
  Deadline proved_{};
  Deadline sent_{};
  zk::Answer refusal_;    // the server's word, if remove() was refused
  zk::Call removing_;     // the delete that remove() did not send itself
  bool leaving_ = false;  // a delete was sent; it may be done though its answer was lost
  bool was_deleted_ = false;
  zk::Answer siblings_;
};

}  // namespace zklock::recipe
