// SPDX-License-Identifier: Apache-2.0
#include "recipe/queue/ack.h"

#include "zk/batch.h"
#include "zk/path.h"

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
  while (partings_.size() >= kMostOutstanding) take_oldest(until);
  session_.ready(until);
  begin({Fate::done, items, ""});
}

void Discharge::discharge(Fate fate, const Item& item, const std::string& why, Deadline until) {
  while (partings_.size() >= kMostOutstanding) take_oldest(until);
  session_.ready(until);
  if (session_.expired()) return doubt({fate, {}, ""}, {item});
  begin({fate, {item}, why});
}

void Discharge::begin(Parting parting) {
  parting.call = transact(parting);
  partings_.push_back(std::move(parting));
}

// In a session other than the one of the claims it would hit those of others.
zk::Call Discharge::transact(const Parting& parting) {
  std::vector<Step> steps;
  for (const Item& item : parting.items) {
    if (item.owner != session_.id()) throw Failure(ExitStatus::internal, "a claim of another session");
    put_steps(parting, item, steps);
  }
  return session_.client().transact(steps);
}

void Discharge::put_steps(const Parting& parting, const Item& item, std::vector<Step>& steps) const {
  steps.push_back({Step::Kind::remove, claim_of(item.path)});
  switch (parting.fate) {
    case Fate::done:
      steps.push_back({Step::Kind::remove, item.path});
      break;
    case Fate::failed:
      break;
    case Fate::untouched:
      // The write is what does not let it count.
      steps.push_back({Step::Kind::write, item.path, item.data});
      break;
    case Fate::dead: {
      const std::string dead = layout_.dead_of(item.path);
      steps.push_back({Step::Kind::remove, item.path});
      steps.push_back({Step::Kind::create, dead, item.data});
      steps.push_back({Step::Kind::create, why_of(dead), parting.why});
      break;
    }
  }
}

void Discharge::take_answers(Deadline until) {
  while (!partings_.empty() && partings_.front().call->done) take_oldest(until);
}

void Discharge::finish(Deadline until) {
  while (!partings_.empty()) take_oldest(until);
}

void Discharge::take_oldest(Deadline until) {
  const Answer answer = session_.await(partings_.front().call, until);
  // Kept until it is settled, for whoever cleans up if that is interrupted.
  const Parting parting = partings_.front();
  switch (answer.code) {
    case Code::ok:
      drop(parting.items);
      break;
    case Code::no_node:
      if (parting.items.size() > 1) {
        begin_each(parting, parting.items, until);
        break;
      }
      // Nobody of its segment may have been given up on so far.
      if (parting.fate == Fate::dead) {
        session_.make_node(zk::parent_of(layout_.dead_of(parting.items.front().path)), zk::CreateMode::persistent,
                           until);
      }
      [[fallthrough]];
    case Code::unknown:
    case Code::node_exists:
      find_out(parting, until);
      break;
    case Code::expired:
      doubt(parting, parting.items);
      break;
    case Code::not_empty:
    case Code::bad_version:
    case Code::childless:
    case Code::no_auth:
    case Code::unsupported:
    case Code::other:
      throw zk::failure_of("cannot give up the claim on " + parting.items.front().path, answer);
  }
  partings_.pop_front();
}

// A claim that is still ours: not done yet. No item: removed, or among the dead, by us, as the look at the claims found
// the session alive. Else it is somebody else's by now.
void Discharge::find_out(const Parting& parting, Deadline until) {
  const std::vector<Answer> claims = zk::synced_stat_all(session_, claims_of(parting.items), until);
  const std::vector<Answer> looks = zk::stat_all(session_, paths_of(parting.items), until);
  std::vector<Item> ours;
  for (size_t i = 0; i < parting.items.size(); ++i) {
    const Item& item = parting.items[i];
    if (claims[i].code == Code::ok && claims[i].stat.ephemeral_owner == item.owner) {
      ours.push_back(item);
    } else if (looks[i].code == Code::no_node && !session_.expired()) {
      drop({item});
    } else {
      doubt(parting, {item});
    }
  }
  // In a session that lives on there is no doubt.
  look_again(until);
  begin_each(parting, ours, until);
}

void Discharge::begin_each(const Parting& parting, const std::vector<Item>& items, Deadline until) {
  for (const Item& item : items) {
    session_.ready(until);
    if (session_.expired()) {
      doubt(parting, {item});
    } else {
      begin({parting.fate, {item}, parting.why});
    }
  }
}

std::vector<Item> Discharge::confirm(std::vector<Item> items, Deadline until) {
  for (;;) {
    if (items.empty()) return items;
    session_.ready(until);
    const Deadline sent = session_.proof_now();
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
  if (items.empty()) return;
  const bool ours = session_.settle_connection(until) && items.front().owner == session_.id();
  ours ? begin({Fate::done, items, ""}) : doubt({Fate::done, items, ""}, items);
}

void Discharge::settle(Deadline until) {
  while (!partings_.empty()) {
    Parting parting = std::move(partings_.front());
    partings_.pop_front();
    if (settle_one(parting, until)) {
      drop(parting.items);
    } else if (parting.items.size() > 1 && parting.call->answer.code == Code::no_node) {
      // One of them is missing; the others shall go all the same.
      for (const Item& item : parting.items) send({item}, until);
    } else {
      doubt(parting, parting.items);
    }
  }
}

bool Discharge::settle_one(Parting& parting, Deadline until) {
  for (bool again = false;; again = true) {
    if (!session_.settle(parting.call, until)) return false;
    const Code code = parting.call->answer.code;
    if (code == Code::ok) return true;
    // Done before its answer was lost; but a dead one's segment may be missing.
    if (code == Code::no_node) return again && parting.fate != Fate::dead;
    // Not known to be done: once more is no harm, in the same session. But one that has gone back may be under
    // another's claim already.
    const bool removes = parting.fate == Fate::done || parting.fate == Fate::dead;
    if (code != Code::unknown || !removes || !session_.settle_connection(until)) return false;
    if (parting.items.front().owner != session_.id()) return false;
    parting.call = transact(parting);
  }
}

void Discharge::give_back(const std::vector<Item>& items, Deadline until) {
  std::deque<zk::Call> calls;
  for (const Item& item : items) {
    if (!session_.settle_connection(until) || item.owner != session_.id()) return;
    calls.push_back(transact({Fate::untouched, {item}, ""}));
    if (calls.size() < kMostOutstanding) continue;
    session_.settle(calls.front(), until);
    calls.pop_front();
  }
  for (const zk::Call& call : calls) session_.settle(call, until);
  for (const Item& item : items) consumer_.forget(item);
}

void Discharge::look_again(Deadline until) {
  const std::vector<Answer> looks = zk::synced_stat_all(session_, paths_of(doubtful_), until);
  std::vector<Item> gone;
  for (size_t i = 0; i < looks.size(); ++i) {
    (looks[i].code == Code::ok ? lost_ : gone).push_back(doubtful_[i]);
  }
  doubtful_ = std::move(gone);
}

void Discharge::drop(const std::vector<Item>& items) {
  for (const Item& item : items) consumer_.forget(item);
}

// One that was to go back has gone back.
void Discharge::doubt(const Parting& parting, const std::vector<Item>& items) {
  drop(items);
  if (parting.fate != Fate::done && parting.fate != Fate::dead) return;
  doubtful_.insert(doubtful_.end(), items.begin(), items.end());
}

}  // namespace zklock::recipe
