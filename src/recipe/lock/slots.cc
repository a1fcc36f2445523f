// SPDX-License-Identifier: Apache-2.0
#include "recipe/lock/slots.h"

#include "recipe/use.h"
#include "zk/timing.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace zklock::recipe {

namespace {

constexpr std::string_view kBeforeUuid = "_c_";
constexpr size_t kUuidLength = 36;

std::string uuid_in(const std::string& name) {
  return name.starts_with(kBeforeUuid) ? name.substr(kBeforeUuid.size(), kUuidLength) : std::string();
}

zk::Session::Send list_of(const std::string& path) {
  return [path](zk::Client& client) { return client.children(path); };
}

}  // namespace

Slots::Gate::Gate(Slots& slots, zk::Session& session, std::string data, WaitObserver& observer)
    : Lock(session, {slots.path_, slots.path_ + "/locks"}, LockType(), std::move(data), observer, slots.tried_),
      slots_(slots) {
  set_besides({list_of(slots.folder()), [&slots] { slots.check_path_first(); }});
}

// Each contender before us may take a slot. One that has its slot already and is about to leave the gate counts once:
// both its nodes have the same id.
bool Slots::Gate::may_wait(const WaitPolicy& policy) {
  slots_.check_path_first();
  if (policy.in_line) return true;
  ignore_leftovers();
  const std::vector<std::string> taken = slots_.without_leftovers(session_.children(slots_.folder()).names);
  const auto has_slot = [&](const Contender& contender) {
    const std::string id = uuid_in(contender.name);
    return !id.empty() && std::ranges::find(taken, id, uuid_in) != taken.end();
  };
  size_t claims = taken.size();
  for (const Contender& contender : line()) {
    if (contender.name == own().name()) break;
    if (!has_slot(contender)) ++claims;
  }
  return claims < static_cast<size_t>(slots_.count_);
}

Slots::Slots(zk::Session& session, std::string path, int64_t count, SlotsIn slots_in, std::string data,
             WaitObserver& observer)
    : Lockable(session),
      path_(std::move(path)),
      tried_(fmt::format("cannot take {}", path_)),
      count_(count),
      slots_in_(std::move(slots_in)),
      data_(std::move(data)),
      observer_(observer),
      gate_(*this, session, data_, observer),
      slot_(session, {path_, folder()}, zk::CreateMode::container, tried_) {
  holder_.path = path_;
  slot_.set_besides({[this](zk::Client& client) { return send_with_slot(client); }});
}

// The first list of the path goes in the flight of the gate's create. It is checked before we make a slot, or a folder,
// so that a mistake does not disturb those that use the path as a lock without slots.
Outcome Slots::take(const WaitPolicy& policy) {
  session_.ready();
  path_list_ = list_of(path_)(session_.client());
  Outcome outcome = gate_.acquire(policy);
  if (outcome == Outcome::busy) holder_ = gate_.holder();
  if (outcome == Outcome::held) outcome = take_slot(policy);
  if (outcome == Outcome::held) open_gate();
  // The wait for the gate may have made the proof old.
  return outcome == Outcome::held && !slot_.is_proved() && !slot_.confirm() ? Outcome::removed : outcome;
}

// Each contender that was in the gate before us made its slot before it left, and while we are in it no other makes
// one. So if the list behind that of the gate has no slot, ours will be the first.
void Slots::look_around_gate() {
  check_path_first();
  alone_ = false;
  neighbour_.clear();
  const zk::Call listed = gate_.held().beside;
  if (!listed) return;
  const zk::Answer list = session_.await(listed);
  const std::vector<Contender> slots = slots_of(list.names);
  if (list.code == zk::Code::no_node) slot_.expect_no_parent();
  alone_ = slots.empty() && (list.code == zk::Code::ok || list.code == zk::Code::no_node);
  if (!slots.empty()) neighbour_ = slots.back().name;
}

// The gate may go in the flight of the slot, but not if there is another slot, whose count may not be ours: the next
// contender would take ours for the right one. If the slot is refused, the gate goes nevertheless, and others may come
// before our next attempt, so only look() decides.
zk::Call Slots::send_with_slot(zk::Client& client) {
  neighbour_read_ = neighbour_.empty() ? nullptr : client.read(folder() + "/" + neighbour_);
  const zk::Call listed = list_of(path_)(client);
  if (alone_) gate_.start_release();
  return listed;
}

Outcome Slots::take_slot(const WaitPolicy& policy) {
  look_around_gate();
  std::string uuid = uuid_in(gate_.own().name());
  while (!slot_.make(fmt::format("{}{}-lease-", kBeforeUuid, uuid), data_)) uuid = make_uuid();
  if (slots_of(slot_.siblings().names).size() == 1) gate_.start_release();
  // The path is checked again: if two contenders make their nodes before they check, at least one sees the other's
  // node.
  check_path(slot_.beside());
  slot_.check_number();
  check_count();
  leftovers_.due = time_to_look_at_each(policy);
  zk::Watch watch;
  for (;;) {
    if (const auto outcome = look(policy)) return *outcome;
    if (const auto outcome = watch ? sleep(watch, policy) : std::nullopt) return *outcome;
    const bool watched = watch && !watch->fired;
    if (!watched) watch = std::make_shared<zk::WatchState>();
    if (!slot_.confirm(watched ? nullptr : watch)) return Outcome::removed;
  }
}

// Returns nothing if others have all slots.
std::optional<Outcome> Slots::look(const WaitPolicy& policy) {
  for (;;) {
    const std::vector<Contender> line = line_in(slot_.siblings().names);
    const auto ours = std::ranges::find(line, slot_.name(), &Contender::name);
    if (ours == line.end()) return Outcome::removed;
    if (ours - line.begin() < count_) return Outcome::held;
    if (BootClock::now() < leftovers_.due) break;
    leftovers_.due = kNever;
    without_leftovers(slot_.siblings().names);
  }
  // Only the contender in the gate may wait for a slot.
  if (policy.in_line) return alone_ ? std::optional(Outcome::disturbed) : std::nullopt;
  holder_ = find_holder();
  return Outcome::busy;
}

std::optional<Outcome> Slots::sleep(const zk::Watch& watch, const WaitPolicy& policy) {
  observer_.on_predecessor("");
  const auto look_around = [this]() -> const Holder& { return holder_ = find_holder(); };
  const Deadline awake = std::min(deadline_in(zk::longest_sleep_of(session_.timeout())), leftovers_.due);
  return wait_for_change(session_, {watch}, policy, observer_, look_around, awake);
}

void Slots::check_path_first() {
  if (path_list_) check_path(std::exchange(path_list_, nullptr));
}

// `listed` is the list of it, if that was sent.
void Slots::check_path(const zk::Call& listed) {
  const zk::Answer list = answer_to(session_, listed, list_of(path_));
  check_use(session_, path_, list, PathUse::slots, tried_);
  check_no_foreign(session_, path_, list.names, harmless_, tried_);
}

// Usually a slot is released before, so the reads are saved. The slots before ours do not become more.
Deadline Slots::time_to_look_at_each(const WaitPolicy& policy) const {
  if (!policy.in_line) return BootClock::now();
  return deadline_in(std::min(zk::heartbeat_of(session_.timeout()), left_until(policy.until) / 2));
}

// Returns the slots among `names`, without the leftovers that are known.
std::vector<Contender> Slots::line_in(const std::vector<std::string>& names) const {
  std::vector<Contender> slots = slots_of(names);
  std::erase_if(slots, [this](const Contender& slot) { return leftovers_.found.contains(slot.name); });
  return slots;
}

std::vector<std::string> Slots::without_leftovers(std::vector<std::string> names) {
  std::vector<std::string> fresh;
  for (const std::string& name : names) {
    if (!leftovers_.looked_at.contains(name)) fresh.push_back(name);
  }
  leftovers_.found.merge(leftovers_in(session_, folder(), slots_of(fresh)));
  leftovers_.looked_at.insert(fresh.begin(), fresh.end());
  std::erase_if(names, [this](const std::string& name) { return leftovers_.found.contains(name); });
  return names;
}

zk::Answer Slots::read_slot(const std::string& name) {
  const zk::Call early = name == neighbour_ ? std::exchange(neighbour_read_, nullptr) : nullptr;
  return answer_to(session_, early, [&](zk::Client& client) { return client.read(folder() + "/" + name); });
}

// The latest slot that contains a count stands for all before it, because its owner has checked too.
void Slots::check_count() {
  const std::vector<Contender> slots = slots_of(slot_.siblings().names);
  for (auto slot = slots.rbegin(); slot != slots.rend(); ++slot) {
    if (slot->name == slot_.name()) continue;
    const zk::Answer read = read_slot(slot->name);
    if (is_leftover(*slot, read.stat)) continue;
    const int64_t theirs = slots_in_(read.data);
    if (theirs == count_) return;
    if (theirs == 0) continue;
    throw Failure(ExitStatus::bad_data,
                  fmt::format("{}: it is in use with --slots {}, not {}; all who use it must give the same", tried_,
                              theirs, count_));
  }
}

// No other contender comes through the gate until the answer is here.
void Slots::open_gate() {
  while (!gate_.release(zk::beat_of(session_.timeout()))) {
    gate_.own().check_refusal(fmt::format("cannot leave the gate of {}", path_));
    session_.ready();
  }
  session_.check_alive();
}

Holder Slots::find_holder() {
  Holder holder;
  holder.path = path_;
  holder.slots = count_;
  const zk::Answer slots = glance(session_, [this](zk::Client& client) { return client.children(folder()); });
  const std::vector<Contender> line = line_in(slots.names);
  if (!line.empty()) read_holder(session_, folder() + "/" + line.front().name, holder);
  return holder;
}

bool Slots::release(Duration budget) {
  const Deadline until = deadline_in(budget);
  const bool free = slot_.remove(budget);
  return gate_.release(left_until(until)) && free;
}

void Slots::start_release() {
  slot_.start_removal();
  gate_.start_release();
}

void Slots::withdraw() {
  slot_.remove(withdrawal_budget(session_));
  slot_.forget();
  gate_.release(zk::beat_of(session_.timeout()));
  gate_.forget();
}

void Slots::forget() {
  slot_.forget();
  gate_.forget();
}

}  // namespace zklock::recipe
