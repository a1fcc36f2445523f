// SPDX-License-Identifier: Apache-2.0
// One handle of the ZooKeeper C client, single-threaded, which avoids the client's pitfalls. Only this code knows the
// library. A Client is passive: its callbacks only record, and it never retries or waits. Its user says where to
// connect (aim()), polls for what interest() returns, and calls process(). Paths are below the chroot and have been
// checked.
#pragma once

#include "base/time.h"
#include "host/net/tls.h"
#include "zk/answer.h"
#include "zk/ensemble.h"
#include "zk/requests.h"
#include "zk/wire.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct _zhandle;

namespace zklock::zk {

// A session that exists already; see zk/session_page.h.
struct SessionKey {
  int64_t id = 0;  // 0: none
  std::array<char, 16> password{};
};

struct SessionOptions {
  ServerList servers;
  Duration session_timeout{};  // requested; Client::session_timeout() returns what was granted
  // How long no server may answer, at the start and whenever the connection is lost. A request without an answer for
  // this long is stuck, even if it is sent again after a lost connection; see Client::stuck().
  Duration connect_timeout{};
  std::string credentials;                         // "user:password" for the digest scheme; empty: none
  Acl acl = Acl::open;                             // of every node that it creates
  bool verbose = false;                            // print the library's warnings on standard error
  std::shared_ptr<const host::Tls> tls = nullptr;  // if set, nothing is sent without TLS
};

enum class ClientState {
  unconnected,  // there is no socket
  connecting,   // there is a socket, but no session on it yet
  connected,
  expired,      // final
  auth_failed,  // final
};

class Client {
 public:
  // `resumed` is the session to resume instead of a new one.
  explicit Client(const SessionOptions& options, const SessionKey& resumed = {});
  Client(const Client&) = delete;
  // If it is connected and end_session() was not called, closes the session, so the servers delete its ephemerals. Wait
  // for the answers first: with more than two outstanding, the library's close may be lost. It may block, for 1.5 s if
  // the server is silent.
  ~Client();

  // Returns the library's version, such as "3.8.0".
  static const char* version();

  // Requests. Answers come in the order of sending. Send only while connected; otherwise the answer is `unknown` or
  // `expired` at once. A request that is too large for the server throws a Failure (65) and does not cost the
  // connection. If a server has no containers, a persistent node is created instead; see zk::Feature.
  Call create(const std::string& path, const std::string& data, CreateMode mode);
  // `full_path` is the chroot itself or a node above it.
  Call create_on_the_way_to_chroot(const std::string& full_path) { return make(full_path, "", CreateMode::persistent); }
  Call remove(const std::string& path);
  // A watch fires once, when the node's data changes or the node is deleted.
  Call read(const std::string& path, const Watch& watch = nullptr);
  // Returns only the Stat, which needs no permission. The watch is set even if there is no node.
  Call exists(const std::string& path, const Watch& watch = nullptr);
  // A watch fires once, when a child is added or removed, or the node itself is deleted.
  Call children(const std::string& path, const Watch& watch = nullptr);
  Call write(const std::string& path, const std::string& data, int version = -1);
  // Sends a sync, for reads whose result is only shown. Even a leader that has lost its quorum answers it
  // (ZOOKEEPER-1675), so it never shows what became of a write: barrier() does.
  Call sync(const std::string& path);
  // Asks a quorum whether all these nodes exist and our session lives: `ok`, or `no_node` if one is missing. It changes
  // nothing and wakes no client.
  Call check(const std::vector<std::string>& paths);
  // Sends a transaction that changes nothing. A request that is sent after it on the same connection misses nothing
  // that was committed before it. A write that this session sent through an earlier connection can no longer be carried
  // out. Both hold for any answer except `unknown` and `expired`, because a failed check is a transaction too. The root
  // that it checks always exists; a chroot may be missing or unreadable, but that answer serves as well.
  Call barrier() { return check({"/"}); }
  // Carries out all steps or none; the answer's code is that of the first step that fails. All paths must be valid,
  // because the library aborts on the server's answer to an invalid one.
  Call transact(const std::vector<Step>& steps);

  // Sets the server of the next attempt to connect (a numeric address), and the names that its certificate may be for.
  // Call it only while there is no socket.
  void aim(const Server& server, const std::vector<std::string>& names);

  struct Interest {
    int fd = -1;  // -1: the attempt to connect failed at once
    short events = 0;
    Duration within{};  // zero: there is something to read that poll does not report
  };
  // Starts to connect if there is no socket. Returns what to poll for.
  Interest interest();
  void process(short revents);

  // Sends the end of the session behind all that was sent, so that it costs no round trip of its own: the server
  // carries out a session's requests in their order. Send nothing on this connection after it. The state is `expired`
  // once it is answered, which is after all other answers. If the connection is lost before, the next handshake tells
  // whether the session is over. Sends nothing if not connected, or if the socket does not take it.
  void end_session();
  // Returns whether it was sent on this connection, and is not yet answered.
  bool is_ending() const { return state() == ClientState::connected && wire_.is_ending(); }
  // Returns whether it was answered.
  bool has_ended() const { return wire_.has_ended(); }
  // Returns a moment before it was sent.
  Deadline ending_since() const { return ending_since_; }
  // Sends a ping, for use behind the end only.
  void ping();

  // Gives up the connection on `fd`. `paused`: we ourselves stood still, so no request is to blame for the loss.
  void cut(int fd, bool paused);

  ClientState state() const;
  int64_t session_id() const;
  std::array<char, 16> password() const;                       // of the session
  Duration session_timeout() const;                            // as negotiated; as requested until the first connection
  const std::string& server() const { return server_; }        // in use or tried last, as host:port
  uint64_t connections() const { return connections_.count; }  // how often a session was established or resumed
  uint64_t answers() const { return answers_; }  // how many answers servers have given; a lost connection is none
  // Returns true for good once a server has answered a request with kTurnedAway: it serves only clients that
  // authenticate in a way that we cannot.
  bool is_turned_away() const { return turned_away_; }
  // Returns true while the leader believes that the session is at another server. It refuses every transaction on this
  // connection until a new handshake. Servers from 3.6 on close the connection themselves (ZOOKEEPER-2886). It is also
  // true after leave_connection().
  bool is_moved() const { return connections_.count != 0 && connections_.moved == connections_.count; }
  // Returns the moment before which no request should be sent: the server refused the last one for a reason that
  // passes, such as being busy.
  Deadline again_at() const { return again_at_; }
  // Returns whether the server has said on this connection that the session is over.
  bool says_over() const { return connections_.count != 0 && connections_.over == connections_.count; }
  // Has the link end this connection, so that the next handshake tells whether the session lives.
  void leave_connection() { connections_.moved = connections_.count; }
  // Treats the session as over, whatever the servers may say: from now on the state is `expired`. Call it only while
  // not connected.
  void give_up() { given_up_ = true; }

  // Returns why TLS failed in the last attempt, if it did; during a TLS handshake, that the server is silent.
  std::optional<host::TlsFailure> tls_failure() const { return wire_.tls_failure(); }
  // See Wire.
  Deadline begun_at() const { return wire_.begun_at(); }
  bool uses_tls() const { return options_.tls != nullptr; }

  // See zk::Outstanding.
  Deadline last_sent() const { return outstanding_.last_sent(); }
  Deadline last_answered_sent() const { return outstanding_.last_answered_sent(); }
  Deadline silent_since() const;
  std::optional<Stuck> stuck() const;
  Deadline stuck_at() const;
  // Returns how long no server may answer.
  Duration patience() const { return options_.connect_timeout; }
  const Losses& losses() const { return outstanding_.losses(); }
  void take_over(const Losses& losses) { outstanding_.take_over(losses); }

 private:
  friend struct Completions;

  // They are numbered from 1.
  struct Connections {
    uint64_t count = 0;                 // how many there were
    uint64_t moved = 0;                 // the one on which it is_moved()
    uint64_t over = 0;                  // the one on which it says_over()
    int forgiven = 0;                   // pauses of ours since the last answer
    uint64_t blamed = 0;                // the one for whose loss a request was blamed
    std::array<uint64_t, 2> doubted{};  // for each Feature, the one whose loss was noted
  };

  template <typename Submit>
  Call send(Request request, Submit submit, const NumberedWatch& watch = {});
  template <typename Ask, typename Completed>
  Call look(Op op, const std::string& path, const Watch& watch, Ask ask, Completed completed);
  Call make(const std::string& full_path, const std::string& data, CreateMode mode);
  void note_answer(int number);
  Code meaning_of(int number) const;
  void learn(Feature feature, Support support);
  bool is_good(std::string_view frame) const;
  std::string full(const std::string& path) const;
  void cork(bool corked);

  SessionOptions options_;
  std::string server_;
  _zhandle* handle_ = nullptr;
  int fd_ = -1;  // as returned by the last interest()
  bool corked_ = false;
  Connections connections_;
  uint64_t answers_ = 0;
  bool given_up_ = false;
  bool turned_away_ = false;
  Deadline ending_since_{};
  Deadline again_at_{};
  Outstanding outstanding_;
  Wire wire_;
  Watches watches_;
};

}  // namespace zklock::zk
