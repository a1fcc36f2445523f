// SPDX-License-Identifier: Apache-2.0
// Quorum's elections, ticks and faults.
#include "quorum.h"

#include <algorithm>
#include <utility>

namespace zklock::sim {

void Quorum::begin() {
  lead(world->random.one_of(members_));
}

void Quorum::look(Member& member) {
  if (member.state != Member::State::looking) note("server {} looks for a leader", member.id);
  const bool led = member.leads();
  member.state = Member::State::looking;
  member.leader = -1;
  ++member.round;
  member.touched.clear();
  member.reported.clear();
  member.application->on_stop();
  if (led) leave(member);
  if (std::exchange(electing_, true)) return;
  world->in(world->random.between(200 * ms, 1500 * ms), [this] {
    electing_ = false;
    elect();
  });
}

// Connections to a leader that goes on running without leading, or whose process has died, end. Followers that cannot
// be reached find out by its silence.
void Quorum::leave(Member& leader) {
  for (Member& member : members_) {
    if (member.state != Member::State::following || member.leader != leader.id) continue;
    later(member, world->random.between(1 * ms, 100 * ms), [this, &member, id = leader.id] {
      if (links_.reachable(member.id, id)) look(member);
    });
  }
}

std::vector<Member*> Quorum::candidates() {
  std::vector<Member*> found;
  for (Member& member : members_) {
    if (member.up && member.state == Member::State::looking && member.paused_until <= world->now) {
      found.push_back(&member);
    }
  }
  return found;
}

void Quorum::elect() {
  join_leaders();
  if (Member* best = winner()) lead(*best);
  for (Member& member : members_) {
    if (member.up && member.state == Member::State::looking) return look(member);
  }
}

// A leader that still has a majority takes others in.
void Quorum::join_leaders() {
  for (Member& leader : members_) {
    if (!leader.leads() || leader.paused_until > world->now) continue;
    size_t with = 1;
    for (const Member& member : members_) with += member.follows(leader);
    if (with < majority()) continue;
    for (Member* member : candidates()) {
      if (links_.reachable(member->id, leader.id)) follow(*member, leader);
    }
  }
}

// The one with the latest epoch and log of those that it can reach, if these are a majority.
Member* Quorum::winner() {
  const auto last = [](const Member& member) {
    return std::pair(member.epoch, member.log.empty() ? 0 : member.log.back()->zxid);
  };
  const std::vector<Member*> looking = candidates();
  Member* best = nullptr;
  for (Member* one : looking) {
    size_t votes = 0;
    bool latest = true;
    for (const Member* other : looking) {
      if (!links_.reachable(one->id, other->id)) continue;
      ++votes;
      latest = latest && last(*other) <= last(*one);
    }
    if (votes >= majority() && latest && (!best || last(*one) >= last(*best))) best = one;
  }
  return best;
}

// Its whole log is committed, because a majority takes it over.
void Quorum::lead(Member& member) {
  ++counters_.elections;
  const std::vector<Member*> voters = candidates();
  member.state = Member::State::leading;
  member.leader = member.id;
  ++member.round;
  member.epoch = ++epoch_;
  member.half_ticks = 0;
  note("server {} leads, epoch {}, {} transactions", member.id, epoch_, member.log.size());
  member.last_zxid = epoch_ << 32;
  member.acks.clear();
  member.syncs.clear();
  member.heard.clear();
  commit(member, member.log.size());
  member.decided = member.told = member.committed;
  for (Member* voter : voters) {
    if (voter != &member && links_.reachable(voter->id, member.id)) follow(*voter, member);
  }
  member.outstanding = member.tree;
  member.sessions.begin(options_.tick, member.tree.sessions);
  later(member, options_.tick / 2, [this, &member] { half_tick(member); });
  later(member, member.sessions.next_tick() - world->now, [this, &member] { expire(member); });
  if (options_.container_check > 0)
    later(member, options_.container_check, [this, &member] { remove_containers(member); });
}

void Quorum::follow(Member& member, Member& leader) {
  note("server {} follows {}", member.id, leader.id);
  if (member.committed > leader.log.size()) return world->violation("the simulated ensemble lost a transaction");
  member.state = Member::State::following;
  member.leader = leader.id;
  member.leader_round = leader.round;
  member.epoch = leader.epoch;
  ++member.round;
  member.half_ticks = member.asked_at = 0;
  leader.heard[member.id] = leader.half_ticks;
  member.log = leader.log;
  member.told = 0;
  commit(member, leader.decided);
  for (size_t i = leader.decided; i < leader.log.size(); ++i) {
    links_.send(member.id, leader.id, [this, &leader, from = member.id, i] { on_ack(leader, from, i); });
  }
  later(member, options_.tick / 2, [this, &member] { half_tick(member); });
}

// A leader asks for a report in each half tick; one that does not hear the other for sync_limit ticks gives up.
void Quorum::half_tick(Member& member) {
  ++member.half_ticks;
  const bool leads = member.state == Member::State::leading;
  if (leads ? !has_quorum(member) : member.half_ticks - member.asked_at > 2 * options_.sync_limit) return look(member);
  if (leads) ask_for_reports(member);
  later(member, options_.tick / 2, [this, &member] { half_tick(member); });
}

// A follower that has left is only missed at once if it can be reached.
bool Quorum::has_quorum(const Member& leader) const {
  size_t with = 1;
  for (const auto& [follower, heard] : leader.heard) {
    const bool connected = at(follower).follows(leader) || !links_.reachable(follower, leader.id);
    with += connected && leader.half_ticks - heard <= 2 * options_.sync_limit;
  }
  return with >= majority();
}

void Quorum::ask_for_reports(Member& leader) {
  for (Member& member : members_) {
    if (!member.follows(leader)) continue;
    links_.send(leader.id, member.id, [this, &member] { report(member); });
  }
}

void Quorum::report(Member& follower) {
  follower.asked_at = follower.half_ticks;
  Member& leader = at(follower.leader);
  const auto touched = std::exchange(follower.touched, {});
  // If the leader's requests were held up and come together, two reports are less than T/6 apart, and the second one
  // may leave out a session. The fence does not allow for that (ARCHITECTURE.md, "Who is heard when").
  auto announced = touched;
  const Time gap = world->now - follower.reported_at;
  for (const auto& [session, timeout] : follower.reported) {
    if (gap < std::min(timeout * ms / 6, options_.tick * 9 / 20)) announced.emplace(session, timeout);
  }
  for (const auto& [session, timeout] : announced) leader.sessions.announce(session, timeout);
  follower.reported = announced;
  follower.reported_at = world->now;
  at_leader(follower, [from = follower.id, touched](Member& to) {
    to.heard[from] = to.half_ticks;
    for (const auto& [session, timeout] : touched) to.sessions.touch(session, timeout);
  });
}

void Quorum::expire(Member& leader) {
  for (const int64_t session : leader.sessions.take_expired()) {
    note("session {:#x} expires", session);
    ++counters_.expiries;
    Request close{op::close, "", session};
    Txn txn = prepare(leader.outstanding, close, 0);
    txn.expiry = true;
    propose(leader, std::move(txn));
  }
  later(leader, leader.sessions.next_tick() - world->now, [this, &leader] { expire(leader); });
}

// Those that have never had children stay.
void Quorum::remove_containers(Member& leader) {
  std::vector<std::string> paths;
  for (const auto& [path, node] : leader.tree.nodes) {
    if (node.container && node.creates > 0 && node.children.empty()) paths.push_back(path);
  }
  for (const std::string& path : paths) {
    propose(leader, prepare(leader.outstanding, {op::remove_container, RecordWriter().text(path).out}, 0));
  }
  later(leader, options_.container_check, [this, &leader] { remove_containers(leader); });
}

void Quorum::crash(int id, bool silent) {
  Member& member = at(id);
  if (!member.up) return;
  note("server {} crashes{}", id, silent ? " with its host" : "");
  const bool led = member.leads();
  member.up = false;
  member.silent = silent;
  member.state = Member::State::looking;
  member.leader = -1;
  ++member.incarnation;
  ++member.round;
  member.touched.clear();
  member.reported.clear();
  if (led && !silent) leave(member);
}

void Quorum::restart(int id) {
  Member& member = at(id);
  if (member.up) return;
  note("server {} starts", id);
  member.up = true;
  member.silent = false;
  look(member);
}

// When it wakes, what has been sent to it meanwhile and its own ticks come in any order.
void Quorum::pause(int id, Time until) {
  at(id).paused_until = until;
  disturbed_until_ = std::max(disturbed_until_, until + 100 * ms);
}

void Quorum::notice(int id) {
  Member& member = at(id);
  if (member.up && member.state == Member::State::following) look(member);
}

void Quorum::heal() {
  slow_fsync_ = {};
  for (Member& member : members_) member.paused_until = world->now;
  links_.heal();
  for (Member& member : members_) restart(member.id);
}

}  // namespace zklock::sim
