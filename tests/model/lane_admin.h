// SPDX-License-Identifier: Apache-2.0
// The administrator of lane_model.cc, for one thing at a time: purge, requeue and delete of a queue with lanes.
#pragma once

#include "lane_state.h"

namespace zklock::model::lane {

class Administrator {
 public:
  explicit Administrator(Mutant mutant) : mutant_(mutant) {}

  void steps(const State& s, Steps<State>& out) const {
    switch (static_cast<Task>(s.admin.task)) {
      case idle: return start_task(s, out);
      case requeues_to_lane:
      case requeues_with_lane: return requeue(s, out);
      case looks: return look_at_turn(s, out);
      case deletes:
      case ends_claim: interrupt(s, out); return purge(s, out);
      case deletes_others: return purge_others(s, out);
    }
  }

 private:
  void start_task(State s, Steps<State>& out) const {
    if (!spend(s)) return;
    delete_queue(s, out);
    const State before = s;
    for (uint8_t i = 0; i < kItems; ++i) {
      if (s.items[i].life != dead) continue;
      s.admin.item = i;
      s.admin.task = s.lanes[s.items[i].key].exists ? requeues_to_lane : requeues_with_lane;
      out.chance(s, kAdmin, "sends a requeue");
      s = before;
    }
    for (uint8_t key = 0; key < 2; ++key) {
      if (!s.lanes[key].exists) continue;
      s.admin.task = looks;
      s.admin.key = key;
      out.chance(s, kAdmin, "starts to purge a lane");
    }
  }

  void end_task(State s, Steps<State>& out, const char* what) const {
    s.admin = {};
    s.admin.listed.fill(kNone);
    out.move(s, kAdmin, what);
  }

  // If its answer is lost, the letter shows whether it was done.
  void requeue(State s, Steps<State>& out) const {
    Admin& a = s.admin;
    s.items[a.item].requeued = 1;
    if (put(s, a.item, a.task == requeues_with_lane, mutant_)) return end_task(s, out, "requeues the letter");
    a.task = a.task == requeues_to_lane ? requeues_with_lane : requeues_to_lane;
    out.move(s, kAdmin, "is refused, and sends the requeue again");
  }

  void look_at_turn(State s, Steps<State>& out) const {
    Admin& a = s.admin;
    Lane& lane = s.lanes[a.key];
    if (!lane.exists) return end_task(s, out, "finds no lane to purge");
    if (lane.owner == kNone) {
      claim_turn(lane, kPurge);
      a.task = deletes;
      return out.move(s, kAdmin, "claims the turn to purge its lane");
    }
    a.task = deletes_others;
    a.item = lane.order[0];
    if (a.item == kNone) return end_task(s, out, "finds the turn taken and no item");
    a.listed = lane.order;
    if (mutant_ != Mutant::purge_by_lane) *std::remove(a.listed.begin(), a.listed.end(), a.item) = kNone;
    out.move(s, kAdmin, "finds the turn taken and lists the items behind the first");
  }

  static void interrupt(State s, Steps<State>& out) {
    if (!spend(s)) return;
    s.lanes[s.admin.key].owner = kNone;
    s.admin = {};
    s.admin.listed.fill(kNone);
    out.chance(s, kAdmin, "is killed, or its session expires");
  }

  static void delete_listed(State& s) {
    for (uint8_t& item : s.admin.listed) {
      if (item != kNone && s.items[item].life == live) take_out(s, item, ended);
      item = kNone;
    }
  }

  // With our claim. A lost answer leads to another list.
  void purge(State s, Steps<State>& out) const {
    Admin& a = s.admin;
    Lane& lane = s.lanes[a.key];
    if (a.task == deletes) {
      a.listed = lane.order;
      delete_listed(s);
      a.task = ends_claim;
      return out.move(s, kAdmin, "lists the lane and deletes its items");
    }
    const bool no_gap = (lane.made == 1 && lane.due_in == 0) || mutant_ == Mutant::purge_ends_gap;
    lane.owner = kNone;
    if (!no_gap || lane.order[0] != kNone) return end_task(s, out, "gives the turn back");
    clear(lane);
    end_task(s, out, "removes the lane");
  }

  void purge_others(State s, Steps<State>& out) const {
    if (s.items[s.admin.item].life != live && mutant_ != Mutant::unchecked_purge) {
      s.admin.task = looks;
      return out.move(s, kAdmin, "finds that the first item is gone, and looks again");
    }
    delete_listed(s);
    end_task(s, out, "deletes the items behind the first");
  }

  // All or nothing: pushers' markers, places in line, letters, claims and items keep it from it.
  void delete_queue(State s, Steps<State>& out) const {
    for (size_t who = 0; who < 2; ++who) {
      if (s.pushers[who].marker > 0) return;
    }
    if (s.line[0] != kNone) return;
    for (Lane& lane : s.lanes) {
      const bool forgotten = mutant_ == Mutant::delete_resting && lane.due_in > 0;
      if (!forgotten && (lane.owner != kNone || lane.order[0] != kNone)) return;
    }
    for (const Item& item : s.items) {
      if (item.life == dead) return;
      if (item.life == live) s.error = lost;
    }
    s.deleted = 1;
    out.chance(s, kAdmin, "deletes the queue");
  }

  Mutant mutant_;
};

}  // namespace zklock::model::lane
