// SPDX-License-Identifier: Apache-2.0
// The members of an ensemble among themselves: elections, the replicated log, commits, and what a leader does for the
// clients of all servers. It checks itself: a committed transaction that is lost or put in another order is a
// violation.
#pragma once

#include "links.h"
#include "member.h"

#include <optional>

namespace zklock::sim {

class Quorum {
 public:
  using Action = std::function<void()>;

  // Both outlive it.
  Quorum(const EnsembleOptions& options, EnsembleCounters& counters);
  Quorum(const Quorum&) = delete;
  // Elects the first leader. Each member has its application by now.
  void begin();

  Member& at(int id) { return members_[static_cast<size_t>(id)]; }
  const Member& at(int id) const { return members_[static_cast<size_t>(id)]; }
  const std::vector<Member>& members() const { return members_; }
  // The one that believes to lead, of the latest epoch; null: none.
  const Member* leader() const;

  // For a server's clients. It serves; what it asks for is lost if it or its leader changes its state meanwhile.
  // Logs and commits the request; the server's application is called with the transaction.
  void submit(Member& from, const Request& request);
  void open_session(Member& from, const Origin& origin, int32_t timeout);
  // `done` is called at the server, with false if the session does not exist.
  void renew_session(Member& from, int64_t session, int32_t timeout, std::function<void(bool)> done);
  // `done` is called at the server; if it follows, once it has all that the leader had committed or proposed.
  void sync(Member& from, Action done);
  // A client was heard. Returns false if the server leads and the session does not exist any more.
  bool touch(Member& at, int64_t session, int32_t timeout);

  // Creates a persistent node, and those above it, as a backup that is restored does. There is a leader.
  void restore(const std::string& path, const std::string& data);

  // Faults.
  void crash(int id, bool silent);
  void restart(int id);
  void pause(int id, Time until);
  void slow_disks(Time longest, Time until) { slow_fsync_ = {longest, until}; }
  void put_clocks_ahead(Time by) { clocks_ahead_ += by; }
  void notice(int id);  // a follower finds that its connection to the leader is broken
  void heal();
  Links& links() { return links_; }

  // What any member has committed.
  const Tree& committed() const { return committed_; }
  // By the last word that the leader has had: the session lives at least so long, whatever is cut off now. kNever if
  // a new leader is going to give it its whole time.
  Time lives_until(int64_t session) const;
  // What differs between the committed tree and that of a server that has as much; "": nothing.
  std::string diverged() const;

  std::function<void(const Txn&)> on_commit;  // called once for each, when the first member commits it

 private:
  // `action` happens at the member after `span`, when it is not paused, unless its state has changed by then.
  void later(Member& member, Time span, Action action);
  // `action` happens at the leader of `from`, with it.
  void at_leader(Member& from, std::function<void(Member&)> action);
  // `action` happens at `to`, which follows `leader` or is it.
  void reply(const Member& leader, int to, Action action);
  Time fsync() const;
  size_t majority() const { return members_.size() / 2 + 1; }

  // Elections.
  void look(Member& member);
  void leave(Member& leader);  // its followers notice
  void elect();
  void join_leaders();
  Member* winner();
  std::vector<Member*> candidates();
  void lead(Member& member);
  void follow(Member& member, Member& leader);

  // What members do by themselves.
  void half_tick(Member& member);
  bool has_quorum(const Member& leader) const;
  void ask_for_reports(Member& leader);
  void report(Member& follower);
  void expire(Member& leader);
  void remove_containers(Member& leader);

  // The log.
  void propose(Member& leader, Txn txn);
  void on_proposal(Member& follower, size_t index, const std::shared_ptr<const Txn>& txn);
  void on_ack(Member& leader, int from, size_t index);
  void commit_next(Member& leader);
  void on_commit_order(Member& member, size_t count);
  bool stalls(const Member& member, size_t count) const;
  void catch_up(Member& member) { commit(member, member.told); }
  void commit(Member& member, size_t count);
  void apply(Member& member, const Txn& txn);

  const EnsembleOptions& options_;
  EnsembleCounters& counters_;
  std::vector<Member> members_;
  Links links_;
  std::vector<std::shared_ptr<const Txn>> history_;  // all that was ever committed
  Tree committed_;
  int64_t epoch_ = 0;
  int64_t last_session_ = 0;
  bool electing_ = false;
  Time clocks_ahead_ = 0;             // of the wall clock
  std::pair<Time, Time> slow_fsync_;  // how long one may take until then
  Time disturbed_until_ = 0;          // until then a leader may know less than it seems
};

}  // namespace zklock::sim
