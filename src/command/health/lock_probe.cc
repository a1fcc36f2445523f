// SPDX-License-Identifier: Apache-2.0
#include "command/health/lock_probe.h"

#include "command/child/note.h"
#include "recipe/lock/lock.h"
#include "zk/timing.h"

#include <algorithm>

#include <fmt/format.h>

namespace zklock::command {

namespace {

class Unwatched : public recipe::WaitObserver {
 public:
  Deadline next_look() const override { return kNever; }
  void on_holder(const recipe::Holder&) override {}
  void on_start_again(recipe::Outcome) override {}
};

std::string trouble_of(recipe::Outcome outcome, const recipe::Lock& lock) {
  switch (outcome) {
    case recipe::Outcome::held:
      return "";
    case recipe::Outcome::busy:
      return describe_holder(lock.holder());
    case recipe::Outcome::removed:
      return "our place in line was removed";
    case recipe::Outcome::expired:
    case recipe::Outcome::disturbed:
      return "the session expired";
  }
  return "";
}

void take_and_release(zk::Session& session, Deadline until, Probe& probe) {
  const Deadline began = BootClock::now();
  session.set_purpose("cannot take " + probe.path);
  session.open(until);
  Unwatched observer;
  recipe::Lock lock(session, probe.path, {}, to_json(own_note("zklock", "health --probe")), observer);
  const recipe::Outcome outcome = lock.acquire({true, until});
  const Deadline taken = BootClock::now();
  if (outcome != recipe::Outcome::held) {
    probe.trouble = fmt::format("cannot take {}: {}", probe.path, trouble_of(outcome, lock));
  } else if (!lock.release(std::max(left_until(until), zk::beat_of(session.timeout())))) {
    probe.trouble = fmt::format("cannot give {} back: no answer in time; it goes with the session", probe.path);
  }
  probe.taken = taken - began;
  probe.released = BootClock::now() - taken;
  session.close();
}

}  // namespace

Probe probe_lock(host::Loop& loop, const zk::SessionOptions& options, const std::string& path, Deadline until) {
  Probe probe;
  probe.path = path;
  zk::Session session(loop, options);
  try {
    take_and_release(session, until, probe);
  } catch (const Failure& failure) {
    // That it fails is what the probe was to find out.
    if (failure.signal() != 0) throw;
    probe.trouble = failure.text();
  }
  return probe;
}

}  // namespace zklock::command
