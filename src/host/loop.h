// SPDX-License-Identifier: Apache-2.0
// The one place where zklock waits. A turn asks every source what it waits for, polls once, lets every source record
// what has come, and only then lets them decide. Single-threaded; sources must outlive their time in the loop.
#pragma once

#include "base/time.h"
#include "host/timer.h"

#include <poll.h>
#include <vector>

namespace zklock::host {

// What one turn waits for and what it then found.
class PollSet {
 public:
  void watch(int fd, short events);
  void wake_at(Deadline moment);
  short seen(int fd) const;  // revents; 0 for a descriptor that is not watched

 private:
  friend class Loop;
  std::vector<pollfd> entries_;
  Deadline wake_ = kNever;
};

class Source {
 public:
  virtual ~Source() = default;
  virtual void arm(PollSet& set) = 0;
  // Reads and records what has come. Does not act, does not throw.
  virtual void record(const PollSet& set) = 0;
  // Acts on what was recorded, by any source. May throw a Failure, which ends the turn for whoever waits.
  virtual void decide() {}
};

class Loop {
 public:
  void add(Source& source) { sources_.push_back(&source); }
  void remove(Source& source);

  // Waits for the first event, at most until `until`.
  void turn(Deadline until);

 private:
  std::vector<Source*> sources_;
  Timer timer_;
};

// A source's time in the loop as a scope.
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
