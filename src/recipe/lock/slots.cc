// SPDX-License-Identifier: Apache-2.0
#include "recipe/lock/slots.h"

#include "recipe/group/layout.h"
#include "recipe/lock/wait.h"
#include "recipe/queue/nodes.h"
#include "recipe/site.h"
#include "zk/path.h"
#include "zk/timing.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace zklock::recipe {

using zk::Code;

namespace {

constexpr std::string_view kBeforeUuid = "_c_";
constexpr size_t kUuidLength = 36;

std::string uuid_in(const std::string& name) {
  return name.starts_with(kBeforeUuid) ? name.substr(kBeforeUuid.size(), kUuidLength) : std::string();
}

// How many stand before `mine`; nothing if it is not among them.
std::optional<size_t> count_before(const std::vector<Contender>& line, const std::string& mine) {
  const auto me = std::find_if(line.begin(), line.end(), [&](const Contender& c) { return c.name == mine; });
  if (me == line.end()) return std::nullopt;
  return static_cast<size_t>(me - line.begin());
}

Outcome outcome_of(OwnNode::State state) {
  switch (state) {
    case OwnNode::State::there:
      return Outcome::held;
    case OwnNode::State::missing:
      return Outcome::removed;
    case OwnNode::State::expired:
      break;
  }
  return Outcome::expired;
}

}  // namespace

Slots::Gate::Gate(Slots& slots, zk::Session& session, std::string data, WaitObserver& observer)
    : Lock(session, slots.path_, {slots.path_, slots.path_ + "/locks"}, {}, std::move(data), observer), slots_(slots) {}

void Slots::Gate::check_refusal() const {
  if (own().refusal() == Code::ok) return;
  zk::Answer answer;
  answer.code = own().refusal();
  throw zk::failure_of(fmt::format("cannot leave the gate of {}", slots_.path_), answer);
}

std::string Slots::Gate::uuid() const {
  return uuid_in(own().name());
}

// Those before us may take a slot each. A zklock that has its lease already and is about to leave the gate is told by
// its id, which both its nodes carry, and counts once.
bool Slots::Gate::may_wait(const Patience& patience, const std::vector<Contender>& line) {
  if (patience.in_line) return true;
  const std::vector<std::string> taken = session().children(slots_.leases(), patience.until).names;
  const auto has_lease = [&](const Contender& contender) {
    const std::string id = uuid_in(contender.name);
    return !id.empty() &&
           std::any_of(taken.begin(), taken.end(), [&](const auto& name) { return uuid_in(name) == id; });
  };
  size_t claims = taken.size();
  for (const Contender& contender : line) {
    if (contender.name == own().name()) break;
    if (!has_lease(contender)) ++claims;
  }
  return claims < static_cast<size_t>(slots_.count_);
}

Slots::Slots(zk::Session& session, std::string path, int64_t count, SlotsIn slots_in, std::string data,
             WaitObserver& observer)
    : session_(session),
      path_(std::move(path)),
      count_(count),
      slots_in_(std::move(slots_in)),
      data_(std::move(data)),
      observer_(observer),
      gate_(*this, session, data_, observer),
      slot_(session, {path_, leases()}, zk::CreateMode::container, fmt::format("cannot take {}", path_)) {
  holder_.path = path_;
}

Held Slots::held() const {
  return {path_, slot_.path(), session_.id(), slot_.token(), slot_.created_ms(), slot_.proved()};
}

Slots::Outcome Slots::acquire(const Patience& patience) {
  try {
    check_names(session_, path_, fmt::format("cannot take {}", path_), patience.until);
    // Before we make anything: a mistake shall not disturb those who use it as a lock of one.
    check_use(patience.until);
    Outcome outcome = gate_.acquire(patience);
    if (outcome == Outcome::busy) holder_ = gate_.holder();
    if (outcome == Outcome::held) outcome = acquire_slot(patience);
    if (outcome == Outcome::held) outcome = open_gate(patience);
    // The gate may have taken its time.
    const bool old = BootClock::now() - slot_.proved() >= zk::beat_of(session_.timeout());
    if (outcome == Outcome::held && old) outcome = outcome_of(slot_.confirm(patience.until));
    if (outcome != Outcome::held) withdraw();
    return outcome;
  } catch (...) {
    withdraw();
    throw;
  }
}

Slots::Outcome Slots::acquire_slot(const Patience& patience) {
  auto state = OwnNode::State::missing;
  for (std::string uuid = gate_.uuid(); state == OwnNode::State::missing; uuid = make_uuid()) {
    state = slot_.make(fmt::format("{}{}-lease-", kBeforeUuid, uuid), data_, patience.until);
  }
  if (state == OwnNode::State::there) {
    // Again: who makes his node before he looks around cannot be missed by another who does the same.
    check_use(patience.until);
    slot_.check_number();
    check_count(line_of(slot_.siblings()), patience.until);
  }
  zk::Watch watch;
  while (state == OwnNode::State::there) {
    const auto before = count_before(line_of(slot_.siblings()), slot_.name());
    if (!before) return Outcome::removed;
    if (*before < static_cast<size_t>(count_)) return Outcome::held;
    if (!patience.in_line) {
      holder_ = find_holder();
      return Outcome::busy;
    }
    if (watch) {
      const auto look_around = [this]() -> const Holder& { return holder_ = find_holder(); };
      const auto outcome = wait_for_change(session_, {watch}, patience, observer_, look_around,
                                           deadline_in(zk::longest_sleep_of(session_.timeout())));
      if (outcome) return *outcome;
    }
    const bool watched = watch && !watch->fired;
    if (!watched) watch = std::make_shared<zk::WatchState>();
    state = slot_.confirm(patience.until, watched ? nullptr : watch);
  }
  return outcome_of(state);
}

// The path is nobody's plain lock, nor a queue, nor a group.
void Slots::check_use(Deadline until) {
  const zk::Answer list = session_.children(path_, until);
  if (may_be_group(list.stat) && is_group(group_mark_of(session_.read(path_, until).data))) {
    throw Failure(ExitStatus::bad_data,
                  fmt::format("cannot take {}: the path is in use as a group, not for slots; choose another", path_));
  }
  for (const std::string& name : list.names) {
    const bool queue = name == "items" && is_mark_of_queue(session_.read(path_, until));
    if (!queue && !parse_contender(name)) continue;
    throw Failure(ExitStatus::bad_data, fmt::format("cannot take {}: the path is in use as {}, not for slots; {}",
                                                    path_, queue ? "a queue" : "a lock of one",
                                                    queue ? "choose another" : "leave out --slots or choose another"));
  }
}

// The latest one that says how many there are stands for all before it: its owner has looked too.
void Slots::check_count(const std::vector<Contender>& leases, Deadline until) {
  for (auto lease = leases.rbegin(); lease != leases.rend(); ++lease) {
    if (lease->name == slot_.name()) continue;
    const int64_t theirs = slots_in_(session_.read(this->leases() + "/" + lease->name, until).data);
    if (theirs == count_) return;
    if (theirs == 0) continue;
    throw Failure(ExitStatus::bad_data,
                  fmt::format("cannot take {}: it is in use with --slots {}, not {}; all who use it must give the same",
                              path_, theirs, count_));
  }
}

// Until the answer is seen nobody else comes through.
Slots::Outcome Slots::open_gate(const Patience& patience) {
  while (!gate_.release(zk::beat_of(session_.timeout()))) {
    gate_.check_refusal();
    session_.ready(patience.until);
  }
  return session_.expired() ? Outcome::expired : Outcome::held;
}

Holder Slots::find_holder() {
  Holder holder;
  holder.path = path_;
  holder.slots = count_;
  if (!session_.connected()) return holder;
  const zk::Call listed = session_.client().children(leases());
  if (!session_.settle(listed, deadline_in(kLastLook)) || listed->answer.code != Code::ok) return holder;
  const std::vector<Contender> line = line_of(listed->answer.names);
  if (!line.empty()) read_holder(session_, leases() + "/" + line.front().name, holder);
  return holder;
}

bool Slots::release(Duration budget) {
  const Deadline until = deadline_in(budget);
  const bool free = slot_.remove(budget);
  return gate_.release(left_until(until)) && free;
}

void Slots::withdraw() {
  slot_.withdraw();
  gate_.release(zk::beat_of(session_.timeout()));
  gate_.forget();
}

void Slots::forget() {
  slot_.forget();
  gate_.forget();
}

}  // namespace zklock::recipe
