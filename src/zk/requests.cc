// SPDX-License-Identifier: Apache-2.0
#include "zk/requests.h"

#include "base/failure.h"
#include "zk/path.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

namespace zklock::zk {

namespace {

// The server's jute.maxbuffer is 1 MiB less one byte for the whole request. If a request is larger, the server drops
// the connection.
constexpr size_t kLargestRequest = 1048575;
constexpr size_t kRequestOverhead = 512;  // headers, ACL, flags

std::string_view verb_of(Op op) {
  constexpr std::array<std::string_view, 10> kVerbs{"create a node below",
                                                    "create a node below",
                                                    "delete a node below",
                                                    "look at",
                                                    "read",
                                                    "write",
                                                    "list",
                                                    "sync",
                                                    "check",
                                                    "do a transaction on"};
  static_assert(kVerbs.size() == static_cast<size_t>(Op::transaction) + 1);
  return kVerbs[static_cast<size_t>(op)];
}

std::string_view reason_of(const Stuck& stuck) {
  if (stuck.last == ConnectionEnd::closed) {
    return "the server may not know that request, or its jute.maxbuffer may be smaller";
  }
  if (stuck.last == ConnectionEnd::nonsense) return "what it answers makes no sense";
  return "the server is too slow, or does not answer that request";
}

}  // namespace

std::string title_of(const Request& request) {
  const bool other_each_time = request.op == Op::create || request.op == Op::create_with_stat ||
                               request.op == Op::remove || request.op == Op::transaction;
  const std::string parent = parent_of(request.path);
  return fmt::format("{} {}", verb_of(request.op), !other_each_time ? request.path : parent.empty() ? "/" : parent);
}

namespace {

size_t room_for(const std::string& path) {
  return kLargestRequest - std::min(path.size() + kRequestOverhead, kLargestRequest);
}

}  // namespace

size_t largest_data(const std::string& chroot, const std::string& path) {
  const size_t room = room_for(path);
  return room - std::min(chroot.size() + path.size() + kStepOverhead, room);
}

void check_request_size(const std::string& path, size_t bytes) {
  const size_t most = room_for(path);
  if (bytes <= most) return;
  throw Failure(ExitStatus::bad_data,
                fmt::format("{} bytes are too many for {}: ZooKeeper takes at most {}", bytes, path, most));
}

std::string describe(const Stuck& stuck, const std::string& servers) {
  const std::string times = stuck.losses == 1 ? "once" : fmt::format("{} times", stuck.losses);
  const std::string lost = stuck.losses == 0 ? "" : fmt::format("; the connection was lost {} over it", times);
  return fmt::format("ZooKeeper at {} takes the session, but has not answered the request to {} ({} bytes) in {}{}: {}",
                     servers, title_of(stuck.request), stuck.request.bytes, format_duration(stuck.waited), lost,
                     reason_of(stuck));
}

void Losses::note_loss(const Request& request, Deadline turn, ConnectionEnd end) {
  std::erase_if(losses_, [&](const auto& old) { return turn - old.second.last >= patience_; });
  const auto [found, is_new] = losses_.try_emplace(title_of(request));
  LossesOfOne& losses = found->second;
  if (is_new) losses.since = turn;
  losses.last = BootClock::now();
  ++losses.number;
  losses.end = end;
}

void Losses::note_answer(const Request& request) {
  if (!losses_.empty()) losses_.erase(title_of(request));
}

Deadline Losses::since(const Request& request, Deadline turn) const {
  const LossesOfOne* losses = losses_of(request, turn);
  return losses ? losses->since : turn;
}

Stuck Losses::stuck(const Request& request, Deadline turn) const {
  const LossesOfOne* losses = losses_of(request, turn);
  const Duration waited = BootClock::now() - since(request, turn);
  return losses ? Stuck{request, waited, losses->number, losses->end} : Stuck{request, waited};
}

const Losses::LossesOfOne* Losses::losses_of(const Request& request, Deadline turn) const {
  if (losses_.empty()) return nullptr;
  const auto found = losses_.find(title_of(request));
  return found != losses_.end() && turn - found->second.last < patience_ ? &found->second : nullptr;
}

void Outstanding::note_sent(Request request, Deadline before) {
  last_sent_ = before;
  requests_.push_back({last_sent_, std::move(request)});
}

void Outstanding::note_answer() {
  losses_.note_answer(requests_.front().request);
  last_answered_sent_ = requests_.front().sent;
  drop_oldest();
}

void Outstanding::note_loss(bool to_blame, ConnectionEnd end) {
  if (to_blame) losses_.note_loss(requests_.front().request, turn_since(), end);
  drop_oldest();
}

void Outstanding::drop_oldest() {
  requests_.pop_front();
  last_answer_ = BootClock::now();
}

Deadline Outstanding::turn_since() const {
  return requests_.empty() ? kNever : std::max(requests_.front().sent, last_answer_);
}

Deadline Outstanding::silent_since(Deadline progressed) const {
  return std::max(turn_since(), progressed);
}

// An answer that is arriving may take longer, if its request's turn came in time.
Deadline Outstanding::stuck_at(Deadline progressed) const {
  if (requests_.empty()) return kNever;
  const Deadline turn = turn_since();
  const Deadline at = losses_.since(requests_.front().request, turn) + patience_;
  return turn < at ? std::max(at, progressed + patience_) : at;
}

std::optional<Stuck> Outstanding::stuck(Deadline progressed) const {
  if (BootClock::now() < stuck_at(progressed)) return std::nullopt;
  return losses_.stuck(requests_.front().request, turn_since());
}

NumberedWatch Watches::keep(Op op, const std::string& path, const Watch& watch) {
  if (!watch) return {};
  const auto [found, is_new] = numbers_.try_emplace({op, path}, next_);
  if (is_new) ++next_;
  Waiters& waiters = waiters_[found->second];
  waiters.key = found->first;
  std::erase_if(waiters.watches, [](const auto& old) { return old.expired(); });
  waiters.watches.push_back(watch);
  return {watch, found->second};
}

void Watches::drop(const NumberedWatch& watch) {
  const auto found = waiters_.find(watch.number);
  if (found == waiters_.end()) return;
  auto& [key, watches] = found->second;
  std::erase_if(watches, [&](const auto& old) { return old.expired() || old.lock() == watch.watch; });
  if (watches.empty()) fire(watch.number);
}

void Watches::fire(uintptr_t number) {
  const auto found = waiters_.find(number);
  if (found == waiters_.end()) return;
  for (const auto& waiting : found->second.watches) {
    if (const Watch watch = waiting.lock()) watch->fired = true;
  }
  numbers_.erase(found->second.key);
  waiters_.erase(found);
}

namespace {

struct Experience {
  int losses = 0;  // in a row
  bool refused = false;
};

std::array<Experience, 2> experiences;

Experience& experience_of(Feature feature) {
  return experiences[static_cast<size_t>(feature)];
}

}  // namespace

// To ask for a Stat separately costs little, but a node that stays for ever is worse. So containers get a second try.
bool is_supported(Feature feature) {
  const Experience& experience = experience_of(feature);
  return !experience.refused && experience.losses < (feature == Feature::container ? 2 : 1);
}

void note_support(Feature feature, Support support) {
  Experience& experience = experience_of(feature);
  experience.refused = experience.refused || support == Support::refused;
  experience.losses = support == Support::doubtful ? experience.losses + 1 : 0;
}

void forget_support() {
  experiences = {};
}

}  // namespace zklock::zk
