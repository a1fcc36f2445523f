// SPDX-License-Identifier: Apache-2.0
#include "recipe/queue/consumer.h"

#include "base/contains.h"
#include "host/trace.h"
#include "recipe/queue/nodes.h"
#include "zk/path.h"

#include <algorithm>
#include <utility>

namespace zklock::recipe {

using zk::Answer;
using zk::Code;
using zk::Step;

namespace {

constexpr size_t kFirstLook = 4;  // items looked at together, for each that is wanted
constexpr size_t kLook = 128;     // the most, after looks that found none
constexpr size_t kLooksAgain = 500;
constexpr size_t kCompany = 8;
constexpr size_t kCrowd = 32;
constexpr size_t kLargestCrowd = 1024;
constexpr size_t kMostExamined = 100'000;
constexpr size_t kPatience = 8;  // a crowd shrinks by an eighth with each batch that was claimed at the first try

}  // namespace

bool Consumer::begin(size_t most, const std::vector<Step>& with) {
  const bool waits = batches_.empty();
  // The looks behind a claim come first, to keep the order.
  if (!waits && !batches_.back().looks.empty()) return false;
  if (!waits) finder_.ask_ahead(most, is_alone());
  // Only a pass of this call can show that there is nothing.
  if (!finder_.is_primed() && (finder_.is_over() || finder_.synced())) {
    if (!waits && !finder_.is_next_here()) return false;
    look_afresh(false);
  }
  for (;; look_afresh(true)) {
    const bool looks = !is_alone() || !free_.empty() || (most == 1 && (!with.empty() || sees_others()));
    // At the head of the queue, others may work on items.
    const bool looks_behind = most == 1 && waits && !finder_.is_used();
    std::vector<std::string> paths =
        looks ? find_free(most) : finder_.next(looks_behind ? kFirstLook : most, is_alone(), waits);
    if (!paths.empty()) {
      finder_.note_used();
      send_first(std::move(paths), most, with, looks);
      return true;
    }
    // Only a pass that began with a sync shows that there is nothing.
    if ((finder_.synced() || !waits) && !free_left()) return false;
  }
}

// Claims the first `most`, and looks at the rest in the same flight: if the first is taken, they may be free.
void Consumer::send_first(std::vector<std::string> paths, size_t most, const std::vector<Step>& with, bool looked) {
  const auto rest = paths.begin() + static_cast<ptrdiff_t>(std::min(most, paths.size()));
  const std::vector<std::string> others(rest, paths.end());
  paths.erase(rest, paths.end());
  send(paths, with, looked);
  for (const std::string& path : others) batches_.back().looks.push_back({path, session_.client().exists(path)});
}

bool Consumer::begin_among(const std::vector<std::string>& paths, const std::vector<Step>& with) {
  const bool looks = paths.size() > 1;
  const std::vector<std::string> free = looks ? those_free(paths) : paths;
  if (free.empty()) return false;
  send({free.front()}, with, looks);
  return true;
}

bool Consumer::free_left() {
  std::vector<std::string> items;
  for (const auto& [path, changed] : suspects_) items.push_back(path);
  const std::vector<Answer> claims = zk::stat_all(session_, claims_of(items));
  const std::map<std::string, int64_t> changed = std::exchange(suspects_, {});
  bool any = false;
  std::vector<std::string> strays;
  for (size_t i = 0; i < items.size(); ++i) {
    const bool freed = claims[i].code == Code::ok && remove_left_claim(session_, items[i], claims[i].stat);
    if (freed) in_work_.forget(items[i]);
    if (examined_.size() >= kMostExamined) examined_.clear();
    // A claim in no session was on its way out, and is looked at again.
    const bool left = claims[i].code == Code::ok && !is_ephemeral(claims[i].stat);
    if (!left) examined_[items[i]] = changed.at(items[i]);
    if (claims[i].code == Code::no_node) strays.push_back(items[i]);
    any |= freed;
  }
  leave_out_strays(strays);
  return any;
}

// If there are no children, the claim may just have gone.
void Consumer::leave_out_strays(const std::vector<std::string>& items) {
  const std::vector<Answer> lists = zk::children_all(session_, items);
  for (size_t i = 0; i < items.size(); ++i) {
    const std::vector<std::string>& names = lists[i].names;
    if (!names.empty() && !contains(names, zk::name_of(claim_of(items[i])))) leave_out(items[i]);
  }
}

void Consumer::leave_out(const std::string& path) {
  finder_.leave_out(path);
  in_work_.forget(path);
}

void Consumer::look_afresh(bool synced) {
  free_.clear();
  saw_others_ = std::exchange(sees_others_, false);
  finder_.restart(synced);
  if (synced) return;
  in_work_.prune();
  looks_left_ = kLooksAgain;
  give_way();
}

// Another consumer was faster. If we `looked`, it was so with an item that we had seen to be free.
void Consumer::note_others(bool looked) {
  if (!looked) free_.clear();
  crowd_ = looked ? std::clamp(2 * crowd_, kCrowd, kLargestCrowd) : std::max(crowd_, kCompany);
  give_way();
}

void Consumer::give_way() {
  if (crowd_ >= kCrowd) finder_.put_off(random_() % crowd_);
}

std::vector<std::string> Consumer::find_free(size_t most) {
  if (crowd_ >= kCrowd) most = std::min(most, kLargestCrowd / crowd_);
  for (size_t look = kFirstLook * std::min(most, kLook); free_.empty(); look *= 2) {
    look = std::min(look, kLook);
    std::vector<std::string> next = finder_.next(look);
    if (next.empty()) return {};
    std::erase_if(next, [this](const std::string& path) { return !is_worth_a_look(path); });
    for (const std::string& path : those_free(next)) free_.push_back(path);
  }
  std::vector<std::string> paths;
  for (; paths.size() < most && !free_.empty(); free_.pop_front()) paths.push_back(free_.front());
  return paths;
}

// Only some of the items that were not looked at for a while get a look. After an outage, we would do nothing else.
bool Consumer::is_worth_a_look(const std::string& path) {
  if (!remembers_) return true;
  if (in_work_.is_sure(path)) return false;
  return !in_work_.is_old(path) || (looks_left_ > 0 && looks_left_-- > 0);
}

std::vector<std::string> Consumer::those_free(const std::vector<std::string>& paths) {
  return free_among(paths, zk::stat_all(session_, paths));
}

std::vector<std::string> Consumer::free_among(const std::vector<std::string>& paths, const std::vector<Answer>& looks) {
  std::vector<std::string> free;
  for (size_t i = 0; i < paths.size(); ++i) {
    const bool there = looks[i].code == Code::ok;
    const bool claimed = there && is_claimed(looks[i].stat);
    if (there && !claimed) free.push_back(paths[i]);
    if (claimed) suspect(paths[i], looks[i].stat.child_changed);
    if (remembers_) claimed ? in_work_.note(paths[i]) : in_work_.forget(paths[i]);
    sees_others_ |= claimed;
  }
  return free;
}

// `changed`: see suspects_.
void Consumer::suspect(const std::string& path, int64_t changed) {
  const auto examined = examined_.find(path);
  if (examined == examined_.end() || examined->second != changed) suspects_[path] = changed;
}

void Consumer::send(const std::vector<std::string>& paths, const std::vector<Step>& with, bool looked) {
  for (const std::string& path : paths) finder_.leave_out(path);
  session_.ready();
  ClaimBatch batch{{}, {}, !with.empty() || paths.size() > 1, !with.empty(), looked, session_.proof_now()};
  for (const std::string& path : paths) host::trace("claiming", {{"item", path}, {"leaves line", !with.empty()}});
  if (batch.together) {
    std::vector<Step> steps = with;
    for (const std::string& path : paths) {
      steps.push_back({Step::Kind::create, claim_of(path), note_, -1, zk::CreateMode::ephemeral});
    }
    const zk::Call made = session_.client().transact(steps);
    for (const std::string& path : paths) batch.claims.push_back({path, made, session_.client().read(path)});
  } else {
    for (const std::string& path : paths) batch.claims.push_back(claim(path));
  }
  batches_.push_back(std::move(batch));
}

Consumer::Claim Consumer::claim(const std::string& path) {
  const zk::Call made = session_.client().create(claim_of(path), note_, zk::CreateMode::ephemeral);
  return {path, made, session_.client().read(path)};
}

bool Consumer::is_answered() const {
  if (batches_.empty()) return false;
  const ClaimBatch& batch = batches_.front();
  return std::ranges::all_of(batch.claims, [](const Claim& claim) { return claim.read->done; }) &&
         std::ranges::all_of(batch.looks, [](const Look& look) { return look.call->done; });
}

std::vector<Item> Consumer::collect() {
  gave_back_ = false;
  ClaimBatch& batch = batches_.front();
  await_claims(batch);
  std::vector<Item> items = read_items(batch);
  take_looks(batch);
  for (const Claim& claim : batch.claims) {
    if (!claim.ours) finder_.forget(claim.path);
  }
  batches_.pop_front();
  return items;
}

void Consumer::await_claims(ClaimBatch& batch) {
  bool any_taken = false;
  bool any_unknown = false;
  for (Claim& claim : batch.claims) {
    if (claim.ours) continue;
    const Answer answer = session_.await(claim.made);
    claim.ours = answer.code == Code::ok;
    const bool taken =
        answer.code == Code::node_exists || answer.code == Code::no_node;  // no_node: removed since the list
    const bool unknown = answer.code == Code::unknown;
    host::trace(claim.ours ? "claimed" : taken ? "claim taken" : "claim unknown", {{"item", claim.path}});
    if (!claim.ours && !taken && !unknown) throw zk::failure_of("cannot take " + claim.path, answer);
    any_taken |= taken;
    any_unknown |= unknown;
  }
  if (any_unknown) find_out(batch);
  if (any_taken) {
    note_others(batch.looked);
  } else if (!any_unknown && !batch.claims.empty()) {
    crowd_ -= (crowd_ + kPatience - 1) / kPatience;
  }
  // These items come before any that follow them, to keep the order.
  if (any_unknown || (any_taken && batch.together && !batch.with_more)) try_again(batch);
}

// Finds out which claims are ours, after their answers were lost with the connection.
void Consumer::find_out(ClaimBatch& batch) {
  const std::vector<bool> held = holds(paths_of(batch.claims));
  for (size_t i = 0; i < held.size(); ++i) {
    batch.claims[i].ours = held[i];
    host::trace(held[i] ? "claim found" : "claim not found", {{"item", batch.claims[i].path}});
  }
}

// Claims the items that are still free and not ours, each by itself.
void Consumer::try_again(ClaimBatch& batch) {
  std::vector<std::string> missing;
  for (const Claim& claim : batch.claims) {
    if (!claim.ours) missing.push_back(claim.path);
  }
  if (missing.empty()) return;
  // Without the other steps, a claim would be half of what was to be done, so we begin again from the start.
  if (batch.with_more) return look_afresh(false);
  const std::vector<std::string> free = those_free(missing);
  session_.ready();
  std::vector<Claim> claims;
  for (Claim& old : batch.claims) {
    const bool again = !old.ours && contains(free, old.path);
    if (!old.ours && !again) finder_.forget(old.path);
    if (old.ours || again) claims.push_back(again ? claim(old.path) : std::move(old));
  }
  batch.claims = std::move(claims);
  batch.together = false;
  batch.looked = true;
  await_claims(batch);
}

std::vector<Item> Consumer::read_items(ClaimBatch& batch) {
  read_again(batch);
  std::vector<Item> items;
  for (const Claim& claim : batch.claims) {
    if (!claim.ours) continue;
    Answer answer = claim.read->answer;  // a copy: if this throws, cleaning up needs it
    if (answer.code != Code::ok) throw zk::failure_of("cannot read " + claim.path, answer);
    if (answer.stat.children > 1) {
      give_back(claim.path, answer.data);
      gave_back_ = true;
      continue;
    }
    items.push_back(item_of(claim, std::move(answer), batch.sent));
  }
  return items;
}

void Consumer::take_looks(const ClaimBatch& batch) {
  std::vector<Answer> answers;
  for (const Look& look : batch.looks) answers.push_back(session_.await(look.call));
  const std::vector<std::string> paths = paths_of(batch.looks);
  const bool lost = std::ranges::find(answers, Code::unknown, &Answer::code) != answers.end();
  for (std::string& path : lost ? those_free(paths) : free_among(paths, answers)) free_.push_back(std::move(path));
}

// Awaits the reads, and repeats those that were lost with the connection.
void Consumer::read_again(ClaimBatch& batch) {
  std::vector<std::string> paths;
  std::vector<zk::Call> lost;
  for (const Claim& claim : batch.claims) {
    if (!claim.ours || session_.await(claim.read).code != Code::unknown) continue;
    paths.push_back(claim.path);
    lost.push_back(claim.read);
  }
  std::vector<Answer> answers = zk::read_all(session_, paths);
  for (size_t i = 0; i < lost.size(); ++i) lost[i]->answer = std::move(answers[i]);
}

// The item has a child that is no claim, so no consumer could remove it. It is left out from now on.
void Consumer::give_back(const std::string& path, const std::string& data) {
  const std::vector<Step> steps{{Step::Kind::remove, claim_of(path)}, {Step::Kind::write, path, data}};
  while (session_.transact(steps).code == Code::unknown && holds({path}).front()) {
  }
}

Item Consumer::item_of(const Claim& claim, Answer answer, Deadline sent) const {
  const zk::Stat& stat = answer.stat;
  return {claim.path, std::move(answer.data), stat.created_ms, attempts_of(stat), session_.id(), stat.child_changed,
          sent};
}

std::vector<Item> Consumer::confirm(std::vector<Item> items) {
  while (!items.empty()) {
    session_.ready();
    const Deadline sent = session_.proof_now();
    const Answer answer = session_.await(session_.client().check(claims_of(paths_of(items))));
    if (answer.code == Code::unknown) continue;
    for (Item& item : items) item.proved = sent;
    if (answer.code == Code::ok) break;
    if (answer.code != Code::no_node) throw zk::failure_of("cannot keep " + items.front().path, answer);
    const std::vector<bool> held = holds(paths_of(items));
    std::vector<Item> ours;
    for (size_t i = 0; i < items.size(); ++i) {
      if (!held[i]) forget(items[i].path);
      if (held[i]) ours.push_back(std::move(items[i]));
    }
    items = std::move(ours);
  }
  return items;
}

std::vector<bool> Consumer::holds(const std::vector<std::string>& paths) {
  std::vector<bool> held;
  for (const Answer& look : zk::settled_stat_all(session_, claims_of(paths))) {
    held.push_back(look.code == Code::ok && look.stat.ephemeral_owner == session_.id());
  }
  return held;
}

std::vector<Item> Consumer::settle(Deadline until) {
  std::vector<Item> items;
  for (; !batches_.empty(); batches_.pop_front()) {
    for (const Claim& claim : batches_.front().claims) {
      const bool claimed = session_.settle(claim.made, until) && claim.made->answer.code == Code::ok;
      if (!claimed || !session_.settle(claim.read, until) || claim.read->answer.code != Code::ok) continue;
      items.push_back(item_of(claim, claim.read->answer, batches_.front().sent));
    }
  }
  return items;
}

size_t Consumer::underway() const {
  size_t items = 0;
  for (const ClaimBatch& batch : batches_) items += batch.claims.size();
  return items;
}

void Consumer::forget_all() {
  batches_.clear();
  free_.clear();
  finder_.forget_all();
  finder_.restart(false);
  in_work_.clear();
  suspects_.clear();
  examined_.clear();
}

}  // namespace zklock::recipe
