// SPDX-License-Identifier: Apache-2.0
// A ZooKeeper session whose calls look blocking: they send, run the loop until their own answer is recorded, and serve
// signals and the command meanwhile. All calls may throw a Failure, and what other sources of the loop throw. Its
// status is 69 if no server answers for longer than the connect timeout. It is also 69 if a request gets no answer for
// so long, however often it is sent again, and no part of an answer is arriving (Client::stuck). It is 75 if the
// deadline of a Within passes (69 if no server has ever answered). It is 77 if authentication is refused, or one is
// required that we do not have.
//
// If the session has expired, calls throw SessionOver, and open() opens another one. So it is with a session that the
// servers refuse to resume although they accept new ones, because they have lost their data.
//
// While it is connected and the loop turns, the server hears from the session (zk/link.h), even if a recipe only waits.
// So a grant counts from the moment before the transaction that showed it was sent, as proof_now() returns it.
#pragma once

#include "host/loop.h"
#include "zk/client.h"
#include "zk/ensemble.h"
#include "zk/link.h"
#include "zk/server_names.h"
#include "zk/session_page.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace zklock::zk {

class Session {
 public:
  Session(host::Loop& loop, SessionOptions options);
  Session(const Session&) = delete;
  ~Session() { drop(); }

  // Resolves the servers' names and connects. After the session has expired, it opens a new session. While there is no
  // connection, the names are resolved again and again, and the session is resumed wherever its servers are then.
  // Does not throw SessionOver.
  void open(Deadline until = kNever);
  // Sends the request that ends the session, in the flight of those that were sent before, so it costs no round trip.
  // After it, only await their answers, and call close(). If such an answer is lost, the session may be over, and
  // with it what it held. Does nothing without a connection, or while the server wants a pause.
  void end_behind();
  // Says that the next read is the last request of the session: ask(), ask_both() and the functions below the class
  // then call end_behind() for it. If the answer is lost, they may throw SessionOver; see read_and_end().
  void set_last() { last_ = true; }
  void end_if_last() {
    if (last_) end_behind();
  }
  // Waits for outstanding answers, at most for a second, and ends the session, so its ephemerals are gone. Without a
  // connection, the session is left to expire.
  void close();
  void reopen() {
    close();
    open();
  }

  // Returns what a guard calls to end the session once zklock is dead and nothing is left of the guard's command. Call
  // it once for each guard, before that guard is forked and before open(). Throws a Failure (70) if there is no memory.
  std::function<void()> closer();

  // Sets what the caller tries, for messages: "cannot take /l".
  void set_purpose(std::string purpose) { purpose_ = std::move(purpose); }

  // For requests that are sent together: call ready(), send them through client(), then await each answer.
  Client& client() { return *client_; }
  // Returns once something may be sent on a connection (Client::again_at).
  void ready();
  // Returns whether ready() would return at once.
  bool may_send() const { return connected() && is_ready(); }
  // Returns the answer to `call`.
  Answer await(const Call& call);

  // These two are for cleaning up and throw only what other sources of the loop throw. settle_connection() waits like
  // ready() and returns whether the session is connected. settle() waits for the answer to `call` and returns whether
  // it is there. Neither waits after `until`, or once a request has been given up.
  bool settle_connection(Deadline until);
  bool settle(const Call& call, Deadline until);

  using Send = std::function<Call(Client&)>;
  // Sends a request, and sends it again if the connection was lost before the answer. So the answer is never
  // Code::unknown. Use it only for requests that may be carried out twice.
  Answer ask(const Send& send);
  // Sends two requests together, and both again if either got no answer. So the second one is answered after the first,
  // on the same connection.
  std::pair<Answer, Answer> ask_both(const Send& first, const Send& second);
  // Sends a transaction once. If its answer is lost, the result is Code::unknown.
  Answer transact(const std::vector<Step>& steps);
  // These send a read with ask().
  Answer read(const std::string& path, const Watch& watch = nullptr);
  Answer exists(const std::string& path, const Watch& watch = nullptr);
  Answer children(const std::string& path, const Watch& watch = nullptr);
  // These send a read after a sync. They miss nothing that was committed before the call, whichever server we are on.
  // But that server may follow a leader that has lost its quorum and does not know it yet. Use them only for data that
  // is shown, or that our next step proves.
  Answer synced_read(const std::string& path);
  Answer synced_children(const std::string& path, const Watch& watch = nullptr);
  // Lists the children after a barrier (Client::barrier), so nothing committed before the call is missing. Only this
  // shows what became of a write that was not answered.
  Answer settled_children(const std::string& path);

  // Creates a node without data, and missing nodes above it as persistent ones. Returns when the node exists, whichever
  // client created it. If the server has no containers, it creates a persistent node instead. Throws the Failure of
  // failure_of() if the node cannot be created.
  void make_node(const std::string& path, CreateMode mode);
  // Creates only the nodes above it.
  void make_parents(const std::string& path);

  // While set, a lack of servers or answers is no failure: the caller decides how long that may last. A request that is
  // not answered is reported once on standard error. Names that can no longer be resolved keep their addresses.
  void set_enduring(bool enduring) { enduring_ = enduring; }

  // Runs one turn of the loop, until `until` at most. Does not throw SessionOver: call check_alive() where that
  // matters.
  void turn(Deadline until);
  // Returns until when calls wait: the deadline of the Within that ends first, or kNever.
  Deadline until() const { return until_; }
  // Throws SessionOver if the session has expired.
  void check_alive() const;

  // The rest, except timeout() and options(), may be called only between open() and close().
  bool connected() const { return client_ && client_->state() == ClientState::connected; }
  bool expired() const { return client_ && client_->state() == ClientState::expired; }
  // Returns since when there has been no connection; kNever while connected.
  Deadline unconnected_since() const { return link_ ? link_->unconnected_since() : opened_; }
  // Returns the moment that a transaction sent now will prove. The session lives for at least zk::fence_of(T) from that
  // moment on. Call it only while connected.
  Deadline proof_now() const { return link_->proof_now(); }
  // How long the request that was answered last took.
  Duration round_trip() const { return link_->round_trip(); }
  std::string server() const { return client_->server(); }
  int64_t id() const { return client_->session_id(); }
  // Returns T as negotiated, or as requested until the first connection.
  Duration timeout() const { return client_ ? client_->session_timeout() : options_.session_timeout; }
  const SessionOptions& options() const { return options_; }

 private:
  // What is awaited after an answer that did not come. An enduring session reports the first such request and goes on;
  // any other session gives up, and then awaits nothing more.
  enum class Awaiting { all, all_but_reported, nothing };

  void connect();
  void note_moved();
  Deadline doubtful_from() const;
  void look_for_refusal();
  [[noreturn]] void fail_unreachable(Duration waited) const;
  [[noreturn]] void fail_insecure(const Link::TlsTrouble& trouble) const;
  [[noreturn]] void fail_timed_out() const;
  void check_answers();
  bool is_ready() const;
  Deadline pause_end() const;
  void wait_for(const Call& call);
  void ask_whether_local(const Call& call);
  void make_chroot(const std::string& part);
  void note_connected();
  void drop();

  friend class Within;

  host::Loop& loop_;
  SessionOptions options_;
  ServerNames names_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<Link> link_;
  std::unique_ptr<SecondSession> second_;  // only while ours has not been connected for long
  SessionPage page_;
  std::string purpose_ = "cannot go on";
  Deadline until_ = kNever;
  bool enduring_ = false;
  Deadline opened_{};
  bool answered_ = false;  // some server has answered once
  bool last_ = false;      // see set_last()
  Awaiting awaiting_ = Awaiting::all;
};

// While it exists, the session's calls wait until `until` at most. If several exist, the earliest deadline counts.
class Within {
 public:
  Within(Session& session, Deadline until)
      : session_(session), outer_(std::exchange(session.until_, std::min(session.until_, until))) {}
  Within(const Within&) = delete;
  ~Within() { session_.until_ = outer_; }

 private:
  Session& session_;
  Deadline outer_;
};

// Opens a session, until `until` at most, and calls `body` in it. If that session expires, it does so again. Returns
// what `body` returns.
template <typename Body>
auto in_sessions(Session& session, Body body, Deadline until = kNever) {
  for (;;) {
    try {
      session.open(until);
      return body();
    } catch (const SessionOver&) {
    }
  }
}

// Sends all requests together, and all again if one got no answer. So all are answered in their order, on the same
// connection. There is no limit to how many are unanswered at a time, so pass few. Throws what the session throws.
std::vector<Answer> ask_together(Session& session, const std::vector<Session::Send>& requests);

// Calls `read` with true, so that it calls set_last() before its last reads. `read` throws SessionOver if one of these
// gets no answer, or if it has to read more after them. Then it is called with false, in another session.
template <typename Read>
auto read_and_end(Session& session, Read read) {
  try {
    return read(true);
  } catch (const SessionOver&) {
    session.open();
    return read(false);
  }
}

// These send the same request for many nodes, together, so it costs no round trip for each. A limited number is
// unanswered at a time, so the answers do not pile up. The answers are in the order of the paths. Requests that are
// lost with the connection are sent again, so no answer is Code::unknown. All throw what the session throws.
// `bytes` is the length of all data together, if it is known: then more requests may be unanswered.
std::vector<Answer> read_all(Session& session, const std::vector<std::string>& paths, size_t bytes = SIZE_MAX);
std::vector<Answer> stat_all(Session& session, const std::vector<std::string>& paths);
// The same after a barrier (Client::barrier): nothing committed before is missing from the answers, whichever server we
// are on.
std::vector<Answer> settled_stat_all(Session& session, const std::vector<std::string>& paths);
// `bytes` is about how long all names together may be.
std::vector<Answer> children_all(Session& session, const std::vector<std::string>& paths, size_t bytes = SIZE_MAX);
// Sends reads of any kind.
std::vector<Answer> answer_all(Session& session, const std::vector<Session::Send>& requests);
// Sets a watch on each node. The answers are in the order of the map.
std::vector<Answer> watch_children_all(Session& session, const std::map<std::string, Watch>& watches);
// If a delete was carried out but its answer was lost, the answer is Code::no_node. If the session expires, it throws
// nothing, so that the caller can count: the answers that are missing are Code::expired.
std::vector<Answer> remove_all(Session& session, const std::vector<std::string>& paths);
// The same with requests of any kind that may be carried out twice.
std::vector<Answer> change_all(Session& session, const std::vector<Session::Send>& requests);

}  // namespace zklock::zk
