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

}  // namespace

const std::vector<Server>& ServerNames::resolve(host::Loop& loop, Deadline until) {
  lookup_.reset();
  next_ = kNever;
  if (const std::vector<std::string> wanted = names(); !wanted.empty()) {
    host::Lookup lookup(wanted);
    const host::Attached attached(loop, lookup);
    while (!lookup.done() && left_until(until) > Duration::zero()) loop.turn(until);
    take(lookup.done() ? lookup.results() : std::vector<host::Resolved>(wanted.size(), {{}, "no answer in time"}));
  }
  addresses_ = listed();
  if (addresses_.empty()) fail();
  return addresses_;
}

std::vector<std::string> ServerNames::names() const {
  std::vector<std::string> names;
  for (const Server& server : list_.servers) {
    if (!host::is_numeric_address(server.host)) names.push_back(server.host);
  }
  return names;
}

void ServerNames::take(const std::vector<host::Resolved>& results) {
  const std::vector<std::string> asked = names();
  for (size_t i = 0; i < results.size(); ++i) {
    host::Resolved& known = known_[asked[i]];
    known.error = results[i].error;
    if (!results[i].addresses.empty()) known.addresses = results[i].addresses;
  }
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

void ServerNames::fail() const {
  const std::string name = names().back();
  throw Failure(ExitStatus::unavailable,
                fmt::format("cannot resolve {}: {} (server list from {}); look at the name and the resolver", name,
                            known_.at(name).error, list_.origin));
}

void ServerNames::follow(const Link& link, const Client& client, std::function<void()> moved) {
  link_ = &link;
  client_ = &client;
  moved_ = std::move(moved);
}

void ServerNames::unfollow() {
  link_ = nullptr;
  lookup_.reset();
}

void ServerNames::arm(host::PollSet& set) {
  if (lookup_) return lookup_->arm(set);
  if (link_ && link_->unconnected_since() != kNever && !names().empty()) set.wake_at(next());
}

// Returns when the next lookup begins. Call it only while there is no connection.
Deadline ServerNames::next() const {
  if (next_ != kNever) return next_;
  return link_->unconnected_since() + std::min<Duration>(kLongestWait, client_->session_timeout() / kFirstParts);
}

void ServerNames::look_again(Deadline since) {
  try {
    lookup_ = std::make_unique<host::Lookup>(names());
  } catch (const Failure&) {  // no process can be started now
  }
  next_ = deadline_in(std::max<Duration>(kBetweenLookups, (BootClock::now() - since) / kLookupParts));
}

void ServerNames::record(const host::PollSet& set) {
  if (lookup_) lookup_->record(set);
}

void ServerNames::decide() {
  if (!link_) return;
  const Deadline since = link_->unconnected_since();
  if (since == kNever) {
    lookup_.reset();
    next_ = kNever;
    used_ = client_->server();
  } else if (lookup_) {
    take_answer();
  } else if (!names().empty() && BootClock::now() >= next()) {
    look_again(since);
  }
}

void ServerNames::take_answer() {
  try {
    lookup_->decide();
  } catch (const Failure&) {
    return lookup_.reset();
  }
  if (!lookup_->done()) return;
  take(lookup_->results());
  lookup_.reset();
  std::vector<Server> now = listed();
  const auto is_used = [&](const Server& server) { return to_string(server) == used_; };
  if (std::ranges::none_of(now, is_used)) std::ranges::copy_if(addresses_, std::back_inserter(now), is_used);
  if (std::ranges::is_permutation(now, addresses_)) return;
  addresses_ = std::move(now);
  moved_();
}

}  // namespace zklock::zk
