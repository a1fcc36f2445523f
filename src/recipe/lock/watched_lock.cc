// SPDX-License-Identifier: Apache-2.0
#include "recipe/lock/watched_lock.h"

#include "base/contains.h"
#include "recipe/use.h"
#include "zk/path.h"

#include <algorithm>
#include <functional>
#include <list>

namespace zklock::recipe {

namespace {

using zk::Answer;
using zk::Code;
using Participants = std::vector<Participant>;

// The name of a WriteLock's node may come again after its parent was deleted and made again.
bool is_same(const Participant& a, const Participant& b) {
  return a.node == b.node && a.stat.created == b.stat.created;
}

// A slot's owner stood in the gate before, with another node: the first of its session that is gone from there.
bool is_slot_of(const Participant& slot, const Standing& before) {
  return !before.who.holding && may_have_made(before.who, slot) &&
         zk::parent_of(before.who.node) != zk::parent_of(slot.node);
}

std::optional<Duration> span_between(std::optional<Deadline> from, std::optional<Deadline> to) {
  return from && to ? std::optional(*to - *from) : std::nullopt;
}

// Returns for each of `now`, by its index, its entry in `before`; nullptr if it has just come. Those that are gone are
// left in `before`.
std::vector<const Standing*> pair_up(std::list<const Standing*>& before, const Participants& now) {
  const auto take = [&](const auto& matches) {
    const auto found = std::ranges::find_if(before, [&](const Standing* one) { return matches(*one); });
    const Standing* taken = found == before.end() ? nullptr : *found;
    if (taken) before.erase(found);
    return taken;
  };
  std::vector<const Standing*> pairs;
  for (const Participant& one : now) {
    pairs.push_back(take([&](const Standing& standing) { return is_same(standing.who, one); }));
  }
  for (size_t i = 0; i < now.size(); ++i) {
    if (!pairs[i]) pairs[i] = take([&](const Standing& standing) { return is_slot_of(now[i], standing); });
  }
  return pairs;
}

}  // namespace

std::vector<LockChange> advance(std::vector<Standing>& standings, const Participants& now,
                                std::optional<Deadline> moment) {
  std::list<const Standing*> gone;
  for (const Standing& standing : standings) gone.push_back(&standing);
  const std::vector<const Standing*> pairs = pair_up(gone, now);
  std::vector<LockChange> changes;
  for (const Standing* standing : gone) {
    changes.push_back({standing->who.holding ? LockEvent::released : LockEvent::left, standing->who, 0,
                       span_between(standing->since, moment)});
  }
  std::vector<Standing> after;
  for (size_t i = 0; i < now.size(); ++i) {
    const Standing* before = pairs[i];
    const bool changed = !before || before->who.holding != now[i].holding;
    after.push_back({now[i], changed ? moment : before->since});
    if (!changed) continue;
    const LockEvent taken = moment ? LockEvent::acquired : LockEvent::holding;
    const LockEvent event = now[i].holding ? taken : LockEvent::waiting;
    const bool waited = before && now[i].holding;
    changes.push_back({event, now[i], i + 1, waited ? span_between(before->since, moment) : std::nullopt});
  }
  standings = std::move(after);
  return changes;
}

// A path for slots has this folder, and so may any other path.
bool WatchedLock::has_folders() const {
  return contains(node_.found().names, "leases");
}

bool WatchedLock::is_stale() const {
  return node_.is_stale() || (has_folders() && (gate_.is_stale() || slots_.is_stale()));
}

std::vector<LockChange> WatchedLock::look() {
  if (node_.is_stale() || left_until(node_.again()) == Duration::zero()) node_.look();
  check_is_lock(uses_of(session_, {path_}, {node_.found()}).front(), tried_);
  Line line = line_at(path_, node_);
  Line slots;
  Line gate;
  bool passed = false;
  if (has_folders()) {
    // The gate is listed first, so a contender that goes through it meanwhile is in at least one of the two lists.
    if (gate_.is_stale()) gate_.look();
    if (slots_.is_stale()) slots_.look();
    passed = gate_.is_stale();
    gate = line_at(path_ + "/locks", gate_);
    slots = line_at(path_ + "/leases", slots_);
  }
  read({&line, &slots, &gate});
  leave_out_undecided(slots, gate, passed);
  for (Line* unmatched : {&slots, &gate}) {
    // Its owner is not known, so its counterpart in the other list is not known either.
    std::erase_if(unmatched->who, std::mem_fn(&Participant::is_gone));
  }
  const bool for_slots = !slots.who.empty() || !gate.who.empty();
  const Participants now =
      for_slots ? line_up_for_slots(std::move(slots.who), std::move(gate.who)) : line_up(std::move(line.who));
  return advance(standings_, now, std::exchange(looked_, true) ? std::optional(BootClock::now()) : std::nullopt);
}

WatchedLock::Line WatchedLock::line_at(const std::string& folder, const WatchedNode& node) const {
  const std::vector<std::string>& names = node.found().names;
  const std::vector<Contender> contenders = &node == &slots_ ? slots_of(names) : line_of(names);
  Line line{node.found().stat.created, participants_of(folder, contenders), {}};
  for (Participant& participant : line.who) {
    const auto known = known_.find({line.folder, participant.node});
    if (known == known_.end()) {
      line.fresh.insert(participant.node);
    } else {
      participant = known->second;
    }
  }
  return line;
}

// For a node that may not be read, the Stat is still available.
void WatchedLock::read(const std::vector<Line*>& lines) {
  std::vector<Participant*> fresh;
  std::vector<std::string> nodes;
  for (Line* line : lines) {
    for (Participant& participant : line->who) {
      if (!line->fresh.contains(participant.node)) continue;
      fresh.push_back(&participant);
      nodes.push_back(participant.node);
    }
  }
  std::vector<Answer> answers = zk::read_all(session_, nodes);
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (answers[i].code == Code::no_auth) answers[i] = session_.exists(nodes[i]);
    fresh[i]->data = answers[i].data;
    fresh[i]->stat = answers[i].stat;
  }
  known_.clear();
  for (Line* line : lines) {
    for (const Participant& participant : line->who) known_[{line->folder, participant.node}] = participant;
    std::erase_if(line->who, std::mem_fn(&Participant::is_left_over));
  }
}

// Leaves out the slots whose owners may still be in the gate. They count as not read, so the next look decides. The
// owner of a slot that is younger than the list of the gate may have come into the gate after that list. And if the
// first contender in the gate was gone before it was read, the youngest slot may be its own.
void WatchedLock::leave_out_undecided(Line& slots, Line& gate, bool passed) {
  const auto is_fresh = [&](const Participant& slot) { return slots.fresh.contains(slot.node); };
  const auto younger = std::stable_partition(slots.who.begin(), slots.who.end(), [&](const Participant& slot) {
    return !passed || !is_fresh(slot) || slot.stat.created < gate_.found().stat.child_changed;
  });
  Participants undecided(std::make_move_iterator(younger), std::make_move_iterator(slots.who.end()));
  slots.who.erase(younger, slots.who.end());
  const bool unread = !gate.who.empty() && gate.who.front().is_gone();
  if (unread && !slots.who.empty() && is_fresh(slots.who.back())) {
    undecided.push_back(std::move(slots.who.back()));
    slots.who.pop_back();
  }
  for (const Participant& slot : undecided) {
    known_.erase({slots.folder, slot.node});
    keep_waiting(slot, gate);
  }
}

// As far as we know, a contender that was in the gate at the last look and is gone from there still waits.
void WatchedLock::keep_waiting(const Participant& slot, Line& gate) const {
  const auto stood = std::ranges::find_if(standings_, [&](const Standing& one) {
    return !one.who.holding && one.who.stat.ephemeral_owner == slot.stat.ephemeral_owner;
  });
  if (stood == standings_.end()) return;
  const bool is_there = std::ranges::find(gate.who, stood->who.node, &Participant::node) != gate.who.end();
  if (!is_there) gate.who.insert(gate.who.begin(), stood->who);
}

}  // namespace zklock::recipe
