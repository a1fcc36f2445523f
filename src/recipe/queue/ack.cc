// SPDX-License-Identifier: Apache-2.0
#include "recipe/queue/ack.h"

#include "host/trace.h"
#include "recipe/queue/awaited.h"
#include "recipe/queue/nodes.h"
#include "zk/path.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

namespace zklock::recipe {

using zk::Answer;
using zk::Code;
using zk::Step;

namespace {

// Transactions. Over a distance these bound how many items are removed in a round trip.
constexpr size_t kMostOutstanding = 16;
constexpr size_t kFewOutstanding = 4;  // then smaller ones wait, to be merged
constexpr size_t kMostTogether = 128;  // items in a transaction
constexpr size_t kMostReleases = 256;

const char* name_of(Ack ack) {
  switch (ack) {
    case Ack::done: return "done";
    case Ack::retry: return "retry";
    case Ack::release: return "release";
    case Ack::dead_letter: return "dead";
  }
  return "";
}

void trace_items(const char* event, Ack ack, const std::vector<Item>& items) {
  for (const Item& item : items) host::trace(event, {{"item", item.path}, {"ack", name_of(ack)}});
}

Count count_of(Ack ack) {
  return ack == Ack::done ? Count::done : Count::dead;
}

bool removes(Ack ack) {
  return ack == Ack::done || ack == Ack::dead_letter;
}

// True if a transaction for several items failed because of one of them: it is gone, or a node was put below it.
bool is_of_one(Code code) {
  return code == Code::no_node || code == Code::not_empty;
}

}  // namespace

void Acks::remove(const std::vector<Item>& items) {
  due_.insert(due_.end(), items.begin(), items.end());
  if (session_.expired()) return;
  send_rest();
  while (due_.size() > kMostTogether) take_oldest();
}

void Acks::send(Ack ack, const Item& item, const std::string& why) {
  sent_.push_back({ack, {item}, why});
  if (session_.expired()) return;
  while (sent_.size() > (ack == Ack::release ? kMostReleases : kMostOutstanding)) take_oldest();
  send_rest();
}

// Makes acks of the due items, or without `all`, of as many as may be sent now.
void Acks::put_due(bool all) {
  const auto may_send = [this] {
    return sent_.size() < (due_.size() < kMostTogether ? kFewOutstanding : kMostOutstanding);
  };
  while (!due_.empty() && (all || may_send())) {
    const auto end = due_.begin() + static_cast<ptrdiff_t>(std::min(kMostTogether, due_.size()));
    sent_.push_back({Ack::done, {due_.begin(), end}, ""});
    due_.erase(due_.begin(), end);
  }
}

void Acks::send_rest() {
  put_due(false);
  for (Sent& sent : sent_) {
    if (sent.call) continue;
    session_.ready();
    sent.call = transact(sent);
  }
}

// In another session than that of the claims, it would delete other consumers' claims.
zk::Call Acks::transact(const Sent& sent) {
  std::vector<Step> steps;
  for (const Item& item : sent.items) {
    if (item.owner != session_.id()) throw Failure(ExitStatus::internal, "a claim of another session");
    put_steps(sent, item, steps);
  }
  trace_items("acking", sent.ack, sent.items);
  return session_.client().transact(steps);
}

void Acks::put_steps(const Sent& sent, const Item& item, std::vector<Step>& steps) const {
  steps.push_back({Step::Kind::remove, claim_of(item.path)});
  // The write takes the attempt back.
  if (sent.ack == Ack::release) steps.push_back({Step::Kind::write, item.path, item.data});
  if (removes(sent.ack)) steps.push_back({Step::Kind::remove, item.path});
  if (removes(sent.ack) && !sent.uncounted) put_count(layout_, item.path, count_of(sent.ack), steps);
  if (sent.ack != Ack::dead_letter) return;
  const std::string dead = layout_.dead_of(item.path);
  steps.push_back({Step::Kind::create, dead, item.data});
  steps.push_back({Step::Kind::create, why_of(dead), sent.why});
}

void Acks::take_answers() {
  if (session_.expired()) return;
  send_rest();
  while (!sent_.empty() && sent_.front().call->done) take_oldest();
}

void Acks::flush() {
  put_due(true);
  send_rest();
}

void Acks::finish() {
  flush();
  while (!sent_.empty()) take_oldest();
}

// Takes in an answer that tells what became of the items. If several items failed because of one, each is sent alone.
// Returns false, and leaves the items, if the code does not tell.
bool Acks::take_in(const Sent& sent, Code code) {
  trace_items(code == Code::ok ? "acked" : "ack unknown", sent.ack, sent.items);
  if (code == Code::ok) {
    drop(sent.items);
    return true;
  }
  if (!is_of_one(code) || sent.items.size() == 1) return false;
  for (const Item& item : sent.items) sent_.push_back({sent.ack, {item}, sent.why, nullptr, false, sent.doubtful});
  return true;
}

// The ack stays in sent_ until its outcome is known, so that settle() finds it if this is interrupted.
void Acks::take_oldest() {
  const Sent& oldest = sent_.front();
  const Answer answer = session_.await(oldest.call);
  const bool known = take_in(oldest, answer.code);
  if (!known) {
    if (answer.code != Code::no_node && answer.code != Code::unknown) throw refusal(oldest, answer);
    // If the segment had no dead letter so far, its node among the dead is missing.
    if (answer.code == Code::no_node && oldest.ack == Ack::dead_letter) {
      session_.make_node(zk::parent_of(layout_.dead_of(oldest.items.front().path)), zk::CreateMode::persistent);
    }
    find_out(oldest);
  }
  sent_.pop_front();
  // In a session that lives on there is no doubt.
  if (!known) look_again();
  send_rest();
}

Failure Acks::refusal(const Sent& sent, const Answer& answer) {
  const std::string& path = sent.items.front().path;
  if (answer.code == Code::node_exists) {
    return {ExitStatus::bad_data, fmt::format("cannot make {} a dead letter: {} is there already; "
                                              "requeue or purge that one first",
                                              path, layout_.dead_of(path))};
  }
  if (answer.code != Code::not_empty) return zk::failure_of("cannot give up the claim on " + path, answer);
  // A node was put below one of the items since it was claimed.
  std::string node = path;
  for (const Item& item : sent.items) {
    const std::string foreign = foreign_below(session_, item.path);
    if (!foreign.empty()) node = foreign;
  }
  return not_ours("cannot remove " + zk::parent_of(node), node);
}

// Sends the ack again for the items that are still ours: if the claim is, the ack was not carried out. If the item is
// gone, we have removed or buried it, because the session was alive when the claims were read. Otherwise, the item is
// another consumer's by now.
void Acks::find_out(const Sent& sent) {
  const std::vector<bool> claimed = consumer_.holds(paths_of(sent.items));
  const std::vector<Answer> looks = zk::stat_all(session_, paths_of(sent.items));
  const std::vector<bool> uncounted = without_counter(session_, layout_, paths_of(sent.items), count_of(sent.ack));
  for (size_t i = 0; i < sent.items.size(); ++i) {
    const Item& item = sent.items[i];
    host::trace("looked", {{"item", item.path}, {"ours", bool(claimed[i])}, {"there", looks[i].code == Code::ok}});
    if (claimed[i]) {
      sent_.push_back({sent.ack, {item}, sent.why, nullptr, uncounted[i]});
    } else if (looks[i].code == Code::no_node) {
      drop({item});
    } else {
      doubt(sent.ack, {item});
    }
  }
}

void Acks::end_session(const std::vector<Item>& done) {
  doubt(Ack::done, done);
  doubt(Ack::done, std::exchange(due_, {}));
  for (const Sent& sent : sent_) {
    const bool acked = sent.call && sent.call->done && sent.call->answer.code == Code::ok;
    if (!take_in(sent, acked ? Code::ok : Code::unknown)) doubt(sent.ack, sent.items);
  }
  sent_.clear();
}

void Acks::settle(const std::vector<Item>& done, Deadline until) {
  due_.insert(due_.end(), done.begin(), done.end());
  put_due(true);
  while (!sent_.empty()) {
    send_last(until);
    Sent oldest = std::move(sent_.front());
    sent_.pop_front();
    if (!oldest.call) {
      // The item of another ack goes back with the end of the session.
      oldest.ack == Ack::done ? doubt(oldest.ack, oldest.items) : drop(oldest.items);
      continue;
    }
    const Code code = settle_one(oldest, until);
    if (take_in(oldest, code)) continue;
    if (code == Code::node_exists) {
      // A dead letter that is there already keeps the item where it is.
      drop(oldest.items);
    } else if (code == Code::not_empty && removes(oldest.ack)) {
      // Its claim goes with the session.
      blocked_ = true;
      drop(oldest.items);
      lost_.insert(lost_.end(), oldest.items.begin(), oldest.items.end());
    } else {
      doubt(oldest.ack, oldest.items);
    }
  }
}

// Sends what is not sent yet, if it can be sent.
void Acks::send_last(Deadline until) {
  for (Sent& sent : sent_) {
    if (sent.call || !session_.settle_connection(until) || sent.items.front().owner != session_.id()) continue;
    try {
      sent.call = transact(sent);
    } catch (const Failure&) {
      // The ack is too large for the servers. The first attempt to send it has reported that.
    }
  }
}

bool Acks::is_counted(const Sent& sent) {
  return std::ranges::any_of(sent.items, [](const Item& item) { return !push_of(item.path).empty(); });
}

// Returns the answer, or `unknown` if none came in time. `ok` also if the ack was carried out before its answer was
// lost.
Code Acks::settle_one(Sent& sent, Deadline until) {
  bool remade = false;
  for (;; sent.call = transact(sent)) {
    if (!session_.settle(sent.call, until)) return Code::unknown;
    const Code code = sent.call->answer.code;
    const bool single = sent.items.size() == 1;
    const auto is_ours = [&] { return session_.settle_connection(until) && sent.items.front().owner == session_.id(); };
    if (code == Code::no_node && sent.ack == Ack::dead_letter && !remade && is_ours()) {
      // No letter has died in this segment before.
      const std::string dead = layout_.dead_of(sent.items.front().path);
      session_.client().create(zk::parent_of(dead), "", zk::CreateMode::persistent);
      remade = true;
      continue;
    }
    // The counter of its push may be gone. In the same session, another attempt does no harm.
    const bool counted = removes(sent.ack) && !sent.uncounted && is_counted(sent);
    if (code == Code::no_node && counted && single && is_ours()) {
      sent.uncounted = true;
      continue;
    }
    // The ack was carried out before its answer was lost. But for a dead letter, its segment may be missing, and of
    // several items, the counter of one.
    const bool tells = sent.ack != Ack::dead_letter && (single || !counted);
    if (code == Code::no_node && sent.doubtful && tells) return Code::ok;
    // The outcome is unknown, and in the same session it does no harm to send a removal again. But an item that has
    // gone back may be under another consumer's claim already.
    if (code != Code::unknown || !removes(sent.ack) || !is_ours()) return code;
    sent.doubtful = true;
  }
}

void Acks::release(const std::vector<Item>& items, Deadline until) {
  std::deque<zk::Call> calls;
  for (const Item& item : items) {
    if (!session_.settle_connection(until) || item.owner != session_.id()) return;
    if (left_until(until) == Duration::zero()) return;
    calls.push_back(transact({Ack::release, {item}, ""}));
    if (calls.size() < kMostReleases) continue;
    session_.settle(calls.front(), until);
    calls.pop_front();
  }
  for (const zk::Call& call : calls) session_.settle(call, until);
  drop(items);
}

void Acks::look_again() {
  const std::vector<Answer> looks = zk::settled_stat_all(session_, paths_of(doubtful_));
  std::vector<Item> gone;
  for (size_t i = 0; i < looks.size(); ++i) {
    (looks[i].code == Code::ok ? lost_ : gone).push_back(doubtful_[i]);
  }
  doubtful_ = std::move(gone);
}

void Acks::drop(const std::vector<Item>& items) {
  for (const Item& item : items) consumer_.forget(item.path);
}

// An item that was to go back has gone back, so only a removal is doubtful.
void Acks::doubt(Ack ack, const std::vector<Item>& items) {
  drop(items);
  if (removes(ack)) doubtful_.insert(doubtful_.end(), items.begin(), items.end());
}

}  // namespace zklock::recipe
