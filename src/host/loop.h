// SPDX-License-Identifier: Apache-2.0
// The one place where zklock waits. A turn asks every source what it waits for, polls once, lets every source record
// what has come, and only then lets them decide. The loop is single-threaded. A source must leave it before it is
// destroyed.
#pragma once

#include "base/time.h"
#include "host/fd.h"

#include <poll.h>
#include <vector>

namespace zklock::host {

// A moment to wake up at, as a descriptor to poll. Its clock counts suspended time too, which the timeout of poll()
// does not. After a suspend, a timer that is due is readable at once.
class Timer {
 public:
  Timer();

  // Makes the descriptor readable from `moment` on, until the next set(); with kNever it never is. Makes one system
  // call, or none if `moment` is unchanged.
  void set(Deadline moment);
  int fd() const { return fd_.get(); }

 private:
  Fd fd_;
  Deadline moment_ = kNever;
};

// What one turn waits for, and what it has found.
class PollSet {
 public:
  void watch(int fd, short events) { entries_.push_back({fd, events, 0}); }
  void wake_at(Deadline moment) { wake_ = moment < wake_ ? moment : wake_; }
  short seen(int fd) const;  // revents; 0 for a descriptor that is not watched

 private:
  friend class Loop;
  std::vector<pollfd> entries_;
  Deadline wake_ = kNever;
};

class Source {
 public:
  virtual ~Source() = default;
  // Adds what the source waits for to the set.
  virtual void arm(PollSet&) {}
  // Reads and records what has come. Does not act, and does not throw.
  virtual void record(const PollSet&) {}
  // Acts on what any source has recorded. May throw a Failure, which turn() passes on.
  virtual void decide() {}
};

class Loop {
 public:
  void add(Source& source) { sources_.push_back(&source); }
  void remove(Source& source) { std::erase(sources_, &source); }

  // Waits for the first event, at most until `until`, and lets the sources record and decide.
  void turn(Deadline until);

 private:
  std::vector<Source*> sources_;
  Timer timer_;
};

// Puts a source into the loop, and removes it at the end of the scope.
class Attached {
 public:
  Attached(Loop& loop, Source& source) : loop_(loop), source_(source) { loop.add(source); }
  Attached(const Attached&) = delete;
  ~Attached() { loop_.remove(source_); }

 private:
  Loop& loop_;
  Source& source_;
};

}  // namespace zklock::host
