// SPDX-License-Identifier: Apache-2.0
// One handle of the ZooKeeper C client, single-threaded, with its traps closed; the only place that knows the
// library. Passive: it does nothing until it is driven (arm it with interest(), feed it with process()), its callbacks
// only record. It never retries and never waits. Paths are below the chroot and already checked.
#pragma once

#include "base/time.h"
#include "zk/access.h"
#include "zk/answer.h"
#include "zk/reply.h"
#include "zk/requests.h"
#include "zk/watches.h"
#include "zk/wire.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct _zhandle;

namespace zklock::zk {

struct ClientOptions {
  std::vector<std::string> addresses;  // numeric "127.0.0.1:2181", "[::1]:2181", tried in this order
  std::string chroot;                  // "" or "/a/b"
  Duration session_timeout;            // asked for; see session_timeout() for what was granted
  Credentials credentials;
  Acl acl = Acl::open;  // of every node made
  bool log = false;     // the library's warnings on standard error
  // What is sent again within it after a lost connection goes on being in vain; see stuck().
  Duration patience = std::chrono::seconds(15);
};

enum class CreateMode { persistent, persistent_sequential, ephemeral, ephemeral_sequential, container };

enum class ClientState {
  unconnected,  // no socket
  connecting,   // a socket, no session on it yet
  connected,
  expired,      // for good
  auth_failed,  // for good
};

// A step of a transaction. `version` -1: whatever it is. Containers are made outside of transactions only: the library
// aborts on the server's answer.
struct Step {
  enum class Kind { check, create, write, remove };
  Kind kind;
  std::string path;
  std::string data = {};                     // create, write
  int version = -1;                          // check, write, remove
  CreateMode mode = CreateMode::persistent;  // create
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
  // A server without containers gets a persistent node in place of one; see zk/repertoire.h.
  Call create(const std::string& path, const std::string& data, CreateMode mode);
  // `full_path` is the chroot itself or stands above it.
  Call create_on_the_way_to_chroot(const std::string& full_path);
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
  // for any answer but `unknown` and `expired`: one that fails is a transaction too.
  Call barrier();
  // All of it or nothing; the answer's code is that of the first step that fails. Paths must be good ones: the library
  // aborts on what the server says to a bad one.
  Call transact(const std::vector<Step>& steps);

  struct Interest {
    bool usable = false;  // false: poll nothing, ask again a little later
    int fd = -1;          // -1: ask again only after `within`, the library's pause between rounds of servers
    short events = 0;
    Duration within{};
  };
  Interest interest();
  void process(short revents);

  // Gives up the connection on `fd`; the library goes on to the next server.
  void cut(int fd);

  ClientState state() const;
  int64_t session_id() const;
  Duration session_timeout() const;                      // as negotiated; before the first connection as asked for
  std::string server() const;                            // the one in use or tried now, as in ClientOptions::addresses
  uint64_t connections() const { return connections_; }  // how often a session was established or taken up again
  uint64_t answers() const { return answers_; }          // how many a server has given; a lost connection is none
  // After so many attempts to connect the library has come past every address.
  size_t round() const { return round_; }
  // When the last request was sent, through whichever connection.
  Deadline last_sent() const { return last_sent_; }
  // The session is over, whatever the servers may say: from now on the state is `expired`. Only while not connected.
  void give_up() { given_up_ = true; }
  // Since when the server owes us an answer and has sent nothing of one; kNever if nothing is outstanding.
  Deadline silent_since() const;

  // The request whose turn it is, if it has had no whole answer for the patience, however often it was sent, and
  // nothing more of one is on its way.
  std::optional<Stuck> stuck() const;
  // When that will be so, if nothing comes; kNever if nothing is outstanding.
  Deadline stuck_at() const;
  const Vain& vain() const { return vain_; }
  // Of an earlier session.
  void take_over(const Vain& vain) { vain_ = vain; }

 private:
  struct Request;
  struct Callbacks;
  friend struct Callbacks;

  struct Unanswered {
    Deadline sent;
    Asked asked;
  };

  template <typename Submit>
  Call send(Asked asked, Submit submit, const Watching& watching = {});
  void note_answer(int number);
  void note_sent(Asked asked);
  bool is_good(std::string_view frame) const;
  Deadline turn_since() const;
  Call make(const std::string& full_path, const std::string& data, CreateMode mode);
  std::string full(const std::string& path) const;
  void cork(bool corked);

  ClientOptions options_;
  _zhandle* handle_ = nullptr;
  int fd_ = -1;  // as of the last interest()
  bool corked_ = false;
  size_t round_ = 1;
  uint64_t connections_ = 0;
  uint64_t answers_ = 0;
  std::deque<Unanswered> unanswered_;
  Deadline last_answer_{};
  Deadline last_sent_{};
  bool given_up_ = false;
  uint64_t blamed_ = 0;  // the connection over whose loss a request has been blamed
  Vain vain_;
  Wire wire_;
  Watches watches_;
};

// The library's words for a number of its own: "bad arguments (-8)".
std::string name_of_code(int number);

}  // namespace zklock::zk
