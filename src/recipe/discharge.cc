// SPDX-License-Identifier: Apache-2.0
#include "recipe/discharge.h"

#include "zk/batch.h"

#include <fmt/format.h>

namespace zklock::recipe {

using zk::Answer;
using zk::Code;
using zk::Step;

namespace {

constexpr size_t kMostOutstanding = 4;  // transactions

std::vector<std::string> paths_of(const std::vector<Item>& items) {
  std::vector<std::string> paths;
  for (const Item& item : items) paths.push_back(item.path);
  return paths;
}

std::vector<std::string> claims_of(const std::vector<Item>& items) {
  std::vector<std::string> claims;
  for (const Item& item : items) claims.push_back(claim_of(item.path));
  return claims;
}

}  // namespace

void Discharge::remove(const std::vector<Item>& items, Deadline until) {
  if (items.empty()) return;
  while (removals_.size() >= kMostOutstanding) take_oldest(until);
  session_.ready(until);
  send_removal(items);
}

void Discharge::send_removal(const std::vector<Item>& items) {
  const zk::Call call = transact_removal(items);
  removals_.push_back({items, call});
}

// In a session other than the one of the claims it would hit those of others.
zk::Call Discharge::transact_removal(const std::vector<Item>& items) {
  std::vector<Step> steps;
  for (const Item& item : items) {
    if (item.owner != session_.id()) throw Failure(ExitStatus::internal, "a claim of another session");
    steps.push_back({Step::Kind::remove, claim_of(item.path)});
    steps.push_back({Step::Kind::remove, item.path});
  }
  return session_.client().transact(steps);
}

void Discharge::finish(Deadline until) {
  while (!removals_.empty()) take_oldest(until);
}

void Discharge::take_oldest(Deadline until) {
  const Answer answer = session_.await(removals_.front().call, until);
  const std::vector<Item> items = removals_.front().items;
  switch (answer.code) {
    case Code::ok:
      drop(items);
      break;
    case Code::unknown:
      find_out(items, until);
      break;
    case Code::no_node:
      if (items.size() > 1) {
        remove_each(items, until);
      } else {
        find_out(items, until);
      }
      break;
    case Code::expired:
      lose(items);
      break;
    case Code::node_exists:
    case Code::not_empty:
    case Code::bad_version:
    case Code::childless:
    case Code::no_auth:
    case Code::unsupported:
    case Code::other:
      throw zk::failure_of("cannot remove " + items.front().path, answer);
  }
  removals_.pop_front();
}

// No item: done. A claim that is still ours: not done yet. Else it is somebody else's by now.
void Discharge::find_out(const std::vector<Item>& items, Deadline until) {
  const std::vector<Answer> claims = zk::synced_stat_all(session_, claims_of(items), until);
  const std::vector<Answer> looks = zk::stat_all(session_, paths_of(items), until);
  std::vector<Item> ours;
  for (size_t i = 0; i < items.size(); ++i) {
    if (looks[i].code == Code::no_node) {
      drop({items[i]});
    } else if (claims[i].code == Code::ok && claims[i].stat.ephemeral_owner == items[i].owner) {
      ours.push_back(items[i]);
    } else {
      lose({items[i]});
    }
  }
  remove_each(ours, until);
}

void Discharge::remove_each(const std::vector<Item>& items, Deadline until) {
  for (const Item& item : items) {
    session_.ready(until);
    send_removal({item});
  }
}

std::vector<Item> Discharge::confirm(std::vector<Item> items, Deadline until) {
  for (;;) {
    if (items.empty()) return items;
    session_.ready(until);
    const Deadline sent = BootClock::now();
    const Answer answer = session_.await(session_.client().check(claims_of(items)), until);
    if (answer.code == Code::expired) return {};
    if (answer.code == Code::unknown) continue;
    for (Item& item : items) item.proved = sent;
    if (answer.code == Code::ok) return items;
    if (answer.code != Code::no_node) throw zk::failure_of("cannot keep " + items.front().path, answer);
    const std::vector<Answer> claims = zk::synced_stat_all(session_, claims_of(items), until);
    std::vector<Item> ours;
    for (size_t i = 0; i < items.size(); ++i) {
      const bool kept = claims[i].code == Code::ok && claims[i].stat.ephemeral_owner == items[i].owner;
      if (kept) ours.push_back(items[i]);
      if (!kept) consumer_.forget(items[i]);
    }
    items = std::move(ours);
  }
}

void Discharge::send(const std::vector<Item>& items, Deadline until) {
  if (items.empty() || !session_.settle_connection(until) || items.front().owner != session_.id()) return;
  send_removal(items);
}

void Discharge::settle(Deadline until) {
  for (; !removals_.empty(); removals_.pop_front()) {
    Removal& removal = removals_.front();
    bool removed = session_.settle(removal.call, until) && removal.call->answer.code == Code::ok;
    // Not done, or not known to be: once more is no harm, in the same session.
    while (!removed && left_until(until) > Duration::zero() && session_.settle_connection(until)) {
      if (removal.items.front().owner != session_.id()) break;
      removal.call = transact_removal(removal.items);
      if (!session_.settle(removal.call, until)) break;
      const Code code = removal.call->answer.code;
      removed = code == Code::ok || code == Code::no_node;
      if (code != Code::unknown) break;
    }
    removed ? drop(removal.items) : lose(removal.items);
  }
}

void Discharge::give_back(const std::vector<Item>& items, Deadline until) {
  std::deque<zk::Call> calls;
  for (const Item& item : items) {
    if (!session_.settle_connection(until) || item.owner != session_.id()) return;
    // The write is what does not let it count.
    calls.push_back(session_.client().transact(
        {{Step::Kind::remove, claim_of(item.path)}, {Step::Kind::write, item.path, item.data}}));
    if (calls.size() < kMostOutstanding) continue;
    session_.settle(calls.front(), until);
    calls.pop_front();
  }
  for (const zk::Call& call : calls) session_.settle(call, until);
  for (const Item& item : items) consumer_.forget(item);
}

void Discharge::look_again(Deadline until) {
  const std::vector<Answer> looks = zk::synced_stat_all(session_, paths_of(lost_), until);
  std::vector<Item> left;
  for (size_t i = 0; i < looks.size(); ++i) {
    if (looks[i].code != Code::no_node) left.push_back(lost_[i]);
  }
  lost_ = std::move(left);
}

void Discharge::drop(const std::vector<Item>& items) {
  for (const Item& item : items) consumer_.forget(item);
}

void Discharge::lose(const std::vector<Item>& items) {
  drop(items);
  lost_.insert(lost_.end(), items.begin(), items.end());
}

}  // namespace zklock::recipe
