// SPDX-License-Identifier: Apache-2.0
#include "recipe/queue/ack.h"

#include "host/trace.h"
#include "recipe/queue/nodes.h"
#include "zk/path.h"

#include <fmt/format.h>

namespace zklock::recipe {

using zk::Answer;
using zk::Code;
using zk::Step;

namespace {

// Transactions. Over a distance these bound how many items are removed in a round trip.
constexpr size_t kMostOutstanding = 16;
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

bool removes(Ack ack) {
  return ack == Ack::done || ack == Ack::dead_letter;
}

// True if a transaction for several items failed because of one of them: it is gone, or a node was put below it.
bool is_of_one(Code code) {
  return code == Code::no_node || code == Code::not_empty;
}

}  // namespace

void Acks::remove(const std::vector<Item>& items) {
  if (!items.empty()) begin({Ack::done, items, ""});
}

void Acks::send(Ack ack, const Item& item, const std::string& why) {
  begin({ack, {item}, why});
}

void Acks::begin(Sent sent) {
  sent_.push_back(std::move(sent));
  if (session_.expired()) return;
  while (sent_.size() > kMostOutstanding) take_oldest();
  send_rest();
}

void Acks::send_rest() {
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

void Acks::finish() {
  send_rest();
  while (!sent_.empty()) take_oldest();
}

// The ack stays in sent_ until its outcome is known, so that settle() finds it if this is interrupted.
void Acks::take_oldest() {
  const Sent& oldest = sent_.front();
  const Answer answer = session_.await(oldest.call);
  trace_items(answer.code == Code::ok ? "acked" : "ack unknown", oldest.ack, oldest.items);
  std::vector<Item> again;
  bool in_doubt = false;
  if (answer.code == Code::ok) {
    drop(oldest.items);
  } else if (is_of_one(answer.code) && oldest.items.size() > 1) {
    again = oldest.items;
  } else if (answer.code == Code::node_exists) {
    const std::string& path = oldest.items.front().path;
    throw Failure(ExitStatus::bad_data, fmt::format("cannot make {} a dead letter: {} is there already; "
                                                    "requeue or purge that one first",
                                                    path, layout_.dead_of(path)));
  } else if (answer.code == Code::no_node || answer.code == Code::unknown) {
    if (answer.code == Code::no_node && oldest.ack == Ack::dead_letter) make_dead_segment(oldest.items.front());
    in_doubt = true;
    again = find_out(oldest);
  } else if (answer.code == Code::not_empty) {
    throw blocked(oldest.items);
  } else {
    throw zk::failure_of("cannot give up the claim on " + oldest.items.front().path, answer);
  }
  const Sent known = std::move(sent_.front());
  sent_.pop_front();
  for (const Item& item : again) sent_.push_back({known.ack, {item}, known.why});
  // In a session that lives on there is no doubt.
  if (in_doubt) look_again();
  send_rest();
}

// Returns the Failure for the node that was put below one of the items since it was claimed.
Failure Acks::blocked(const std::vector<Item>& items) {
  std::string node = items.front().path;
  for (const Item& item : items) {
    const std::string foreign = foreign_below(session_, item.path);
    if (!foreign.empty()) node = foreign;
  }
  return not_ours("cannot remove " + zk::parent_of(node), node);
}

// If the segment had no dead letter so far, its node among the dead is missing.
void Acks::make_dead_segment(const Item& item) {
  session_.make_node(zk::parent_of(layout_.dead_of(item.path)), zk::CreateMode::persistent);
}

// Returns the items that are still ours: if the claim is, the ack was not carried out. If the item is gone, we have
// removed or buried it, because the session was alive when the claims were read. Otherwise, the item is another
// consumer's by now.
std::vector<Item> Acks::find_out(const Sent& sent) {
  const std::vector<bool> claimed = consumer_.holds(paths_of(sent.items));
  const std::vector<Answer> looks = zk::stat_all(session_, paths_of(sent.items));
  std::vector<Item> ours;
  for (size_t i = 0; i < sent.items.size(); ++i) {
    const Item& item = sent.items[i];
    host::trace("looked", {{"item", item.path}, {"ours", bool(claimed[i])}, {"there", looks[i].code == Code::ok}});
    if (claimed[i]) {
      ours.push_back(item);
    } else if (looks[i].code == Code::no_node) {
      drop({item});
    } else {
      doubt(sent.ack, {item});
    }
  }
  return ours;
}

void Acks::end_session(const std::vector<Item>& done) {
  doubt(Ack::done, done);
  for (const Sent& sent : sent_) {
    const bool acked = sent.call && sent.call->done && sent.call->answer.code == Code::ok;
    trace_items(acked ? "acked" : "ack unknown", sent.ack, sent.items);
    acked ? drop(sent.items) : doubt(sent.ack, sent.items);
  }
  sent_.clear();
}

void Acks::settle(const std::vector<Item>& done, Deadline until) {
  if (!done.empty()) sent_.push_back({Ack::done, done, ""});
  while (!sent_.empty()) {
    send_last(until);
    Sent oldest = std::move(sent_.front());
    sent_.pop_front();
    if (!oldest.call) {
      // The item of another ack goes back with the end of the session.
      oldest.ack == Ack::done ? doubt(oldest.ack, oldest.items) : drop(oldest.items);
      continue;
    }
    const bool settled = settle_one(oldest, until);
    trace_items(settled ? "acked" : "ack unknown", oldest.ack, oldest.items);
    // A dead letter that is there already keeps the item where it is.
    if (settled || oldest.call->answer.code == Code::node_exists) {
      drop(oldest.items);
    } else if (oldest.items.size() > 1 && is_of_one(oldest.call->answer.code)) {
      // The others must still be removed.
      for (const Item& item : oldest.items) sent_.push_back({Ack::done, {item}, ""});
    } else if (oldest.call->answer.code == Code::not_empty && removes(oldest.ack)) {
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

bool Acks::settle_one(Sent& sent, Deadline until) {
  for (bool again = false;; again = true) {
    if (!session_.settle(sent.call, until)) return false;
    const Code code = sent.call->answer.code;
    if (code == Code::ok) return true;
    const auto is_ours = [&] { return session_.settle_connection(until) && sent.items.front().owner == session_.id(); };
    if (code == Code::no_node && sent.ack == Ack::dead_letter && !again && is_ours()) {
      // No letter has died in this segment before.
      const std::string dead = layout_.dead_of(sent.items.front().path);
      session_.client().create(zk::parent_of(dead), "", zk::CreateMode::persistent);
      sent.call = transact(sent);
      continue;
    }
    // The ack was carried out before its answer was lost. But for a dead letter, its segment may be missing.
    if (code == Code::no_node) return again && sent.ack != Ack::dead_letter;
    // The outcome is unknown, and in the same session it does no harm to send a removal again. But an item that has
    // gone back may be under another consumer's claim already.
    if (code != Code::unknown || !removes(sent.ack) || !is_ours()) return false;
    sent.call = transact(sent);
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
