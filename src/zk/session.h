// SPDX-License-Identifier: Apache-2.0
// A ZooKeeper session whose calls look blocking: they send, run the loop until their own answer is recorded, and serve
// signals and the command meanwhile. Everything here may throw a Failure: 69 when no server answers for longer than
// the connect timeout, 75 when the caller's deadline passes, 77 when authentication is refused or one is wanted that we
// do not have, and what other sources of the loop throw. 69 it is, too, when a request, however often it is sent, has
// no whole answer in the connect timeout, unless one is arriving. An expired session is not a failure but an answer:
// Code::expired. So is one that the servers refuse to take up again while they take new ones, because they have lost
// their data.
//
// While it is connected and the loop turns, the session is heard by its server (zk/link.h), also where a recipe only
// waits. So what is granted may be counted from the moment before the transaction that showed it was sent, as
// proof_now() gives it.
#pragma once

#include "host/loop.h"
#include "zk/client.h"
#include "zk/ensemble.h"
#include "zk/link.h"
#include "zk/server_names.h"
#include "zk/session_page.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace zklock::zk {

struct SessionOptions {
  ServerList servers;
  Duration session_timeout{};  // asked for
  Duration connect_timeout{};  // how long no server may answer: at the start, and whenever the connection is lost
  Credentials credentials;
  Acl acl = Acl::open;
  bool verbose = false;
  std::shared_ptr<const host::Tls> tls = nullptr;  // none: in the clear
};

class Session {
 public:
  Session(host::Loop& loop, SessionOptions options);
  Session(const Session&) = delete;
  ~Session() { drop(); }

  // Resolves the servers' names and connects. Again after the session has expired: a new session. While there is no
  // connection the names are resolved again and again, and the session is taken up wherever its servers are now.
  void open(Deadline until);
  // Takes in what is outstanding, for a second at most, and ends the session: its ephemerals are gone.
  void close();

  // For a guard, before it is forked, and before open(): what ends the session once zklock is dead and nothing of the
  // guard's command is left. One for each guard.
  std::function<void()> closer();

  // What a caller's deadline ends: "cannot take /l". For the message.
  void set_purpose(std::string purpose) { purpose_ = std::move(purpose); }

  // For requests that go out together: ready(), send through client(), then await each.
  Client& client() { return *client_; }
  // Returns once there is a connection on which something may be sent (Client::again_at), or the session is known to be
  // expired.
  void ready(Deadline until);
  Answer await(const Call& call, Deadline until);

  // The same without an end of their own, for cleaning up: false when `until` has passed.
  bool settle_connection(Deadline until);
  bool settle(const Call& call, Deadline until);

  using Send = std::function<Call(Client&)>;
  // Sends, again if the connection was lost before the answer, which is never Code::unknown then: for what may be done
  // twice.
  Answer ask(const Send& send, Deadline until);
  // Two that go out together, both of them again if either had no answer; so the second is answered behind the first.
  std::pair<Answer, Answer> ask_both(const Send& first, const Send& second, Deadline until);
  // Reads, likewise.
  Answer read(const std::string& path, Deadline until, const Watch& watch = nullptr);
  Answer exists(const std::string& path, Deadline until, const Watch& watch = nullptr);
  Answer children(const std::string& path, Deadline until, const Watch& watch = nullptr);
  // After a sync: nothing committed before is missing from it, whichever server we are on, unless that follows a leader
  // that has lost its quorum and does not know it yet. For what is only shown, or is proved by what we do next.
  Answer synced_read(const std::string& path, Deadline until);
  Answer synced_children(const std::string& path, Deadline until, const Watch& watch = nullptr);
  // Behind a barrier (Client::barrier): nothing committed before is missing from it. It alone tells what has become of
  // a write that was not answered.
  Answer settled_children(const std::string& path, Deadline until);

  // Makes a node without data, and the nodes above it as persistent ones. Returns when it is there, whoever made it, or
  // when the session is expired. A container where the server has none becomes persistent.
  void make_node(const std::string& path, CreateMode mode, Deadline until);
  // Those above it alone.
  void make_parents(const std::string& path, Deadline until);

  // While it is, no lack of servers or answers is a failure: somebody else decides how long that may last. It is said
  // once what is not answered. Names that cannot be resolved any more have the addresses that they had.
  void set_enduring(bool enduring) { enduring_ = enduring; }

  // One turn of the loop, until `until` at most.
  void turn(Deadline until);

  // All these only between open() and close().
  bool connected() const { return client_->state() == ClientState::connected; }
  bool expired() const { return client_->state() == ClientState::expired; }
  // kNever while connected.
  Deadline unconnected_since() const { return link_->unconnected_since(); }
  // What a transaction that is sent now will prove: a moment since which the session lives for T at least, less what
  // zk::fence_of leaves. While connected.
  Deadline proof_now() const { return link_->proof_now(); }
  std::string server() const { return client_->server(); }
  int64_t id() const { return client_->session_id(); }
  // As negotiated; before the first connection as asked for.
  Duration timeout() const { return client_ ? client_->session_timeout() : options_.session_timeout; }
  const SessionOptions& options() const { return options_; }

 private:
  ClientOptions client_options() const;
  void note_moved();
  Deadline doubtful_from() const;
  void look_for_refusal();
  [[noreturn]] void fail_unreachable(Duration waited) const;
  [[noreturn]] void fail_insecure(const Link::TlsTrouble& trouble) const;
  [[noreturn]] void fail_timed_out() const;
  void check_answers();
  bool is_ready() const;
  void ask_whether_local(const Call& call, Deadline until);
  void make_chroot(const std::string& part, Deadline until);
  void note_connected();
  void drop();

  host::Loop& loop_;
  SessionOptions options_;
  ServerNames names_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<Link> link_;
  std::unique_ptr<SecondSession> second_;  // while ours has not been connected for long
  SessionPage page_;
  std::string purpose_ = "cannot go on";
  Deadline opened_{};
  bool answered_ = false;  // some server, once
  bool enduring_ = false;
  bool given_up_ = false;  // a request; nobody waits for more answers
  bool stuck_said_ = false;
};

// The same question about many nodes: sent together, so that it costs no round trip each, but with a limited number
// unanswered, so that the answers do not pile up. Answers in the order of the paths. What is lost with the connection
// is sent again; an answer is never Code::unknown. They throw what the session throws.
std::vector<Answer> read_all(Session& session, const std::vector<std::string>& paths, Deadline until);
std::vector<Answer> stat_all(Session& session, const std::vector<std::string>& paths, Deadline until);
// Behind a barrier (Client::barrier): nothing committed before is missing from the answers, whichever server we are on.
std::vector<Answer> settled_stat_all(Session& session, const std::vector<std::string>& paths, Deadline until);
std::vector<Answer> children_all(Session& session, const std::vector<std::string>& paths, Deadline until);
// With a watch on each; in the order of the map.
std::vector<Answer> watch_children_all(Session& session, const std::map<std::string, Watch>& watches, Deadline until);
// A delete that was done before its answer was lost shows as Code::no_node.
std::vector<Answer> remove_all(Session& session, const std::vector<std::string>& paths, Deadline until);

}  // namespace zklock::zk
