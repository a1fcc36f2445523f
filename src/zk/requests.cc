// SPDX-License-Identifier: Apache-2.0
#include "zk/requests.h"

#include "base/failure.h"
#include "zk/path.h"

#include <algorithm>
#include <array>
#include <climits>
#include <string_view>

#include <fmt/format.h>

namespace zklock::zk {

namespace {

// The server's jute.maxbuffer is 1 MiB less one byte for the whole request. If a request is larger, the server drops
// the connection.
constexpr size_t kLargestRequest = 1048575;
constexpr size_t kRequestOverhead = 512;  // headers, ACL, flags

std::string_view verb_of(Op op) {
  switch (op) {
    case Op::create:
    case Op::create_with_stat: return "create a node below";
    case Op::remove: return "delete a node below";
    case Op::exists: return "look at";
    case Op::read: return "read";
    case Op::write: return "write";
    case Op::children: return "list";
    case Op::sync: return "sync";
    case Op::check: return "check";
    case Op::transaction: return "do a transaction on";
  }
  return "";
}

std::string_view reason_of(const Stuck& stuck) {
  if (stuck.losses.end == ConnectionEnd::closed) {
    return "the server may not know that request, or its jute.maxbuffer may be smaller";
  }
  if (stuck.losses.end == ConnectionEnd::nonsense) return "what it answers makes no sense";
  return "the server is too slow, or does not answer that request";
}

size_t room_for(const std::string& path) {
  return kLargestRequest - std::min(path.size() + kRequestOverhead, kLargestRequest);
}

// For each Feature: after how many requests in a row the connection was lost; kRefused if a server has refused one.
constexpr int kRefused = INT_MAX;
std::array<int, 2> losses_of_features;

}  // namespace

std::string title_of(const Request& request) {
  const bool other_each_time = request.op == Op::create || request.op == Op::create_with_stat ||
                               request.op == Op::remove || request.op == Op::transaction;
  const std::string parent = parent_of(request.path);
  return fmt::format("{} {}", verb_of(request.op), !other_each_time ? request.path : parent.empty() ? "/" : parent);
}

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
  const std::string times = stuck.losses.number == 1 ? "once" : fmt::format("{} times", stuck.losses.number);
  const std::string lost = stuck.losses.number == 0 ? "" : fmt::format("; the connection was lost {} over it", times);
  return fmt::format("ZooKeeper at {} takes the session, but has not answered the request to {} ({} bytes) in {}{}: {}",
                     servers, title_of(stuck.request), stuck.request.bytes,
                     format_duration(BootClock::now() - stuck.losses.since), lost, reason_of(stuck));
}

void Losses::note_loss(const Request& request, Deadline turn, ConnectionEnd end) {
  std::erase_if(losses_, [&](const auto& old) { return turn - old.second.last >= patience_; });
  RequestLosses& losses = losses_.try_emplace(title_of(request), RequestLosses{turn}).first->second;
  losses.last = BootClock::now();
  ++losses.number;
  losses.end = end;
}

void Losses::note_answer(const Request& request) {
  if (!losses_.empty()) losses_.erase(title_of(request));
}

RequestLosses Losses::of(const Request& request, Deadline turn) const {
  if (losses_.empty()) return {turn};
  const auto found = losses_.find(title_of(request));
  return found != losses_.end() && turn - found->second.last < patience_ ? found->second : RequestLosses{turn};
}

void Outstanding::note_sent(Request request, Deadline before) {
  last_sent_ = request.sent = before;
  requests_.push_back(std::move(request));
}

void Outstanding::note_answer() {
  losses_.note_answer(requests_.front());
  last_answered_sent_ = requests_.front().sent;
  drop_oldest();
}

void Outstanding::note_loss(bool to_blame, ConnectionEnd end) {
  if (to_blame) losses_.note_loss(requests_.front(), turn_since(), end);
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
  const Deadline at = losses_.of(requests_.front(), turn).since + patience_;
  return turn < at ? std::max(at, progressed + patience_) : at;
}

std::optional<Stuck> Outstanding::stuck(Deadline progressed) const {
  if (BootClock::now() < stuck_at(progressed)) return std::nullopt;
  const Request& oldest = requests_.front();
  return Stuck{oldest, losses_.of(oldest, turn_since())};
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
  if (watches.empty()) fire(watch.number, false);
}

void Watches::fire(uintptr_t number, bool gone) {
  const auto found = waiters_.find(number);
  if (found == waiters_.end()) return;
  for (const auto& waiting : found->second.watches) {
    const Watch watch = waiting.lock();
    if (watch) *watch = {true, gone};
  }
  numbers_.erase(found->second.key);
  waiters_.erase(found);
}

// To ask for a Stat separately costs little, but a node that stays for ever is worse. So containers get a second try.
bool is_supported(Feature feature) {
  return losses_of_features[static_cast<size_t>(feature)] < (feature == Feature::container ? 2 : 1);
}

void note_support(Feature feature, Support support) {
  int& losses = losses_of_features[static_cast<size_t>(feature)];
  if (losses == kRefused) return;
  losses = support == Support::doubtful ? losses + 1 : 0;
  if (support == Support::refused) losses = kRefused;
}

void forget_support() {
  losses_of_features = {};
}

}  // namespace zklock::zk
