// SPDX-License-Identifier: Apache-2.0
#include "quorum.h"

#include <algorithm>

namespace zklock::sim {

Quorum::Quorum(const EnsembleOptions& options, EnsembleCounters& counters)
    : options_(options),
      counters_(counters),
      members_(static_cast<size_t>(options.servers)),
      links_(members_, options) {
  for (size_t i = 0; i < members_.size(); ++i) members_[i].id = static_cast<int>(i);
}

const Member* Quorum::leader() const {
  const Member* latest = nullptr;
  for (const Member& member : members_) {
    if (member.leads() && (!latest || member.epoch > latest->epoch)) latest = &member;
  }
  return latest;
}

void Quorum::later(Member& member, Time span, Action action) {
  world->in(span, [this, &member, round = member.round, action = std::move(action)] {
    if (!member.up || member.round != round) return;
    if (member.paused_until <= world->now) return action();
    const Time step = std::min<Time>(member.paused_until - world->now, 10 * ms) + world->random.below(3 * ms);
    later(member, step, action);
  });
}

Time Quorum::fsync() const {
  const auto& [longest, until] = slow_fsync_;
  return world->random.below(world->now < until ? longest : options_.fsync_max);
}

void Quorum::at_leader(Member& from, std::function<void(Member&)> action) {
  Member& leader = at(from.leader);
  if (from.id == leader.id) return action(leader);
  links_.send(from.id, leader.id, [&leader, action = std::move(action)] { action(leader); });
}

void Quorum::reply(const Member& leader, int to, Action action) {
  if (leader.id == to) return action();
  links_.send(leader.id, to, std::move(action));
}

void Quorum::submit(Member& from, const Request& request) {
  at_leader(from, [this, request](Member& leader) {
    Txn txn = prepare(leader.outstanding, request, leader.sessions.check(request.session, request.origin.server));
    if (request.type == op::close) leader.sessions.close(request.session);
    propose(leader, std::move(txn));
  });
}

// As with real servers, the first byte of a session's id is that of its server.
void Quorum::open_session(Member& from, const Origin& origin, int32_t timeout) {
  const int64_t session = static_cast<int64_t>(from.id + 1) << 56 | ++last_session_;
  at_leader(from, [this, origin, session, timeout](Member& leader) {
    leader.sessions.add(session, timeout, origin.server);
    Txn txn;
    txn.session = session;
    txn.type = op::open;
    txn.origin = origin;
    txn.changes = {{Change::Kind::open, op::open, "", "", session, false, timeout}};
    propose(leader, std::move(txn));
  });
}

void Quorum::renew_session(Member& from, int64_t session, int32_t timeout, std::function<void(bool)> done) {
  at_leader(from, [this, id = from.id, session, timeout, done = std::move(done)](Member& leader) {
    const bool valid = leader.sessions.renew(session, timeout, id);
    reply(leader, id, [done, valid] { done(valid); });
  });
}

// A leader does not wait for anything if its own clients ask: even what it has decided may not be applied yet.
void Quorum::sync(Member& from, Action done) {
  if (from.state == Member::State::leading) return done();
  at_leader(from, [this, id = from.id, then = std::move(done)](Member& leader) {
    const Action finish = [this, id, then] {
      catch_up(at(id));
      then();
    };
    if (leader.decided == leader.log.size()) return reply(leader, id, finish);
    leader.syncs[id].push_back({leader.log.size(), finish});
  });
}

bool Quorum::touch(Member& at, int64_t session, int32_t timeout) {
  if (at.told > at.committed) later(at, 0, [this, &at] { catch_up(at); });
  if (at.state == Member::State::leading) return at.sessions.touch(session, timeout);
  at.touched[session] = timeout;
  return true;
}

void Quorum::propose(Member& leader, Txn txn) {
  ++counters_.txns;
  txn.zxid = ++leader.last_zxid;
  txn.ms = (kWallClock + world->now + clocks_ahead_) / ms;
  leader.outstanding.apply(txn, {});
  const auto shared = std::make_shared<const Txn>(std::move(txn));
  const size_t index = leader.log.size();
  leader.log.push_back(shared);
  later(leader, fsync(), [this, &leader, index] { on_ack(leader, leader.id, index); });
  for (Member& member : members_) {
    if (!member.follows(leader)) continue;
    links_.send(leader.id, member.id, [this, &member, index, shared] { on_proposal(member, index, shared); });
  }
}

void Quorum::on_proposal(Member& follower, size_t index, const std::shared_ptr<const Txn>& txn) {
  if (index < follower.log.size()) return;
  if (index > follower.log.size()) return world->violation("the simulated ensemble left out a proposal");
  follower.log.push_back(txn);
  later(follower, fsync(), [this, &follower, index] {
    at_leader(follower, [this, from = follower.id, index](Member& leader) { on_ack(leader, from, index); });
  });
}

// Proposals are committed in their order, whatever the order of the answers.
void Quorum::on_ack(Member& leader, int from, size_t index) {
  if (index < leader.decided) return;
  leader.acks[index].insert(from);
  for (;;) {
    const auto next = leader.acks.find(leader.decided);
    if (next == leader.acks.end() || next->second.size() < majority()) return;
    leader.acks.erase(next);
    commit_next(leader);
  }
}

void Quorum::commit_next(Member& leader) {
  const size_t count = ++leader.decided;
  for (Member& member : members_) {
    if (!member.follows(leader)) continue;
    links_.send(leader.id, member.id, [this, &member, count] { on_commit_order(member, count); });
  }
  later(leader, world->random.below(options_.apply_max), [this, &leader, count] { on_commit_order(leader, count); });
  for (auto& [server, waiting] : leader.syncs) {
    while (!waiting.empty() && waiting.front().first <= leader.decided) {
      reply(leader, server, std::move(waiting.front().second));
      waiting.pop_front();
    }
  }
}

void Quorum::on_commit_order(Member& member, size_t count) {
  const bool stays = stalls(member, count);
  member.told = std::max(member.told, count);  // a leader takes its own in any order
  if (!stays) return commit(member, member.told);
  note("server {} does not notice a commit", member.id);
}

// One that sleeps already wakes up.
bool Quorum::stalls(const Member& member, size_t count) const {
  if (member.told > member.committed || count == 0 || count > member.log.size()) return false;
  const bool ends = member.log[count - 1]->type == op::close;
  const double chance = std::max(options_.stalls, ends ? options_.stalls_at_end : 0);
  return chance > 0 && world->random.chance(chance);
}

void Quorum::commit(Member& member, size_t count) {
  while (member.committed < std::min(count, member.log.size())) {
    const size_t index = member.committed++;
    const auto txn = member.log[index];
    if (index == history_.size()) {
      history_.push_back(txn);
      committed_.apply(*txn, {});
      if (on_commit) on_commit(*txn);
    } else if (history_[index] != txn) {
      return world->violation("the simulated ensemble committed something else in the place of a transaction");
    }
    apply(member, *txn);
  }
}

void Quorum::apply(Member& member, const Txn& txn) {
  const auto results = member.tree.apply(txn, [&](const Event& event) { member.application->on_event(event); });
  if (txn.type == op::close) member.sessions.remove(txn.session);
  member.application->on_applied(txn, results);
}

void Quorum::restore(const std::string& path, const std::string& data) {
  Member& leader = at(this->leader()->id);
  if (leader.outstanding.find(path)) return;
  if (parent_of(path) != "/") restore(parent_of(path), "");
  constexpr int32_t kAllRights = 31;
  RecordWriter body;
  body.text(path).text(data).i32(1).i32(kAllRights).text("world").text("anyone").i32(0);
  propose(leader, prepare(leader.outstanding, {op::create, body.out}, 0));
}

Time Quorum::lives_until(int64_t session) const {
  const Member* latest = leader();
  if (world->now < disturbed_until_ || !latest || latest->epoch != epoch_) return kNever;
  return committed_.sessions.contains(session) ? latest->sessions.lives_until(session) : 0;
}

std::string Quorum::diverged() const {
  for (const Member& member : members_) {
    if (member.tree.zxid != committed_.zxid) continue;
    for (const auto& [path, node] : committed_.nodes) {
      const Node* same = member.tree.find(path);
      if (!same) return fmt::format("server {} lacks {}", member.id, path);
      if (*same != node) return fmt::format("server {} has another {}", member.id, path);
    }
    if (member.tree.nodes.size() != committed_.nodes.size()) return fmt::format("server {} has more nodes", member.id);
  }
  return "";
}

}  // namespace zklock::sim
