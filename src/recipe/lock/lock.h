// SPDX-License-Identifier: Apache-2.0
// The lock recipe of ZooKeeper's documentation, with Curator's protection of the create: make an ephemeral sequential
// child whose name carries a unique id and list the children; lowest goes; others watch only the nearest child before
// them that they must wait for, and look again after every wake-up. Fair, and a release wakes one contender.
#pragma once

#include "recipe/line.h"
#include "recipe/lock/lockable.h"
#include "recipe/lock/protected_node.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace zklock::recipe {

// Whom we exclude, and in whose names we stand in line.
struct LockType {
  Kind kind = Kind::exclusive;
  Family family = Family::standard;
  bool with_kazoo = false;  // Kazoo's contenders in the line were told to wait for our names
};

class Lock : public Lockable {
 public:
  // `data` is put on our node as it is. `path` is checked already.
  Lock(zk::Session& session, std::string path, LockType type, std::string data, WaitObserver& observer);
  // A line that is part of something else: its node has to be there. `tried` is for messages: "cannot wait at /q".
  Lock(zk::Session& session, std::string path, WaitObserver& observer, std::string data, std::string tried);

  Outcome acquire(const Patience& patience) override;
  Held held() const override;
  const Holder& holder() const override { return holder_; }
  bool release(Duration budget) override { return own_.remove(budget); }
  bool was_deleted() const override { return own_.was_deleted(); }
  void forget() override { own_.forget(); }

 protected:
  // Of a line below `path`, at `parents.back()`.
  Lock(zk::Session& session, std::string path, const std::vector<std::string>& parents, LockType type, std::string data,
       WaitObserver& observer);

  // Not our turn: is it worth waiting?
  virtual bool may_wait(const Patience& patience, const std::vector<Contender>& line);
  // Who is in the way.
  virtual Holder find_holder(const Place& place);
  const OwnNode& own() const { return own_; }
  zk::Session& session() { return session_; }

 private:
  Outcome stand_in_line(const Patience& patience);
  std::optional<Outcome> look(const Patience& patience);
  std::optional<Outcome> wait_for(const Place& place, const Patience& patience);
  std::optional<Outcome> sleep(const Place& place, const Patience& patience);
  bool is_watched(const Place& place) const;
  void check_use(Deadline until);
  const Holder& look_around(Place place);
  std::string child(const std::string& name) const { return line_path_ + "/" + name; }

  zk::Session& session_;
  std::string path_;
  std::string line_path_;
  std::string tried_;
  LockType type_;
  std::string data_;
  WaitObserver& observer_;
  OwnNode own_;
  std::set<std::string> ignored_;  // contenders that are not ephemeral and never let go
  zk::Watch watch_;                // on our node, while waiting
  zk::Watch watch_before_;         // on the one before it
  std::string watched_;            // which is that
  Holder holder_;
};

}  // namespace zklock::recipe
