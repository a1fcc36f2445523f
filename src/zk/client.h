// SPDX-License-Identifier: Apache-2.0
// One handle of the ZooKeeper C client, single-threaded, with its traps closed; the only place that knows the
// library. Passive: it does nothing until it is told whom to connect to and is driven (aim() it, arm it with
// interest(), feed it with process()), its callbacks only record. It never retries and never waits. Paths are below the
// chroot and already checked.
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

// A session that is there already; see zk/session_page.h.
struct SessionKey {
  int64_t id = 0;  // 0: none
  std::array<char, 16> password{};
};

struct ClientOptions {
  std::string chroot;        // "" or "/a/b"
  Duration session_timeout;  // asked for; see session_timeout() for what was granted
  Credentials credentials;
  Acl acl = Acl::open;  // of every node made
  bool log = false;     // the library's warnings on standard error
  // What is sent again within it after a lost connection goes on being in vain; see stuck().
  Duration patience = std::chrono::seconds(15);
  SessionKey resumed = {};                         // to be taken up instead of a new one
  std::shared_ptr<const host::Tls> tls = nullptr;  // nothing is sent without it then
};

enum class ClientState {
  unconnected,  // no socket
  connecting,   // a socket, no session on it yet
  connected,
  expired,      // for good
  auth_failed,  // for good
};

class Client {
 public:
  explicit Client(const ClientOptions& options);
  Client(const Client&) = delete;
  // Closes the session where it is connected (the server then drops its ephemerals), else leaves it to expire. Drain
  // first: with more than two answers outstanding the library's close may be lost. May block: 1.5 s on a silent server.
  ~Client();

  // The library's, as in "3.8.0".
  static const char* version();

  // Requests; answers come in the order of sending. Ask for them only while connected: else they are answered at once
  // with `unknown` or `expired`. One too large for the server throws a Failure (65) instead of costing the connection.
  // A server without containers gets a persistent node in place of one; see zk::Feature.
  Call create(const std::string& path, const std::string& data, CreateMode mode);
  // `full_path` is the chroot itself or stands above it.
  Call create_on_the_way_to_chroot(const std::string& full_path) { return make(full_path, "", CreateMode::persistent); }
  Call remove(const std::string& path);
  // With a watch: it fires once, when the node's data changes or the node goes.
  Call read(const std::string& path, const Watch& watch = nullptr);
  // Its Stat alone, which needs no permission. The watch stands even if there is no node.
  Call exists(const std::string& path, const Watch& watch = nullptr);
  // With a watch: it fires once, when a child comes or goes, or the node itself goes.
  Call children(const std::string& path, const Watch& watch = nullptr);
  Call write(const std::string& path, const std::string& data, int version = -1);
  // For what is only shown. It is answered even by a leader that has lost its quorum (ZOOKEEPER-1675), so it never
  // decides what has become of a write: barrier() does.
  Call sync(const std::string& path);
  // A quorum's word that all these nodes are there, and on our session, changing nothing and waking nobody: `ok`, or
  // `no_node` if one is missing.
  Call check(const std::vector<std::string>& paths);
  // A transaction that changes nothing. What is asked behind it, on the same connection, lacks nothing that was
  // committed before, and no write that this session sent through another connection can be done any more. That holds
  // for any answer but `unknown` and `expired`: one that fails is a transaction too. It checks the root, which is
  // always there; a chroot may be missing or unreadable, and that is an answer as good as any.
  Call barrier() { return check({"/"}); }
  // All of it or nothing; the answer's code is that of the first step that fails. Paths must be good ones: the library
  // aborts on what the server says to a bad one.
  Call transact(const std::vector<Step>& steps);

  // To whom the next attempt to connect goes, a numeric address, and what its certificate may be for. While there is no
  // socket.
  void aim(const Server& server, const std::vector<std::string>& names);

  struct Interest {
    int fd = -1;  // -1: the attempt has failed at once
    short events = 0;
    Duration within{};  // zero: there is something that poll does not know of
  };
  // Connects where there is no socket.
  Interest interest();
  void process(short revents);

  // Gives up the connection on `fd`.
  void cut(int fd);

  ClientState state() const;
  int64_t session_id() const;
  std::array<char, 16> password() const;                 // of the session
  Duration session_timeout() const;                      // as negotiated; before the first connection as asked for
  const std::string& server() const { return server_; }  // the one in use or tried last, as host:port
  uint64_t connections() const { return connections_; }  // how often a session was established or taken up again
  uint64_t answers() const { return answers_; }          // how many a server has given; a lost connection is none
  // The servers serve only who authenticates in a way that we cannot: they have answered a request so. For good.
  bool is_turned_away() const { return turned_away_; }
  // The leader takes the session for another server's: it refuses every transaction that comes by this connection, and
  // a new handshake heals it. Servers from 3.6 on close the connection then (ZOOKEEPER-2886).
  bool is_moved() const { return connections_ != 0 && moved_ == connections_; }
  // The server has refused a request for a reason that passes, such as being busy. The next one is not to be sent
  // before this moment.
  Deadline again_at() const { return again_at_; }
  // The session is over, whatever the servers may say: from now on the state is `expired`. Only while not connected.
  void give_up() { given_up_ = true; }

  // What was wrong with the TLS of the last attempt, if it was that; of one that goes on, that it is silent.
  std::optional<host::TlsFailure> tls_failure() const { return wire_.tls_failure(); }
  // See Wire.
  Deadline begun_at() const { return wire_.begun_at(); }
  bool uses_tls() const { return options_.tls != nullptr; }

  // See zk::Outstanding.
  Deadline last_sent() const { return outstanding_.last_sent(); }
  Deadline last_answered_sent() const { return outstanding_.last_answered_sent(); }
  Deadline silent_since() const { return outstanding_.silent_since(wire_.progressed()); }
  std::optional<Stuck> stuck() const { return outstanding_.stuck(wire_.progressed()); }
  Deadline stuck_at() const { return outstanding_.stuck_at(wire_.progressed()); }
  const Losses& losses() const { return outstanding_.losses(); }
  void take_over(const Losses& losses) { outstanding_.take_over(losses); }

 private:
  friend struct Completions;

  template <typename Submit>
  Call send(Request request, Submit submit, const NumberedWatch& watch = {});
  template <typename Ask, typename Completed>
  Call look(Op op, const std::string& path, const Watch& watch, Ask ask, Completed completed);
  Call make(const std::string& full_path, const std::string& data, CreateMode mode);
  void note_answer(int number);
  bool is_good(std::string_view frame) const;
  Wire::Secure securer();
  std::string full(const std::string& path) const;
  void cork(bool corked);

  ClientOptions options_;
  std::string server_;
  std::vector<std::string> names_;  // of that
  _zhandle* handle_ = nullptr;
  int fd_ = -1;  // as of the last interest()
  bool corked_ = false;
  uint64_t connections_ = 0;
  uint64_t answers_ = 0;
  bool given_up_ = false;
  bool turned_away_ = false;
  uint64_t moved_ = 0;  // the connection on which it is_moved()
  Deadline again_at_{};
  uint64_t blamed_ = 0;  // the connection over whose loss a request has been blamed
  Outstanding outstanding_;
  Wire wire_;
  Watches watches_;
};

}  // namespace zklock::zk
