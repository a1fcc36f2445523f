// SPDX-License-Identifier: Apache-2.0
#include "recipe/lock.h"

#include "zk/path.h"
#include "zk/timing.h"

#include <algorithm>
#include <array>
#include <sys/random.h>

#include <fmt/format.h>

namespace zklock::recipe {

namespace {

using namespace std::chrono_literals;
using zk::Answer;
using zk::Code;

constexpr Duration kLongestWithdrawal = 5s;
constexpr Duration kLastLook = 1s;  // at most, to learn the holder's name for a message

// Random (version 4).
std::string make_uuid() {
  std::array<uint8_t, 16> bytes{};
  static_cast<void>(!getrandom(bytes.data(), bytes.size(), 0));
  bytes[6] = static_cast<uint8_t>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<uint8_t>((bytes[8] & 0x3f) | 0x80);
  std::string uuid;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) uuid += '-';
    uuid += fmt::format("{:02x}", bytes[i]);
  }
  return uuid;
}

}  // namespace

Lock::Outcome Lock::acquire(bool wait, Deadline until) {
  session_.set_purpose(fmt::format("cannot take {}", path_));
  try {
    for (;;) {
      switch (stand_in_line(wait, until)) {
        case Step::held:
          return Outcome::held;
        case Step::busy:
          withdraw();
          return Outcome::busy;
        case Step::removed:
          return Outcome::removed;
        case Step::expired:
          forget();
          observer_.on_session_expired();
          session_.open(until);
          continue;
        case Step::look_again:
          continue;
      }
    }
  } catch (...) {
    withdraw();
    throw;
  }
}

Lock::Step Lock::stand_in_line(bool wait, Deadline until) {
  own_.reset();
  Step step = enter(until);
  while (step == Step::look_again) step = look(wait, until);
  return step;
}

Lock::Step Lock::enter(Deadline until) {
  for (;;) {
    session_.ready(until);
    prefix_ = name_of_contender(type_.family, type_.kind, make_uuid());
    node_.clear();
    entering_.reset();
    proved_ = BootClock::now();
    entering_ = session_.client().create(child(prefix_), data_, zk::CreateMode::ephemeral_sequential);
    const zk::Call listed = session_.client().children(path_);
    const Answer made = session_.await(entering_, until);
    const Answer list = session_.await(listed, until);
    switch (made.code) {
      case Code::ok:
        node_ = made.path;
        token_ = made.stat.created;
        names_ = list.names;
        return list.code == Code::ok ? Step::look_again : list_again(until);
      case Code::unknown:
        if (const Step found = find_own(until); found != Step::removed) return found;
        continue;
      case Code::no_node:
        // Kazoo's Lock objects live long and break when an unused container goes.
        session_.make_node(
            path_, type_.family == Family::kazoo ? zk::CreateMode::persistent : zk::CreateMode::container, until);
        continue;
      case Code::expired:
        return Step::expired;
      case Code::node_exists:
      case Code::not_empty:
      case Code::bad_version:
      case Code::childless:
      case Code::no_auth:
      case Code::unsupported:
      case Code::other:
        throw zk::failure_of(fmt::format("cannot take {}", path_), made);
    }
  }
}

// The create's answer was lost. Only a list after a sync tells whether there is a node, and only its owner whether it
// is worth anything: one of an earlier session dies with that. `removed`: there is none.
Lock::Step Lock::find_own(Deadline until) {
  const Answer list = session_.synced_children(path_, until);
  if (list.code == Code::expired) return Step::expired;
  if (list.code == Code::no_node) return Step::removed;
  if (list.code != Code::ok) throw zk::failure_of(fmt::format("cannot list {}", path_), list);
  for (const std::string& name : list.names) {
    if (!name.starts_with(prefix_)) continue;
    const Answer own = session_.read(child(name), until);
    if (own.code == Code::expired) return Step::expired;
    if (own.code != Code::ok && own.code != Code::no_node) throw zk::failure_of("cannot read " + child(name), own);
    if (own.code != Code::ok || own.stat.ephemeral_owner != session_.id()) continue;
    node_ = child(name);
    token_ = own.stat.created;
    return list_again(until);
  }
  return Step::removed;
}

// A quorum's word on our node, and the list behind it: the check is a transaction, so the list, which our server gives
// after it, lacks nothing that was committed before. (A sync would give the list, but no quorum's word: a leader that
// has lost its quorum answers it too.)
Lock::Step Lock::list_again(Deadline until) {
  for (;;) {
    session_.ready(until);
    proved_ = BootClock::now() - zk::beat_of(session_.timeout());
    const zk::Call checked = session_.client().check({node_});
    const zk::Call listed = session_.client().children(path_);
    const Answer check = session_.await(checked, until);
    const Answer list = session_.await(listed, until);
    if (check.code == Code::expired || list.code == Code::expired) return Step::expired;
    if (check.code == Code::no_node) return Step::removed;
    if (check.code == Code::unknown || list.code == Code::unknown) continue;
    if (check.code != Code::ok) throw zk::failure_of(fmt::format("cannot take {}", path_), check);
    if (list.code != Code::ok) throw zk::failure_of(fmt::format("cannot list {}", path_), list);
    names_ = list.names;
    return Step::look_again;
  }
}

void Lock::check_names() const {
  for (const std::string& name : names_) {
    if (name != "items" && name != "leases") continue;
    throw Failure(ExitStatus::bad_data, fmt::format("cannot take {}: the path is in use as {}, not as a lock", path_,
                                                    name == "items" ? "a queue" : "slots (a semaphore)"));
  }
}

Lock::Step Lock::look(bool wait, Deadline until) {
  check_names();
  std::vector<Contender> line = line_of(names_);
  std::erase_if(line, [this](const Contender& c) { return ignored_.contains(c.name); });
  const std::string mine = zk::name_of(node_);
  const auto me = parse_contender(mine);
  if (!me || is_used_up(*me)) {
    throw Failure(ExitStatus::internal, fmt::format("cannot take {}: the line's counter is used up; remove the node "
                                                    "when nobody uses it",
                                                    path_));
  }
  const Place place = find_place(line, mine);
  switch (place.state) {
    case Place::State::my_turn:
      return Step::held;
    case Place::State::gone:
      return Step::removed;
    case Place::State::strangers:
      throw Failure(
          ExitStatus::bad_data,
          fmt::format("cannot take {}: '{}' stands in line there, of programs that would not wait for us: use "
                      "--peer {}",
                      path_, place.predecessor, peer_name(parse_contender(place.predecessor)->family)));
    case Place::State::waiting:
      if (wait) return wait_for(place, until);
      ask_for_holder(place);
      return Step::busy;
  }
  return Step::look_again;
}

Lock::Step Lock::wait_for(const Place& place, Deadline until) {
  session_.ready(until);
  const auto watch = std::make_shared<zk::WatchState>();
  const zk::Call watching = session_.client().read(child(place.predecessor), watch);
  zk::Call own;
  if (!own_ || own_->fired) {
    own_ = std::make_shared<zk::WatchState>();
    own = session_.client().read(node_, own_);
  }
  Answer predecessor = session_.await(watching, until);
  if (predecessor.code == Code::no_auth) {
    // Not ours to read. Its existence may be watched; that leaves a watch behind if it is gone, so it is not the rule.
    predecessor = session_.await(session_.client().exists(child(place.predecessor), watch), until);
  }
  if (own && session_.await(own, until).code != Code::ok) own_.reset();
  if (session_.expired()) return Step::expired;
  // Gone already, or the watch was lost with the connection: look again.
  if (predecessor.code != Code::ok || !own_) return list_again(until);
  const auto contender = parse_contender(place.predecessor);
  if (predecessor.stat.ephemeral_owner == 0 && contender->family != Family::kazoo) {
    ignored_.insert(place.predecessor);
    return Step::look_again;
  }
  while (!watch->fired && !own_->fired && !session_.expired()) {
    if (left_until(until) == Duration::zero()) {
      look_around(place);
      return Step::busy;
    }
    session_.turn(std::min(until, observer_.next_look()));
    if (BootClock::now() < observer_.next_look()) continue;
    look_around(place);
    observer_.on_holder(holder_);
  }
  return session_.expired() ? Step::expired : list_again(until);
}

// Those before us may have changed without waking us. Not worth a sync, nor a failure.
void Lock::look_around(Place place) {
  if (!session_.connected()) return;
  const zk::Call listed = session_.client().children(path_);
  if (!session_.settle(listed, deadline_in(kLastLook)) || listed->answer.code != Code::ok) return;
  const Place now = find_place(line_of(listed->answer.names), zk::name_of(node_));
  ask_for_holder(now.state == Place::State::waiting ? now : place);
}

void Lock::ask_for_holder(const Place& place) {
  holder_ = {};
  holder_.before = place.before;
  if (!session_.connected()) return;
  const zk::Call read = session_.client().read(child(place.holder));
  if (!session_.settle(read, deadline_in(kLastLook)) || read->answer.code != Code::ok) return;
  holder_.known = true;
  holder_.data = read->answer.data;
  holder_.since_ms = read->answer.stat.created_ms;
}

// Somebody waits for us to end, and without an answer the session's end takes the node anyway.
void Lock::withdraw() {
  give_up_place(std::min(session_.timeout() / 3, kLongestWithdrawal));
  forget();
}

bool Lock::give_up_place(Duration budget) {
  if (prefix_.empty()) return true;
  const Deadline until = std::min(BootClock::now(), session_.unconnected_since()) + budget;
  bool given_up = false;
  while (!given_up && left_until(until) > Duration::zero() && session_.settle_connection(until)) {
    // Interrupted on the way in: the create's answer may still come.
    if (node_.empty() && entering_ && session_.settle(entering_, until)) node_ = entering_->answer.path;
    if (node_.empty()) break;  // never made, or unknown: then it goes with the session
    const zk::Call removed = session_.client().remove(node_);
    given_up = session_.settle(removed, until) && removed->answer.code != Code::unknown;
  }
  if (given_up || session_.expired()) forget();
  return prefix_.empty();
}

void Lock::forget() {
  prefix_.clear();
  node_.clear();
}

}  // namespace zklock::recipe
