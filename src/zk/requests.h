// SPDX-License-Identifier: Apache-2.0
// What a client knows of its own requests: which are unanswered and whose turn it is, which ones cost it one connection
// after the other, and which newer requests the servers do not know. It also knows the watches that callers wait for.
// This code sends nothing and does not use the library. zk::Client owns it.
#pragma once

#include "base/time.h"
#include "zk/answer.h"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zklock::zk {

enum class Op { create, create_with_stat, remove, exists, read, write, children, sync, check, transaction };

// The numbers are those of the protocol.
enum class CreateMode {
  persistent = 0,
  ephemeral = 1,
  persistent_sequential = 2,
  ephemeral_sequential = 3,
  container = 4,
};

// A step of a transaction. `version` -1 matches any version. A transaction cannot create containers, because the
// library aborts on the server's answer.
struct Step {
  using Kind = Op;
  Kind kind;  // check, create, write or remove
  std::string path;
  std::string data = {};                     // create, write
  int version = -1;                          // check, write, remove
  CreateMode mode = CreateMode::persistent;  // create
};

// A request that was sent. Its answer is checked against it, and messages describe it if no answer comes.
struct Request {
  Op op;
  std::string path;              // full; of a transaction: that of its first step
  size_t bytes = 0;              // of the data; of a transaction: of the paths too, with kStepOverhead for each step
  std::vector<Step> steps = {};  // check, transaction: full paths, without the data
  Deadline sent = {};            // a moment before it was sent
};

// Returns a description that stays the same if the request is sent again with another unique name: "create a node below
// /l".
std::string title_of(const Request& request);

// The most bytes that a step of a transaction needs besides its path and data: headers, an ACL, a version.
constexpr size_t kStepOverhead = 96;

// Returns how many bytes of data a transaction with one step may write to `path`, which is below the chroot.
size_t largest_data(const std::string& chroot, const std::string& path);

// The most bytes of data that the nodes of queues and groups may have. A request may have 1,048,575: the rest is for
// what goes along, such as paths, and why an item is dead.
inline constexpr size_t kLargestData = 983040;

// Throws a Failure (65) if a request of `bytes` to `path` is so large that the server would drop the connection.
void check_request_size(const std::string& path, size_t bytes);

enum class ConnectionEnd { none, closed, cut, nonsense };

// The connections that were lost while it was a request's turn.
struct RequestLosses {
  Deadline since;      // since when the request has had no complete answer
  Deadline last = {};  // when the last connection was lost
  int number = 0;
  ConnectionEnd end = ConnectionEnd::none;  // of the last one
};

// A request that should be given up.
struct Stuck {
  Request request;
  RequestLosses losses;
};

// "ZooKeeper at … takes the session, but has not answered the request to list /l (12 bytes) in 15s: …"
std::string describe(const Stuck& stuck, const std::string& servers);

// Records for which requests connections were lost. The request whose turn it was is to blame, because the server had
// not yet reached those after it. Such a record ends when that request is answered, or is not sent again for
// `patience`.
class Losses {
 public:
  // If a request is sent again within `patience` after a loss, the losses count together.
  explicit Losses(Duration patience) : patience_(patience) {}

  // Notes a lost connection. Since `turn`, it had been this request's turn.
  void note_loss(const Request& request, Deadline turn, ConnectionEnd end);
  void note_answer(const Request& request);

  // Returns the losses of this request, whose turn it has been since `turn`. There may be none.
  RequestLosses of(const Request& request, Deadline turn) const;

 private:
  Duration patience_;
  std::map<std::string, RequestLosses> losses_;  // by title_of() the request
};

// The unanswered requests of a session. Answers come in the order of sending, so it is the oldest one's turn.
// If an answer has come in part, `progressed` is when its last part came (see Wire).
class Outstanding {
 public:
  explicit Outstanding(Duration patience) : patience_(patience), losses_(patience) {}

  // `before` is a moment before it was sent.
  void note_sent(Request request, Deadline before);
  // Notes the answer to the oldest request.
  void note_answer();
  // Notes that the oldest request will get no answer. If a connection is lost, this is called for each request in turn,
  // but only the first one is `to_blame`.
  void note_loss(bool to_blame, ConnectionEnd end);

  // Returns null if there is no request.
  const Request* oldest() const { return requests_.empty() ? nullptr : &requests_.front(); }
  // Returns a moment before the last request was sent, on whichever connection.
  Deadline last_sent() const { return last_sent_; }
  // Returns when the last answer came, or when a request was given up.
  Deadline last_answer() const { return last_answer_; }
  // Returns a moment before the last request that has been answered was sent.
  Deadline last_answered_sent() const { return last_answered_sent_; }
  // Returns since when the server has owed us an answer and sent no more of it; kNever if nothing is outstanding.
  Deadline silent_since(Deadline progressed) const;
  // stuck() returns the oldest request if it has had no complete answer for the patience, however often it was sent,
  // and none is arriving. stuck_at() returns when that will be so if nothing comes; kNever if nothing is outstanding.
  std::optional<Stuck> stuck(Deadline progressed) const;
  Deadline stuck_at(Deadline progressed) const;

  const Losses& losses() const { return losses_; }
  // Takes over the losses of an earlier session.
  void take_over(const Losses& losses) { losses_ = losses; }

 private:
  Deadline turn_since() const;
  void drop_oldest();

  Duration patience_;
  std::deque<Request> requests_;
  Deadline last_answer_{};
  Deadline last_sent_{};
  Deadline last_answered_sent_{};
  Losses losses_;
};

// A watch for which a caller waits, and the number by which the library knows it; 0: none.
struct NumberedWatch {
  Watch watch = nullptr;
  uintptr_t number = 0;
};

// The watches that the library knows by a number. There is one number for each kind of watch on each node, however
// often the watch is set. Otherwise watches on a node that never changes would pile up here, in the library and on the
// server.
class Watches {
 public:
  // Returns `watch` with its number, or an empty value if `watch` is null. `op` is the request that sets it.
  NumberedWatch keep(Op op, const std::string& path, const Watch& watch);
  // Forgets a watch that was not set.
  void drop(const NumberedWatch& watch);
  // Notes the server's event: all watches with this number have fired, and are forgotten. `gone`: the node was deleted.
  void fire(uintptr_t number, bool gone);

 private:
  using Key = std::pair<Op, std::string>;
  struct Waiters {
    Key key;
    std::vector<std::weak_ptr<WatchState>> watches;
  };

  std::map<uintptr_t, Waiters> waiters_;
  std::map<Key, uintptr_t> numbers_;
  uintptr_t next_ = 1;
};

// Newer requests that a server may lack. Such a server says so, or closes the connection, but connections end for other
// reasons too. What was learnt holds for the whole process, because a new session uses the same servers.
enum class Feature {
  create_with_stat,  // create2, opcode 15: a create that returns the node's Stat
  container,         // opcode 19
};
enum class Support { given, refused, doubtful };  // doubtful: the connection was lost after it

// Returns whether to use the feature.
bool is_supported(Feature feature);
// Notes what became of a request that used it.
void note_support(Feature feature, Support support);
// Forgets all that was learnt, for tests.
void forget_support();

}  // namespace zklock::zk
