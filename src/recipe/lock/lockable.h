// SPDX-License-Identifier: Apache-2.0
// What a command can run under: a lock, one of several slots, the lock of a zklock that runs us.
#pragma once

#include "base/time.h"

#include <cstdint>
#include <functional>
#include <string>

namespace zklock::recipe {

// As long as `node` is there and belongs to the session `owner`, the lock is ours.
struct Held {
  std::string path;  // of the lock, as the user named it
  std::string node;
  int64_t owner = 0;
  int64_t token = 0;       // the node's czxid: grows from one holder to the next
  int64_t created_ms = 0;  // its ctime, the server's clock, ms since 1970
  Deadline proved{};       // a moment since which a quorum has known of it; see OwnNode::proved()
};

// Who is in the way.
struct Holder {
  bool known = false;     // it could be read
  std::string data = {};  // what he wrote on his node
  int64_t since_ms = 0;   // when his node was made, by the server's clock, ms since 1970; 0: unknown
  size_t before = 0;      // how many stand before us, the holder included
  int64_t slots = 0;      // he is the first of so many; 0: the only one, or one of many shared ones
  std::string path = {};  // of the lock
};

// How an attempt to take it ended.
enum class Outcome {
  held,
  busy,       // somebody holds it and we shall not wait, or not any longer
  removed,    // our place was deleted by somebody while our session lived
  expired,    // the session is over; open another and try again
  disturbed,  // the waiting was, see Patience
};

// Somebody who wants to know about the waiting. Called from within acquire().
class WaitObserver {
 public:
  virtual ~WaitObserver() = default;
  // The moment from which on it wants to know (again) who holds the lock; kNever: not any more.
  virtual Deadline next_look() const = 0;
  virtual void on_holder(const Holder& holder) = 0;
  // All places were lost, and are taken again: the session has expired, or what we held already was disturbed.
  virtual void on_start_again(Outcome why) = 0;
};

struct Patience {
  bool in_line = true;                        // wait there for others, or only look
  Deadline until = kNever;                    // for all of it, connecting included
  std::function<bool()> disturbed = nullptr;  // true: something else is to be looked after first
};

class Lockable {
 public:
  virtual ~Lockable() = default;

  using Outcome = recipe::Outcome;

  // Takes a place and waits for its turn. Whatever happens, except for `held`, no node of ours is left behind as long
  // as a server can be reached. Throws a Failure: 65 for a path that is used for something else, 70 when the line's
  // counter is used up, 77 where the ACL forbids it, and what the session throws.
  virtual Outcome acquire(const Patience& patience) = 0;

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

}  // namespace zklock::recipe
