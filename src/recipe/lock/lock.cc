// SPDX-License-Identifier: Apache-2.0
#include "recipe/lock/lock.h"

#include "base/text.h"
#include "recipe/group/layout.h"
#include "recipe/lock/wait.h"
#include "recipe/queue/nodes.h"
#include "zk/path.h"
#include "zk/timing.h"

#include <fmt/format.h>

namespace zklock::recipe {

using zk::Answer;
using zk::Code;

namespace {

// Kazoo's Lock objects live long and break when an unused container goes.
zk::CreateMode parent_mode(const LockType& type) {
  const bool kazoo = type.family == Family::kazoo || type.with_kazoo;
  return kazoo ? zk::CreateMode::persistent : zk::CreateMode::container;
}

}  // namespace

Lock::Lock(zk::Session& session, std::string path, LockType type, std::string data, WaitObserver& observer)
    : Lock(session, path, {path}, type, std::move(data), observer) {}

Lock::Lock(zk::Session& session, std::string path, const std::vector<std::string>& parents, LockType type,
           std::string data, WaitObserver& observer)
    : session_(session),
      path_(std::move(path)),
      line_path_(parents.back()),
      tried_(fmt::format("cannot take {}", path_)),
      type_(type),
      data_(std::move(data)),
      observer_(observer),
      own_(session, parents, parent_mode(type), tried_) {
  holder_.path = path_;
}

Lock::Lock(zk::Session& session, std::string path, WaitObserver& observer, std::string data, std::string tried)
    : session_(session),
      path_(std::move(path)),
      line_path_(path_),
      tried_(std::move(tried)),
      data_(std::move(data)),
      observer_(observer),
      own_(session, {path_}, std::nullopt, tried_) {
  holder_.path = path_;
}

Held Lock::held() const {
  return {path_, own_.path(), session_.id(), own_.token(), own_.created_ms(), own_.proved()};
}

Lock::Outcome Lock::acquire(const Patience& patience) {
  session_.set_purpose(tried_);
  try {
    const Outcome outcome = stand_in_line(patience);
    // Not forgotten: without an answer it may still stand, and whoever goes on in this session has to know.
    if (outcome != Outcome::held) own_.remove(withdrawal_budget(session_));
    return outcome;
  } catch (...) {
    own_.remove(withdrawal_budget(session_));
    throw;
  }
}

Lock::Outcome Lock::stand_in_line(const Patience& patience) {
  watch_.reset();
  watch_before_.reset();
  auto state = OwnNode::State::missing;
  while (state == OwnNode::State::missing) {
    state = own_.make(name_of_contender(type_.family, type_.kind, make_uuid()), data_, patience.until);
  }
  while (state == OwnNode::State::there) {
    if (const auto outcome = look(patience)) return *outcome;
    state = own_.confirm(patience.until);
  }
  return state == OwnNode::State::expired ? Outcome::expired : Outcome::removed;
}

// A path for slots keeps the node for the leases when nobody has one; see Slots::check_use for the other side.
void Lock::check_use(Deadline until) {
  if (may_be_group(own_.parent_stat()) && is_group(group_mark_of(session_.read(line_path_, until).data))) {
    throw Failure(ExitStatus::bad_data,
                  fmt::format("cannot take {}: the path is in use as a group, not as a lock; choose another", path_));
  }
  for (const std::string& name : own_.siblings()) {
    const bool slots = name == "leases";
    if (name != "items" && !slots) continue;
    if (!slots && !is_mark_of_queue(session_.read(path_, until))) continue;
    if (slots && session_.children(child(name), until).names.empty()) continue;
    throw Failure(ExitStatus::bad_data, fmt::format("{}: the path is in use {}, not as a lock; {}", tried_,
                                                    slots ? "for slots" : "as a queue",
                                                    slots ? "use --slots or another path" : "choose another"));
  }
}

// Nothing: what stands in the way has changed, look again.
std::optional<Lock::Outcome> Lock::look(const Patience& patience) {
  check_use(patience.until);
  std::vector<Contender> line = line_of(own_.siblings());
  std::erase_if(line, [this](const Contender& c) { return ignored_.contains(c.name); });
  own_.check_number();
  const Place place = find_place(line, own_.name(), type_.with_kazoo);
  switch (place.state) {
    case Place::State::my_turn:
      return Outcome::held;
    case Place::State::gone:
      return Outcome::removed;
    case Place::State::strangers:
      throw Failure(
          ExitStatus::bad_data,
          fmt::format("{}: programs of another kind, which would not wait for us, stand in line there ('{}'); {}",
                      tried_, printable(place.predecessor), peer_to_use(parse_contender(place.predecessor)->family)));
    case Place::State::waiting:
      if (may_wait(patience, line)) return is_watched(place) ? sleep(place, patience) : wait_for(place, patience);
      holder_ = find_holder(place);
      return Outcome::busy;
  }
  return std::nullopt;
}

bool Lock::may_wait(const Patience& patience, const std::vector<Contender>&) {
  return patience.in_line;
}

// As after a look that nothing had woken us for.
bool Lock::is_watched(const Place& place) const {
  const auto stands = [](const zk::Watch& watch) { return watch && !watch->fired; };
  return stands(watch_) && stands(watch_before_) && watched_ == place.predecessor;
}

std::optional<Lock::Outcome> Lock::wait_for(const Place& place, const Patience& patience) {
  session_.ready(patience.until);
  const auto watch = std::make_shared<zk::WatchState>();
  const zk::Call watching = session_.client().read(child(place.predecessor), watch);
  zk::Call own;
  if (!watch_ || watch_->fired) {
    watch_ = std::make_shared<zk::WatchState>();
    own = session_.client().read(own_.path(), watch_);
  }
  Answer predecessor = session_.await(watching, patience.until);
  if (predecessor.code == Code::no_auth) {
    // Not ours to read. Its existence may be watched; that leaves a watch behind if it is gone, so it is not the rule.
    predecessor = session_.await(session_.client().exists(child(place.predecessor), watch), patience.until);
  }
  const Answer mine = own ? session_.await(own, patience.until) : Answer();
  if (mine.code != Code::ok) watch_.reset();
  if (mine.data == kRevoked) return Outcome::removed;
  if (session_.expired()) return Outcome::expired;
  // Gone already, or the watch was lost with the connection.
  if (predecessor.code != Code::ok || !watch_) return std::nullopt;
  const auto contender = parse_contender(place.predecessor);
  if (predecessor.stat.ephemeral_owner == 0 && contender->family != Family::kazoo) {
    ignored_.insert(place.predecessor);
    return std::nullopt;
  }
  watch_before_ = watch;
  watched_ = place.predecessor;
  return sleep(place, patience);
}

std::optional<Lock::Outcome> Lock::sleep(const Place& place, const Patience& patience) {
  const auto look_around = [&]() -> const Holder& { return this->look_around(place); };
  return wait_for_change(session_, {watch_before_, watch_}, patience, observer_, look_around,
                         deadline_in(zk::longest_sleep_of(session_.timeout())));
}

// Those before us may have changed without waking us. Not worth a sync, nor a failure.
const Holder& Lock::look_around(Place place) {
  if (!session_.connected()) return holder_;
  const zk::Call listed = session_.client().children(line_path_);
  if (!session_.settle(listed, deadline_in(kLastLook)) || listed->answer.code != Code::ok) return holder_;
  const Place now = find_place(line_of(listed->answer.names), own_.name(), type_.with_kazoo);
  return holder_ = find_holder(now.state == Place::State::waiting ? now : place);
}

Holder Lock::find_holder(const Place& place) {
  Holder holder;
  holder.path = path_;
  holder.before = place.before;
  read_holder(session_, child(place.holder), holder);
  return holder;
}

}  // namespace zklock::recipe
