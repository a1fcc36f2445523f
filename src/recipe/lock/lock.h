// SPDX-License-Identifier: Apache-2.0
// The lock recipe of ZooKeeper's documentation, with Curator's protection of the create. A contender makes an ephemeral
// sequential child whose name has a unique id, and lists the children. The one with the lowest number holds the lock.
// Each other contender watches only the nearest child before it that it must wait for, and lists again after each
// wake-up, unless is_next() shows its turn. This is fair, and a release wakes one contender. First come the types that
// a lock shares with other things that a command can run under.
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

// The contender that is in the way.
struct Holder {
  bool known = false;     // its node could be read
  std::string data = {};  // the data of its node
  int64_t since_ms = 0;   // when its node was made, by the server's clock, ms since 1970; 0: unknown
  size_t before = 0;      // how many stand before us, the holder included
  int64_t slots = 0;      // how many slots there are, of which it has the first; 0: the lock has no slots
  std::string path = {};  // of the lock
  size_t among = 1;       // how many locks we wait for, any of which would do
};

// How an attempt to acquire ended.
enum class Outcome {
  held,
  busy,       // another contender holds it, and we do not wait, or no longer
  removed,    // another client deleted our place while our session lived
  disturbed,  // WaitPolicy::disturbed, an outer lock was lost, or a gate left too early: try in another session
};

// An observer is told about the wait. Its functions are called from within acquire().
class WaitObserver {
 public:
  virtual ~WaitObserver() = default;
  // Returns when the observer wants to be told (again) which contender holds the lock; kNever: not any more.
  virtual Deadline next_look() const = 0;
  virtual void on_holder(const Holder& holder) = 0;
  // Called when we begin to wait for a contender, or for another one. The argument is the data on its node; "": no
  // data, or it could not be read. Costs no request. A repeated call means nothing. Returns true if we need not wait
  // for it: then acquire() returns `held`.
  virtual bool on_predecessor(const std::string&) { return false; }
  // Called when all places were lost and are taken again, because the session has expired or a lock that we held was
  // disturbed.
  virtual void on_start_again(bool expired) = 0;
};

struct WaitPolicy {
  bool in_line = true;                        // wait in line for others; false: give up at once
  Deadline until = kNever;                    // for all of it, connecting included
  std::function<bool()> disturbed = nullptr;  // true: something else is more urgent; stop waiting
};

// What a command can run under: a lock, one of several slots, or the lock of an outer zklock.
class Lockable {
 public:
  explicit Lockable(zk::Session& session) : session_(session) {}
  virtual ~Lockable() = default;

  // Takes a place and waits for its turn. Throws what the session throws, and a Failure: 65 if the path is used for
  // something else, 70 if the line's counter is used up, 77 if the ACL forbids it. Unless it returns `held`, it leaves
  // no node of ours, as long as a server can be reached.
  Outcome acquire(const WaitPolicy& policy);

  // Returns what we hold. To be called only while it is held.
  virtual Held held() const = 0;

  // After `busy`: returns the contender that was in the way.
  const Holder& holder() const { return holder_; }

  // Releases it and waits for the answer, for `budget` at most. Returns false if that was not enough: what is left then
  // goes with the session. May be called if nothing is held. Throws only what other sources of the loop throw.
  virtual bool release(Duration budget) = 0;

  // For several that are released together: sends the deletes whose answers release() waits for.
  virtual void start_release() {}

  // After release(): true if another client had deleted the node before. It is not known since when.
  virtual bool was_deleted() const = 0;

  // Forgets its nodes without a request: the session is over, or the nodes are gone.
  virtual void forget() = 0;

 protected:
  // The body of acquire(). If it does not return `held`, withdraw() follows.
  virtual Outcome take(const WaitPolicy& policy) = 0;
  // Deletes our nodes. If there is no answer, they go with the session.
  virtual void withdraw() {}

  zk::Session& session_;
  Holder holder_;
};

// The contenders that we exclude, and the names that we use in the line.
struct LockType {
  LockMode mode = LockMode::exclusive;
  Family family = Family::standard;
  bool with_kazoo = false;  // Kazoo's contenders in the line were told to wait for our names
};

class Lock : public Lockable {
 public:
  // `data` is put on our node as it is. `path` is already checked.
  Lock(zk::Session& session, const std::string& path, LockType type, std::string data, WaitObserver& observer);
  // The first of `parents` is the lock's path, the last has the line. Without a type, these nodes must exist. `tried`
  // is for messages: "cannot wait at /q".
  Lock(zk::Session& session, const std::vector<std::string>& parents, std::optional<LockType> type, std::string data,
       WaitObserver& observer, std::string tried);

  Held held() const override;
  bool release(Duration budget) override { return own_.remove(budget); }
  void start_release() override { own_.start_removal(); }
  bool was_deleted() const override { return own_.was_deleted(); }
  void forget() override { own_.forget(); }

  // To be called before it is acquired. The answer to the read counts only if it is our turn at once.
  void set_besides(Besides besides) {
    reads_ = besides.send != nullptr;
    own_.set_besides(std::move(besides));
  }

  // These are the steps of acquire(), for a caller that stands in several lines at once (AnyLock). They
  // return nothing if others stand before us, and throw what acquire() throws. Unless they return `held`, our node may
  // be there until release().
  std::optional<Outcome> enter();
  std::optional<Outcome> look_again();
  // Sets watches on our predecessor and on our node. If is_watched() is false afterwards, call look_again().
  std::optional<Outcome> watch();
  bool is_watched() const;
  // For a caller that does not wait: looks again as long as only leftovers (recipe/use.h) stand before us. Returns
  // nothing if a contender does.
  std::optional<Outcome> pass_leftovers();
  std::vector<zk::Watch> watches() const { return {watch_, own_watch_}; }
  // How many stood before us when the line was last listed, and the holder as of now.
  size_t before() const { return place_.before; }
  const Holder& look_around();
  // After a release() that has failed: throws a Failure (77) if we may not delete our node.
  void check_refusal() const;

 protected:
  // Called if it is not our turn: returns whether to wait.
  virtual bool may_wait(const WaitPolicy& policy) { return policy.in_line; }
  // Returns the contender that is in the way.
  virtual Holder find_holder(const Place& place);
  // The line as last listed, without the leftovers that are known.
  std::vector<Contender> line() const { return line_in(own_.siblings().names); }
  // Finds leftovers that are not known yet.
  void ignore_leftovers();
  void ignore(const std::string& leftover);
  const ProtectedNode& own() const { return own_; }

 private:
  // True if a wait has ended with our turn, so that no list need show it (tests/model/handover_model.cc):
  // - The last list showed one contender before us. A server that shows our node shows all before it that are not gone
  //   for good, and while our node is there, no later one gets a lower number.
  // - That one was deleted, by its own event and not the line's. No node of its name is made again.
  // - Our node was still there then, as the watch on it has not fired. Events come in the order of the changes only on
  //   one connection; after a reconnect, the server tells in any order what has changed. So list and event must have
  //   come through the present connection.
  // - The last proof is as young as a grant needs. So our session lives, and no contender behind us has had a turn.
  // It does not count
  // - for shared contenders, which need not be alone, and for the gate of slots, which are listed behind its line.
  // - if something is read besides: an event is nothing that the library tells the next server it has seen, so that one
  //   may lack what the holder before us has written.
  // If a program that would not wait for us has come since the list, we do not notice it.
  bool is_next() const;
  Outcome take(const WaitPolicy& policy) override;
  // The node is not forgotten: without an answer it may still be there, and a later release() in this session deletes
  // it.
  void withdraw() override { own_.remove(withdrawal_budget(session_)); }
  bool is_woken() const;
  std::optional<Outcome> look(bool there);
  Failure strangers() const;
  bool leave_to_others();
  bool is_blocked(const std::vector<zk::Answer>& looks);
  std::vector<std::string> those_before_us() const { return {child(place_.predecessor), child(place_.holder)}; }
  std::vector<Contender> line_in(const std::vector<std::string>& names) const;
  void trace_place() const;
  std::optional<Outcome> sleep(const WaitPolicy& policy);
  zk::Answer watch_line(const zk::Watch& watch);
  std::string child(const std::string& name) const { return line_path_ + "/" + name; }

  std::string path_;
  std::string line_path_;
  std::string tried_;
  LockType type_;
  std::string data_;
  WaitObserver& observer_;
  ProtectedNode own_;
  Place place_{};                  // as of the last list
  uint64_t listed_on_ = 0;         // the connection of that list, or an earlier one
  std::set<std::string> ignored_;  // leftovers, and persistent nodes with the name of a foreign one
  zk::Watch own_watch_;            // while we wait: on our node
  zk::Watch watch_;                // while we wait: on our predecessor, which is `watched_`
  std::string watched_;
  bool watches_line_ = false;  // `watch_` is on the line instead
  bool reads_ = false;         // see set_besides()
};

// Returns the answer to a request if it comes within a second, for a message; else an answer with Code::unknown.
zk::Answer glance(zk::Session& session, const zk::Session::Send& send);

// Completes `holder` from its node, if that can be read at once. Returns false if the node is a leftover.
bool read_holder(zk::Session& session, const std::string& node, Holder& holder);

// Waits until one of the watches has fired or `awake` has come. In these cases it returns nothing, and the caller must
// look again. If the wait ends otherwise, it returns `busy` (the time is over) or `disturbed`, or throws SessionOver.
// It calls `look_around` to find the holder, whenever the observer wants to know and when the time is over.
std::optional<Outcome> wait_for_change(zk::Session& session, const std::vector<zk::Watch>& watches,
                                       const WaitPolicy& policy, WaitObserver& observer,
                                       const std::function<const Holder&()>& look_around, Deadline awake = kNever);

}  // namespace zklock::recipe
