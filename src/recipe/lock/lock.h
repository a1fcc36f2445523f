// SPDX-License-Identifier: Apache-2.0
// The lock recipe of ZooKeeper's documentation, with Curator's protection of the create: make an ephemeral sequential
// child whose name carries a unique id and list the children; lowest goes; others watch only the nearest child before
// them that they must wait for, and look again after every wake-up. Fair, and a release wakes one contender. Before it
// what it has in common with other things that a command can run under.
#pragma once

#include "recipe/line.h"
#include "recipe/lock/protected_node.h"
#include "zk/session.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace zklock::recipe {

// Who is in the way.
struct Holder {
  bool known = false;     // it could be read
  std::string data = {};  // what he wrote on his node
  int64_t since_ms = 0;   // when his node was made, by the server's clock, ms since 1970; 0: unknown
  size_t before = 0;      // how many stand before us, the holder included
  int64_t slots = 0;      // he is the first of so many; 0: the only one, or one of many shared ones
  std::string path = {};  // of the lock
  size_t among = 1;       // so many locks, any of which would do
};

// How an attempt to take it ended.
enum class Outcome {
  held,
  busy,       // somebody holds it and we shall not wait, or not any longer
  removed,    // our place was deleted by somebody while our session lived
  expired,    // the session is over; open another and try again
  disturbed,  // the waiting was, see WaitPolicy
};

// Somebody who wants to know about the waiting. Called from within acquire().
class WaitObserver {
 public:
  virtual ~WaitObserver() = default;
  // The moment from which on it wants to know (again) who holds the lock; kNever: not any more.
  virtual Deadline next_look() const = 0;
  virtual void on_holder(const Holder& holder) = 0;
  // It waits now behind somebody, or somebody else, who has written this on his node; "": nothing, or that could not be
  // read. Costs no request. To be told twice means nothing.
  virtual void on_predecessor(const std::string&) {}
  // All places were lost, and are taken again: the session has expired, or what we held already was disturbed.
  virtual void on_start_again(Outcome why) = 0;
};

struct WaitPolicy {
  bool in_line = true;                        // wait there for others, or only look
  Deadline until = kNever;                    // for all of it, connecting included
  std::function<bool()> disturbed = nullptr;  // true: something else is to be looked after first
};

// What a command can run under: a lock, one of several slots, the lock of a zklock that runs us.
class Lockable {
 public:
  virtual ~Lockable() = default;

  using Outcome = recipe::Outcome;

  // Takes a place and waits for its turn. Whatever happens, except for `held`, no node of ours is left behind as long
  // as a server can be reached. Throws a Failure: 65 for a path that is used for something else, 70 when the line's
  // counter is used up, 77 where the ACL forbids it, and what the session throws.
  virtual Outcome acquire(const WaitPolicy& policy) = 0;

  // While held.
  virtual Held held() const = 0;

  // After `busy`: who was in the way.
  virtual const Holder& holder() const = 0;

  // Gives it back and sees the answer, for `budget` at most: false if that was not enough. What is left then goes with
  // the session. Throws nothing but what other sources of the loop throw. Harmless when it is not held.
  virtual bool release(Duration budget) = 0;

  // After release(): its node had been deleted before, by somebody else. Since when it was not held is not known.
  virtual bool was_deleted() const = 0;

  // The session is over.
  virtual void forget() = 0;
};

// Whom we exclude, and in whose names we stand in line.
struct LockType {
  LockMode mode = LockMode::exclusive;
  Family family = Family::standard;
  bool with_kazoo = false;  // Kazoo's contenders in the line were told to wait for our names
};

class Lock : public Lockable {
 public:
  // `data` is put on our node as it is. `path` is checked already.
  Lock(zk::Session& session, const std::string& path, LockType type, std::string data, WaitObserver& observer);
  // A line that is part of something else: its node has to be there. `tried` is for messages: "cannot wait at /q".
  Lock(zk::Session& session, const std::string& path, WaitObserver& observer, std::string data, std::string tried);

  Outcome acquire(const WaitPolicy& policy) override;
  Held held() const override;
  const Holder& holder() const override { return holder_; }
  bool release(Duration budget) override { return own_.remove(budget); }
  bool was_deleted() const override { return own_.was_deleted(); }
  void forget() override { own_.forget(); }

  // acquire() in steps, for who stands in several lines at once: recipe/lock/any_lock.h. Nothing: others stand before
  // us. They throw as acquire() does; whatever they end with but `held`, our node may be there, until release().
  std::optional<Outcome> enter(const WaitPolicy& policy);
  std::optional<Outcome> look_again(const WaitPolicy& policy);
  // Sees to it that watches stand on the one before us and on our node. If they do not then: look again.
  std::optional<Outcome> watch(const WaitPolicy& policy);
  bool is_watched() const;
  // For one that does not wait: looks again as long as only leftovers (recipe/use.h) stand before us. Nothing: a
  // contender does.
  std::optional<Outcome> pass_leftovers(const WaitPolicy& policy);
  std::vector<zk::Watch> watches() const { return {watch_before_, watch_}; }
  // How many stand before us, as last seen, and who holds it.
  size_t before() const { return place_.before; }
  const Holder& look_around();
  // For several that are released together: sends what release() sees the answer to.
  void start_release() { own_.start_removal(); }
  // After a release() that has failed: throws a Failure (77) if we may not.
  void check_refusal() const;

 protected:
  // Of a line below `path`, at `parents.back()`; without a type its node has to be there.
  Lock(zk::Session& session, std::string path, const std::vector<std::string>& parents, std::optional<LockType> type,
       std::string data, WaitObserver& observer, std::string tried);

  // Not our turn: is it worth waiting?
  virtual bool may_wait(const WaitPolicy& policy) { return policy.in_line; }
  // Who is in the way.
  virtual Holder find_holder(const Place& place);
  // The line as last seen, without the leftovers that are known.
  std::vector<Contender> line() const { return line_in(own_.siblings().names); }
  // Finds those that are not known yet.
  void ignore_leftovers(Deadline until);
  const ProtectedNode& own() const { return own_; }
  zk::Session& session() { return session_; }

 private:
  Outcome stand_in_line(const WaitPolicy& policy);
  std::optional<Outcome> look(NodeState state, const WaitPolicy& policy);
  Failure strangers() const;
  bool is_blocked(Deadline until);
  std::vector<Contender> line_in(const std::vector<std::string>& names) const;
  void trace_place() const;
  std::optional<Outcome> sleep(const WaitPolicy& policy);
  zk::Answer watch_line(const zk::Watch& watch, Deadline until);
  std::string child(const std::string& name) const { return line_path_ + "/" + name; }

  zk::Session& session_;
  std::string path_;
  std::string line_path_;
  std::string tried_;
  LockType type_;
  std::string data_;
  WaitObserver& observer_;
  ProtectedNode own_;
  Place place_{};                  // as last seen
  std::set<std::string> ignored_;  // leftovers, and what has only the name of a foreign program's node
  zk::Watch watch_;                // on our node, while waiting
  zk::Watch watch_before_;         // on the one before it
  std::string watched_;            // which is that
  Holder holder_;
};

// What a request says that is answered within a second, for a message; else nothing, with Code::unknown.
zk::Answer glance(zk::Session& session, const zk::Session::Send& send);

// Completes `holder` with what stands on its node, if that is to be had at once. False if the node is a leftover.
bool read_holder(zk::Session& session, const std::string& node, Holder& holder);

// Nothing when one of the watches has fired, or `awake` has come without that: look again. Else how the waiting ended:
// busy, when the time is over; expired; disturbed. `look_around` is called to find out who is in the way, whenever
// the observer wants to know and when the time is over.
std::optional<Outcome> wait_for_change(zk::Session& session, const std::vector<zk::Watch>& watches,
                                       const WaitPolicy& policy, WaitObserver& observer,
                                       const std::function<const Holder&()>& look_around, Deadline awake = kNever);

}  // namespace zklock::recipe
