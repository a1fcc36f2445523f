// SPDX-License-Identifier: Apache-2.0
#include "recipe/queue/consumer.h"

#include "zk/batch.h"

#include <algorithm>

namespace zklock::recipe {

using zk::Answer;
using zk::Code;
using zk::Step;

namespace {

constexpr size_t kFirstLook = 4;  // items that are looked at together, for each that is wanted
constexpr size_t kLook = 128;     // at most, after looks in vain
constexpr size_t kLooksAgain = 500;
constexpr size_t kCompany = 8;
constexpr size_t kCrowd = 32;
constexpr size_t kLargestCrowd = 1024;
constexpr size_t kPatience = 8;  // a crowd is an eighth smaller after each lot that was had at once

// What an answer says of a claim that was to be made.
enum class Word { ours, taken, unknown, expired };

Word word_of(const Answer& answer, const std::string& item) {
  switch (answer.code) {
    case Code::ok:
      return Word::ours;
    case Code::node_exists:
    case Code::no_node:  // done with since it was listed
      return Word::taken;
    case Code::unknown:
      return Word::unknown;
    case Code::expired:
      return Word::expired;
    case Code::not_empty:
    case Code::bad_version:
    case Code::childless:
    case Code::no_auth:
    case Code::unsupported:
    case Code::other:
      break;
  }
  throw zk::failure_of("cannot take " + item, answer);
}

}  // namespace

bool Consumer::begin(size_t most, Deadline until, const std::vector<Step>& with) {
  // That there is nothing is for this pass alone to say.
  if (!finder_.is_fresh() || finder_.synced()) look_afresh(false);
  for (;; look_afresh(true)) {
    const bool looks = !is_alone() || most == 1 || !free_.empty();
    const std::vector<std::string> paths = looks ? find_free(most, until) : finder_.next(most, until);
    if (session_.expired()) return false;
    if (!paths.empty()) {
      for (const std::string& path : paths) finder_.leave_out(path);
      session_.ready(until);
      lots_.push_back(send(paths, with));
      lots_.back().looked = looks;
      return true;
    }
    // Only a pass behind a sync tells that there is nothing.
    if (finder_.synced() || !lots_.empty()) return false;
  }
}

bool Consumer::begin_among(const std::vector<std::string>& paths, Deadline until, const std::vector<Step>& with) {
  const std::vector<std::string> free = those_free(paths, until);
  if (free.empty() || session_.expired()) return false;
  finder_.leave_out(free.front());
  session_.ready(until);
  lots_.push_back(send({free.front()}, with));
  lots_.back().looked = true;
  return true;
}

void Consumer::look_afresh(bool synced) {
  free_.clear();
  finder_.restart(synced);
  if (synced) return;
  in_work_.prune();
  looks_left_ = kLooksAgain;
  give_way();
}

// Somebody was faster; with an item that we had seen to be free, if we looked.
void Consumer::note_others(bool looked) {
  if (!looked) free_.clear();
  crowd_ = looked ? std::clamp(2 * crowd_, kCrowd, kLargestCrowd) : std::max(crowd_, kCompany);
  give_way();
}

void Consumer::give_way() {
  if (crowd_ >= kCrowd) finder_.put_off(random_() % crowd_);
}

std::vector<std::string> Consumer::find_free(size_t most, Deadline until) {
  if (crowd_ >= kCrowd) most = std::min(most, kLargestCrowd / crowd_);
  for (size_t look = kFirstLook * std::min(most, kLook); free_.empty(); look *= 2) {
    look = std::min(look, kLook);
    std::vector<std::string> next = finder_.next(look, until);
    if (next.empty()) return {};
    std::erase_if(next, [this](const std::string& path) { return !is_worth_a_look(path); });
    for (const std::string& path : those_free(next, until)) free_.push_back(path);
  }
  std::vector<std::string> paths;
  for (; paths.size() < most && !free_.empty(); free_.pop_front()) paths.push_back(free_.front());
  return paths;
}

// Not all at once at those of which we have not heard for a while, or after an outage we would do nothing else.
bool Consumer::is_worth_a_look(const std::string& path) {
  if (!remembers_) return true;
  if (in_work_.is_sure(path)) return false;
  return !in_work_.is_old(path) || (looks_left_ > 0 && looks_left_-- > 0);
}

std::vector<std::string> Consumer::those_free(const std::vector<std::string>& paths, Deadline until) {
  const std::vector<Answer> looks = zk::stat_all(session_, paths, until);
  std::vector<std::string> free;
  for (size_t i = 0; i < paths.size(); ++i) {
    const bool there = looks[i].code == Code::ok;
    if (there && !is_claimed(looks[i].stat)) free.push_back(paths[i]);
    there&& is_claimed(looks[i].stat) && remembers_ ? in_work_.note(paths[i]) : in_work_.forget(paths[i]);
  }
  return free;
}

Consumer::Lot Consumer::send(const std::vector<std::string>& paths, const std::vector<Step>& with) {
  Lot lot;
  lot.with_more = !with.empty();
  lot.together = lot.with_more || paths.size() > 1;
  lot.sent = session_.proof_now();
  if (!lot.together) {
    for (const std::string& path : paths) lot.attempts.push_back(attempt(path));
    return lot;
  }
  std::vector<Step> steps = with;
  for (const std::string& path : paths) {
    steps.push_back({Step::Kind::create, claim_of(path), note_, -1, zk::CreateMode::ephemeral});
  }
  const zk::Call all = session_.client().transact(steps);
  for (const std::string& path : paths) lot.attempts.push_back({path, all, session_.client().read(path)});
  return lot;
}

Consumer::Attempt Consumer::attempt(const std::string& path) {
  zk::Client& client = session_.client();
  const zk::Call claim = client.create(claim_of(path), note_, zk::CreateMode::ephemeral);
  return {path, claim, client.read(path)};
}

std::vector<Item> Consumer::collect(Deadline until) {
  Lot& lot = lots_.front();
  await_claims(lot, until);
  std::vector<Item> items = read_items(lot, until);
  for (const Attempt& attempt : lot.attempts) {
    if (!attempt.ours) finder_.forget(attempt.path);
  }
  lots_.pop_front();
  return items;
}

void Consumer::await_claims(Lot& lot, Deadline until) {
  bool taken = false;
  bool unknown = false;
  for (Attempt& attempt : lot.attempts) {
    if (attempt.ours) continue;
    switch (word_of(session_.await(attempt.claim, until), attempt.path)) {
      case Word::ours:
        attempt.ours = true;
        break;
      case Word::taken:
        taken = true;
        break;
      case Word::unknown:
        unknown = true;
        break;
      case Word::expired:
        return;
    }
  }
  if (unknown) find_out(lot, until);
  if (taken) {
    note_others(lot.looked);
  } else if (!unknown && !lot.attempts.empty()) {
    crowd_ -= (crowd_ + kPatience - 1) / kPatience;
  }
  // Before anything that follows them, for the sake of the order.
  if (unknown || (taken && lot.together && !lot.with_more)) try_again(lot, until);
}

// The answers were lost with the connection. Only a look behind a barrier tells whose claims there are.
void Consumer::find_out(Lot& lot, Deadline until) {
  std::vector<std::string> claims;
  for (const Attempt& attempt : lot.attempts) claims.push_back(claim_of(attempt.path));
  const std::vector<Answer> looks = zk::synced_stat_all(session_, claims, until);
  for (size_t i = 0; i < looks.size(); ++i) {
    lot.attempts[i].ours = looks[i].code == Code::ok && looks[i].stat.ephemeral_owner == session_.id();
  }
}

// What is not ours and still free, each by itself.
void Consumer::try_again(Lot& lot, Deadline until) {
  std::vector<std::string> missing;
  for (const Attempt& attempt : lot.attempts) {
    if (!attempt.ours) missing.push_back(attempt.path);
  }
  if (missing.empty()) return;
  // Alone it would be half of what was to be done; so from the start.
  if (lot.with_more) return look_afresh(false);
  const std::vector<std::string> free = those_free(missing, until);
  session_.ready(until);
  std::vector<Attempt> attempts;
  for (Attempt& old : lot.attempts) {
    const bool again = !old.ours && std::ranges::find(free, old.path) != free.end();
    if (old.ours || again) attempts.push_back(again ? attempt(old.path) : std::move(old));
    if (!old.ours && !again) finder_.forget(old.path);
  }
  lot.attempts = std::move(attempts);
  lot.together = false;
  lot.looked = true;
  await_claims(lot, until);
}

std::vector<Item> Consumer::read_items(Lot& lot, Deadline until) {
  std::vector<Item> items;
  for (Attempt& attempt : lot.attempts) {
    if (!attempt.ours) continue;
    Answer answer = session_.await(attempt.read, until);
    if (answer.code == Code::unknown) answer = session_.read(attempt.path, until);
    if (answer.code == Code::expired) return {};
    if (answer.code != Code::ok) throw zk::failure_of("cannot read " + attempt.path, answer);
    items.push_back(item_of(attempt, answer, lot.sent));
  }
  return items;
}

Item Consumer::item_of(const Attempt& attempt, const Answer& answer, Deadline sent) const {
  const zk::Stat& stat = answer.stat;
  return {attempt.path, answer.data, stat.created_ms, attempts_of(stat), session_.id(), stat.child_changed, sent};
}

std::vector<Item> Consumer::settle_lots(Deadline until) {
  std::vector<Item> items;
  for (; !lots_.empty(); lots_.pop_front()) {
    for (const Attempt& attempt : lots_.front().attempts) {
      const bool claimed = session_.settle(attempt.claim, until) && attempt.claim->answer.code == Code::ok;
      if (!claimed || !session_.settle(attempt.read, until) || attempt.read->answer.code != Code::ok) continue;
      items.push_back(item_of(attempt, attempt.read->answer, lots_.front().sent));
    }
  }
  return items;
}

size_t Consumer::underway() const {
  size_t items = 0;
  for (const Lot& lot : lots_) items += lot.attempts.size();
  return items;
}

void Consumer::forget_all() {
  lots_.clear();
  free_.clear();
  finder_.forget_all();
  finder_.restart(false);
  in_work_.clear();
}

}  // namespace zklock::recipe
