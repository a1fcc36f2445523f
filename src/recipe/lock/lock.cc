// SPDX-License-Identifier: Apache-2.0
#include "recipe/lock/lock.h"

#include "base/text.h"
#include "host/trace.h"
#include "recipe/use.h"
#include "zk/path.h"
#include "zk/timing.h"

#include <algorithm>

#include <fmt/format.h>

namespace zklock::recipe {

using zk::Answer;
using zk::Code;

namespace {

// The holder's name is needed only for a message, so it may not take long.
constexpr Duration kLastLook = std::chrono::seconds(1);

// Kazoo's Lock objects live long and break when the server removes an unused container.
zk::CreateMode parent_mode(const LockType& type) {
  const bool kazoo = type.family == Family::kazoo || type.with_kazoo;
  return kazoo ? zk::CreateMode::persistent : zk::CreateMode::container;
}

}  // namespace

Outcome Lockable::acquire(const WaitPolicy& policy) {
  const zk::Within within(session_, policy.until);
  try {
    const Outcome outcome = take(policy);
    if (outcome != Outcome::held) withdraw();
    return outcome;
  } catch (...) {
    withdraw();
    throw;
  }
}

Lock::Lock(zk::Session& session, const std::string& path, LockType type, std::string data, WaitObserver& observer)
    : Lock(session, {path}, type, std::move(data), observer, "cannot take " + path) {}

Lock::Lock(zk::Session& session, const std::vector<std::string>& parents, std::optional<LockType> type,
           std::string data, WaitObserver& observer, std::string tried)
    : Lockable(session),
      path_(parents.front()),
      line_path_(parents.back()),
      tried_(std::move(tried)),
      type_(type.value_or(LockType())),
      data_(std::move(data)),
      observer_(observer),
      own_(session, parents, type ? std::optional(parent_mode(*type)) : std::nullopt, tried_) {
  holder_.path = path_;
}

Held Lock::held() const {
  Held held = own_.held();
  held.watch = own_watch_;
  // If we have waited, the holder before us may have written a success after it was read.
  if (!own_watch_) held.beside = own_.beside();
  return held;
}

Outcome Lock::take(const WaitPolicy& policy) {
  session_.set_purpose(tried_);
  for (auto outcome = enter();; outcome = own_.path().empty() ? enter() : look_again()) {
    if (outcome) return *outcome;
    if (!may_wait(policy)) {
      if (leave_to_others() || !release(withdrawal_budget(session_))) return Outcome::busy;
      continue;
    }
    if (const auto ended = watch()) return *ended;
    if (!is_watched() && !is_woken()) continue;
    if (const auto ended = sleep(policy)) return *ended;
  }
}

// True if a watch has fired since both were set.
bool Lock::is_woken() const {
  const bool fired = own_watch_ && watch_ && (own_watch_->fired || watch_->fired);
  return fired && watched_ == place_.predecessor;
}

std::optional<Outcome> Lock::enter() {
  own_watch_.reset();
  watch_.reset();
  listed_on_ = session_.client().connections();
  while (!own_.make(name_of_contender(type_.family, type_.mode, make_uuid()), data_)) {
  }
  return look(true);
}

std::optional<Outcome> Lock::look_again() {
  if (is_next()) {
    host::trace("handed over", {{"node", own_.path()}, {"predecessor", child(watched_)}});
    return Outcome::held;
  }
  listed_on_ = session_.client().connections();
  return look(own_.look_again());
}

bool Lock::is_next() const {
  if (type_.mode != LockMode::exclusive || line_path_ != path_ || reads_) return false;
  const bool gone = watch_ && watch_->gone && !watches_line_ && watched_ == place_.predecessor;
  const bool there = own_watch_ && !own_watch_->fired;
  const bool same_connection = session_.connected() && session_.client().connections() == listed_on_;
  return place_.before == 1 && gone && there && same_connection && own_.is_proved();
}

std::optional<Outcome> Lock::look(bool there) {
  if (!there) return Outcome::removed;
  const std::vector<std::string>& names = own_.siblings().names;
  check_use(session_, line_path_, own_.siblings(), PathUse::lock, tried_);
  own_.check_number();
  check_no_foreign(session_, line_path_, names, ignored_, tried_);
  place_ = find_place(line_in(names), own_.name(), type_.with_kazoo);
  if (place_.turn == Turn::strangers) {
    ignore_leftovers();
    place_ = find_place(line_in(names), own_.name(), type_.with_kazoo);
  }
  trace_place();
  if (place_.turn == Turn::strangers) throw strangers();
  if (place_.turn == Turn::waiting) return std::nullopt;
  if (place_.turn == Turn::gone) return Outcome::removed;
  // The requests may have taken a while, so the proof may be old.
  return own_.is_proved() || own_.confirm() ? Outcome::held : Outcome::removed;
}

Failure Lock::strangers() const {
  return {ExitStatus::bad_data,
          fmt::format("{}: programs of another kind, which would not wait for us, stand in line there ('{}'); {}",
                      tried_, printable(place_.predecessor), peer_to_use(parse_contender(place_.predecessor)->family))};
}

// `pzxid` is the last change of the line that the list contains.
void Lock::trace_place() const {
  if (!host::is_traced()) return;
  const std::string before = child(place_.predecessor);
  const bool waits = place_.turn == Turn::waiting;
  host::trace("seen", {{"node", own_.path()},
                       waits ? host::TraceField("predecessor", before) : host::TraceField("predecessor", nullptr),
                       {"there", place_.turn != Turn::gone},
                       {"pzxid", own_.siblings().stat.child_changed}});
}

std::vector<Contender> Lock::line_in(const std::vector<std::string>& names) const {
  std::vector<Contender> line = line_of(names);
  std::erase_if(line, [this](const Contender& c) { return ignored_.contains(c.name); });
  return line;
}

void Lock::ignore_leftovers() {
  for (const std::string& name : leftovers_in(session_, line_path_, line())) ignore(name);
}

void Lock::ignore(const std::string& leftover) {
  ignored_.insert(leftover);
  host::trace("left over", {{"node", own_.path()}, {"leftover", child(leftover)}});
}

// Leaves the line in the flight that asks for the contenders before us. Returns false if there turn out to be none,
// which is rare: then we need another place.
bool Lock::leave_to_others() {
  session_.ready();
  start_release();
  std::vector<zk::Call> calls;
  for (const std::string& node : those_before_us()) calls.push_back(session_.client().exists(node));
  holder_ = find_holder(place_);
  std::vector<Answer> looks;
  for (const zk::Call& call : calls) looks.push_back(session_.await(call));
  const bool lost = std::ranges::find(looks, Code::unknown, &Answer::code) != looks.end();
  return is_blocked(lost ? zk::stat_all(session_, those_before_us()) : looks);
}

// The looks are at those_before_us(). The second one is the first in line, which a message names.
bool Lock::is_blocked(const std::vector<Answer>& looks) {
  const std::vector<std::string> nodes = those_before_us();
  for (size_t i = 0; i < nodes.size(); ++i) {
    const auto contender = parse_contender(zk::name_of(nodes[i]));
    if (looks[i].code != Code::ok || !is_leftover(*contender, looks[i].stat)) continue;
    ignore_leftovers();
    return false;
  }
  const bool there = looks.front().code == Code::ok;
  if (!there) host::trace("watched", {{"node", own_.path()}, {"predecessor", nodes.front()}, {"there", false}});
  return there;
}

std::optional<Outcome> Lock::pass_leftovers() {
  while (!is_blocked(zk::stat_all(session_, those_before_us()))) {
    if (const auto outcome = look_again()) return outcome;
  }
  return std::nullopt;
}

// The watches may still be set when we look again, because the longest sleep may have ended before one fired.
bool Lock::is_watched() const {
  const auto stands = [](const zk::Watch& watch) { return watch && !watch->fired; };
  return stands(own_watch_) && stands(watch_) && watched_ == place_.predecessor;
}

std::optional<Outcome> Lock::watch() {
  if (is_watched()) return std::nullopt;
  session_.ready();
  host::trace("watching", {{"node", own_.path()}, {"predecessor", child(place_.predecessor)}});
  watch_.reset();
  const auto watch = std::make_shared<zk::WatchState>();
  const zk::Call watching = session_.client().read(child(place_.predecessor), watch);
  zk::Call own;
  if (!own_watch_ || own_watch_->fired) {
    own_watch_ = std::make_shared<zk::WatchState>();
    own = session_.client().read(own_.path(), own_watch_);
  }
  Answer predecessor = session_.await(watching);
  watches_line_ = predecessor.code == Code::no_auth;
  if (watches_line_) predecessor = watch_line(watch);
  const Answer mine = own ? session_.await(own) : Answer();
  if (mine.code != Code::ok) own_watch_.reset();
  // The lease uses this watch and does not read the node first, so the owner is checked here: see Held::watch.
  const bool somebody_elses = own && mine.code == Code::ok && mine.stat.ephemeral_owner != session_.id();
  if (mine.data == kRevoked || somebody_elses) return Outcome::removed;
  // The predecessor is gone already, or the watch was lost with the connection.
  const bool watched = predecessor.code == Code::ok && own_watch_;
  host::trace("watched", {{"node", own_.path()}, {"predecessor", child(place_.predecessor)}, {"there", watched}});
  if (!watched) return std::nullopt;
  if (is_leftover(*parse_contender(place_.predecessor), predecessor.stat)) {
    ignore_leftovers();
    return std::nullopt;
  }
  watch_ = watch;
  watched_ = place_.predecessor;
  return observer_.on_predecessor(predecessor.data) ? std::optional(Outcome::held) : std::nullopt;
}

// We may not read our predecessor. Newer servers report its deletion only to clients that may read it, even if they
// have set a watch (CVE-2024-23944). So in this rare case, each change of the line wakes us.
Answer Lock::watch_line(const zk::Watch& watch) {
  const zk::Call listed = session_.client().children(line_path_, watch);
  const zk::Call looked = session_.client().exists(child(place_.predecessor));
  const Answer list = session_.await(listed);
  const Answer predecessor = session_.await(looked);
  return list.code == Code::ok ? predecessor : list;
}

std::optional<Outcome> Lock::sleep(const WaitPolicy& policy) {
  const auto ended = wait_for_change(
      session_, watches(), policy, observer_, [this]() -> const Holder& { return look_around(); },
      deadline_in(zk::longest_sleep_of(session_.timeout())));
  host::trace("woken", {{"node", own_.path()}, {"again", !ended}});
  return ended;
}

// The line before us may have changed without waking us. This is only for a message, so it needs no sync, and a failure
// does not count.
const Holder& Lock::look_around() {
  const Answer listed = glance(session_, [this](zk::Client& client) { return client.children(line_path_); });
  if (listed.code != Code::ok) return holder_;
  const Place now = find_place(line_in(listed.names), own_.name(), type_.with_kazoo);
  return holder_ = find_holder(now.turn == Turn::waiting ? now : place_);
}

void Lock::check_refusal() const {
  own_.check_refusal(fmt::format("cannot leave the line of {}", path_));
}

Holder Lock::find_holder(const Place& place) {
  Holder holder;
  holder.path = path_;
  holder.before = place.before;
  std::string first = place.holder;
  // The first in line may be a leftover that has not been a predecessor yet.
  while (!read_holder(session_, child(first), holder)) {
    ignore(first);
    const std::vector<Contender> rest = line();
    if (rest.empty() || rest.front().name == first) break;
    first = rest.front().name;
  }
  return holder;
}

Answer glance(zk::Session& session, const zk::Session::Send& send) {
  Answer nothing;
  nothing.code = Code::unknown;
  if (!session.connected()) return nothing;
  const zk::Call call = send(session.client());
  return session.settle(call, deadline_in(kLastLook)) ? call->answer : nothing;
}

bool read_holder(zk::Session& session, const std::string& node, Holder& holder) {
  const Answer read = glance(session, [&](zk::Client& client) { return client.read(node); });
  if (read.code != Code::ok) return true;
  const auto contender = parse_contender(zk::name_of(node));
  if (contender && is_leftover(*contender, read.stat)) return false;
  holder.known = true;
  holder.data = read.data;
  holder.since_ms = read.stat.created_ms;
  return true;
}

std::optional<Outcome> wait_for_change(zk::Session& session, const std::vector<zk::Watch>& watches,
                                       const WaitPolicy& policy, WaitObserver& observer,
                                       const std::function<const Holder&()>& look_around, Deadline awake) {
  const auto fired = [](const zk::Watch& watch) { return watch->fired; };
  while (std::none_of(watches.begin(), watches.end(), fired)) {
    session.check_alive();
    if (policy.disturbed && policy.disturbed()) return Outcome::disturbed;
    if (left_until(policy.until) == Duration::zero()) {
      look_around();
      return Outcome::busy;
    }
    if (left_until(awake) == Duration::zero()) return std::nullopt;
    session.turn(std::min({policy.until, observer.next_look(), awake}));
    if (BootClock::now() >= observer.next_look()) observer.on_holder(look_around());
  }
  session.check_alive();
  return std::nullopt;
}

}  // namespace zklock::recipe
