// SPDX-License-Identifier: Apache-2.0
#include "zk/server_names.h"

#include <algorithm>
#include <random>
#include <utility>

#include <fmt/format.h>

namespace zklock::zk {

namespace {

using namespace std::chrono_literals;

// How long there is no connection before the first lookup: this part of the session timeout, and at most this long.
// Usually another server has answered by then.
constexpr int kFirstParts = 24;
constexpr Duration kLongestWait = 500ms;
// The least time between two lookups, then this part of the time without a connection: many clients share one resolver.
constexpr Duration kBetweenLookups = 2s;
constexpr int kLookupParts = 10;
// How long other names may take, once there is an address.
constexpr Duration kForOthers = 1s;

}  // namespace

const std::vector<Server>& ServerNames::resolve(host::Loop& loop, Deadline until) {
  lookups_.clear();
  next_ = kNever;
  for (const std::string& name : names()) known_[name].error = "no answer in time";
  start_lookups();
  const host::Attached attached(loop, *this);
  Deadline enough = kNever;
  while (!lookups_.empty() && left_until(std::min(until, enough)) > Duration::zero()) {
    if (enough == kNever && !listed().empty()) enough = deadline_in(kForOthers);
    loop.turn(std::min(until, enough));
    take();
  }
  addresses_ = listed();
  if (!addresses_.empty()) return addresses_;
  const std::string name = names().back();
  throw Failure(ExitStatus::unavailable,
                fmt::format("cannot resolve {}: {} (server list from {}); look at the name and the resolver", name,
                            known_.at(name).error, list_.origin));
}

std::vector<std::string> ServerNames::names() const {
  std::vector<std::string> names;
  for (const Server& server : list_.servers) {
    if (!host::is_numeric_address(server.host)) names.push_back(server.host);
  }
  return names;
}

void ServerNames::start_lookups() {
  for (const std::string& name : names()) lookups_.try_emplace(name, name);
}

// Takes the answers that have come. Returns false if none has.
bool ServerNames::take() {
  return std::erase_if(lookups_, [this](const auto& one) {
           const auto& [name, lookup] = one;
           if (!lookup.done()) return false;
           const host::Resolved& found = lookup.result();
           host::Resolved& known = known_[name];
           known.error = found.error;
           if (!found.addresses.empty()) known.addresses = found.addresses;
           return true;
         }) > 0;
}

// Returns the addresses, without duplicates, in random order.
std::vector<Server> ServerNames::listed() const {
  std::vector<Server> all;
  for (const auto& [host, port, name] : list_.servers) {
    const auto known = known_.find(host);
    if (known == known_.end()) all.push_back({host, port});
    if (known == known_.end()) continue;
    for (const std::string& address : known->second.addresses) all.push_back({address, port, certified_ ? host : ""});
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::shuffle(all.begin(), all.end(), std::random_device());
  return all;
}

void ServerNames::follow(const Link& link, std::function<void()> moved) {
  link_ = &link;
  moved_ = std::move(moved);
}

void ServerNames::unfollow() {
  link_ = nullptr;
  lookups_.clear();
}

void ServerNames::arm(host::PollSet& set) {
  for (auto& [name, lookup] : lookups_) lookup.arm(set);
  if (link_ && link_->unconnected_since() != kNever && !names().empty()) set.wake_at(next());
}

// Returns when the next lookup begins. Call it only while there is no connection.
Deadline ServerNames::next() const {
  if (next_ != kNever) return next_;
  return link_->unconnected_since() + std::min<Duration>(kLongestWait, link_->client().session_timeout() / kFirstParts);
}

void ServerNames::look_again(Deadline since) {
  try {
    start_lookups();
  } catch (const Failure&) {  // no process can be started now
  }
  next_ = deadline_in(std::max<Duration>(kBetweenLookups, (BootClock::now() - since) / kLookupParts));
}

void ServerNames::record(const host::PollSet& set) {
  for (auto& [name, lookup] : lookups_) lookup.record(set);
}

void ServerNames::decide() {
  for (auto at = lookups_.begin(); at != lookups_.end();) {
    const auto one = at++;
    try {
      one->second.decide();
    } catch (const Failure& failure) {
      if (!link_ || failure.signal() != 0) throw;
      lookups_.erase(one);
    }
  }
  if (!link_) return;
  const Deadline since = link_->unconnected_since();
  if (since == kNever) {
    lookups_.clear();
    next_ = kNever;
    used_ = link_->client().server();
    return;
  }
  take_answers();
  if (!names().empty() && BootClock::now() >= next()) look_again(since);
}

void ServerNames::take_answers() {
  if (!take()) return;
  std::vector<Server> now = listed();
  const auto is_used = [&](const Server& server) { return to_string(server) == used_; };
  if (std::ranges::none_of(now, is_used)) std::ranges::copy_if(addresses_, std::back_inserter(now), is_used);
  if (std::ranges::is_permutation(now, addresses_)) return;
  addresses_ = std::move(now);
  moved_();
}

}  // namespace zklock::zk
