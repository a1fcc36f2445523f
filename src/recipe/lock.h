// SPDX-License-Identifier: Apache-2.0
// The lock recipe of ZooKeeper's documentation, with Curator's protection of the create: make an ephemeral sequential
// child whose name carries a unique id and list the children; lowest goes; others watch only the nearest child before
// them that they must wait for, and look again after every wake-up. Fair, and a release wakes one contender.
#pragma once

#include "recipe/line.h"
#include "zk/session.h"

#include <set>
#include <string>
#include <vector>

namespace zklock::recipe {

// Who stands at the head of the line, and what he wrote on his node.
struct Holder {
  bool known = false;  // it could be read
  std::string data;
  int64_t since_ms = 0;  // when his node was made, by the server's clock, ms since 1970; 0: unknown
  size_t before = 0;     // how many stand before us, the holder included
};

// Somebody who wants to know about the waiting. Called from within acquire().
class WaitObserver {
 public:
  virtual ~WaitObserver() = default;
  // The moment from which on it wants to know (again) who holds the lock; kNever: not any more.
  virtual Deadline next_look() const = 0;
  virtual void on_holder(const Holder& holder) = 0;
  virtual void on_session_expired() = 0;
};

// Whom we exclude, and in whose names we stand in line.
struct LockType {
  Kind kind = Kind::exclusive;
  Family family = Family::standard;
};

class Lock {
 public:
  // `data` is put on our node as it is. `path` is checked already.
  Lock(zk::Session& session, std::string path, LockType type, std::string data, WaitObserver& observer)
      : session_(session), path_(std::move(path)), type_(type), data_(std::move(data)), observer_(observer) {}

  enum class Outcome {
    held,
    busy,     // somebody holds it and we shall not wait, or not any longer
    removed,  // our place was deleted by somebody while our session lived
  };

  // Takes a place and waits for its turn until `until`; with `wait` false only looks. A session that expires meanwhile
  // is replaced, and the place with it. Whatever happens, except for `held`, no node of ours is left behind as long as
  // a server can be reached. Throws a Failure: 65 for a path that is used for something else, 70 when the line's
  // counter is used up, 77 where the ACL forbids it, and what the session throws.
  Outcome acquire(bool wait, Deadline until);

  // After `busy`: who was in the way.
  const Holder& holder() const { return holder_; }

  // While held:
  const std::string& node() const { return node_; }
  int64_t token() const { return token_; }  // the node's czxid: grows from one holder to the next
  // A moment since which our session was heard by a quorum: just before the create was sent; after a wait, in which a
  // client is heard only every T/3, a T/6 before the list was asked for that showed our turn.
  Deadline proved() const { return proved_; }

  // Deletes our node and sees the answer, for `budget` at most: false if that was not enough. What is left then goes
  // with the session. Throws nothing but what other sources of the loop throw. Harmless without a node.
  bool release(Duration budget) { return give_up_place(budget); }

 private:
  enum class Step { look_again, held, busy, removed, expired };

  Step stand_in_line(bool wait, Deadline until);
  Step enter(Deadline until);
  Step find_own(Deadline until);
  Step look(bool wait, Deadline until);
  Step wait_for(const Place& place, Deadline until);
  Step list_again(Deadline until);
  void check_names() const;
  void look_around(Place place);
  void ask_for_holder(const Place& place);
  void withdraw();
  bool give_up_place(Duration budget);
  void forget();
  std::string child(const std::string& name) const { return path_ + "/" + name; }

  zk::Session& session_;
  std::string path_;
  LockType type_;
  std::string data_;
  WaitObserver& observer_;
  std::string prefix_;  // of our node's name, unique; empty: there is none and there was no attempt
  zk::Call entering_;   // the create whose answer may still come
  std::string node_;    // its path, once known
  int64_t token_ = 0;
  Deadline proved_{};
  std::vector<std::string> names_;  // the children, as last seen
  std::set<std::string> ignored_;   // contenders that are not ephemeral and never let go
  zk::Watch own_;                   // on our node, while waiting
  Holder holder_;
};

}  // namespace zklock::recipe
