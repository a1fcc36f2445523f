// SPDX-License-Identifier: Apache-2.0
// What a client knows of its own requests: which are outstanding, and whose turn it is; over which of them connections
// are lost again and again; who waits for which watch; which of the newer ones the servers lack. It sends nothing and
// knows nothing of the library. Owned by zk::Client.
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

// As the protocol numbers them.
enum class CreateMode {
  persistent = 0,
  ephemeral = 1,
  persistent_sequential = 2,
  ephemeral_sequential = 3,
  container = 4,
};

// A step of a transaction. `version` -1: whatever it is. Containers are made outside of transactions only: the library
// aborts on the server's answer.
struct Step {
  using Kind = Op;
  Kind kind;  // check, create, write or remove
  std::string path;
  std::string data = {};                     // create, write
  int version = -1;                          // check, write, remove
  CreateMode mode = CreateMode::persistent;  // create
};

// A request that was sent: what its answer is held against, and what is said of it where none comes.
struct Request {
  Op op;
  std::string path;              // full; of a transaction's first step
  size_t bytes = 0;              // of paths and data
  std::vector<Step> steps = {};  // check, transaction: full paths, without the data
};

// Which request it is, also when it is sent again with another unique name: "create a node below /l".
std::string title_of(const Request& request);

// Of a step of a transaction besides its path and data, at most: headers, an ACL, a version.
constexpr size_t kStepOverhead = 96;

// Bytes that a transaction of one step may bring to `path`.
size_t largest_data(const std::string& chroot, const std::string& path);

// Throws a Failure (65) for one that the server would answer by dropping the connection: so many `bytes` to `path`.
void check_request_size(const std::string& path, size_t bytes);

enum class ConnectionEnd { none, closed, cut, nonsense };

// A request that is to be given up.
struct Stuck {
  Request request;
  Duration waited{};
  int losses = 0;                            // of the connection, over it
  ConnectionEnd last = ConnectionEnd::none;  // how it was lost
};

// "ZooKeeper at … takes the session, but has not answered the request to list /l (12 bytes) in 15s: …"
std::string describe(const Stuck& stuck, const std::string& servers);

// Over which requests connections were lost. When one is, the request whose turn it was is to blame: those behind it
// had none. Only its own answer clears it. Pure.
class Losses {
 public:
  // What is sent again within `patience` after a loss goes on being in vain.
  explicit Losses(Duration patience) : patience_(patience) {}

  // It was this one's turn since `turn` when the connection was lost.
  void note_loss(const Request& request, Deadline turn, ConnectionEnd end);
  void note_answer(const Request& request);

  // Since when nothing whole has come for this one, whose turn it is since `turn`.
  Deadline since(const Request& request, Deadline turn) const;
  Stuck stuck(const Request& request, Deadline turn) const;

 private:
  struct LossesOfOne {
    Deadline since;
    Deadline last;
    int number = 0;
    ConnectionEnd end = ConnectionEnd::none;
  };

  const LossesOfOne* losses_of(const Request& request, Deadline turn) const;

  Duration patience_;
  std::map<std::string, LossesOfOne> losses_;  // by the request's title
};

// The requests of a session without an answer. Answers come in the order of sending, so the oldest has its turn.
// `progressed` is when a part of an answer came that is still on its way.
class Outstanding {
 public:
  explicit Outstanding(Duration patience) : patience_(patience), losses_(patience) {}

  // `before`: a moment before it was sent.
  void note_sent(Request request, Deadline before);
  // The oldest has its answer.
  void note_answer();
  // The oldest has none any more. Of a connection's loss all learn one after the other, but the first is `to_blame`.
  void note_loss(bool to_blame, ConnectionEnd end);

  // Null if there is none.
  const Request* oldest() const { return requests_.empty() ? nullptr : &requests_.front().request; }
  // A moment before the last one was sent, through whichever connection.
  Deadline last_sent() const { return last_sent_; }
  // The same for the last one that has its answer.
  Deadline last_answered_sent() const { return last_answered_sent_; }
  // Since when the server owes us an answer and has sent nothing of one; kNever if nothing is outstanding.
  Deadline silent_since(Deadline progressed) const;
  // The oldest, if it has had no whole answer for the patience, however often it was sent, and nothing more of one is
  // on its way; and when that will be so, if nothing comes; kNever if nothing is outstanding.
  std::optional<Stuck> stuck(Deadline progressed) const;
  Deadline stuck_at(Deadline progressed) const;

  const Losses& losses() const { return losses_; }
  // Of an earlier session.
  void take_over(const Losses& losses) { losses_ = losses; }

 private:
  struct SentRequest {
    Deadline sent;
    Request request;
  };

  Deadline turn_since() const;
  void drop_oldest();

  Duration patience_;
  std::deque<SentRequest> requests_;
  Deadline last_answer_{};
  Deadline last_sent_{};
  Deadline last_answered_sent_{};
  Losses losses_;
};

// A watch that somebody waits for, and the number under which the library knows it; 0: none.
struct NumberedWatch {
  Watch watch = nullptr;
  uintptr_t number = 0;
};

// The watches that the library knows by a number: one of a kind on one node, however often it is asked for. Else a
// node that never changes would gather more and more of them, here, in the library and on the server.
class Watches {
 public:
  // `op`: the request that sets it. Nothing for no watch.
  NumberedWatch keep(Op op, const std::string& path, const Watch& watch);
  // It was not set.
  void drop(const NumberedWatch& watch);
  // The server has told: all that wait for it have fired, once.
  void fire(uintptr_t number);

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

// Newer requests that a server may lack. It says so, or closes the connection on it, which also happens for other
// reasons. Learnt for the whole process, since a new session comes to the same servers.
enum class Feature {
  create_with_stat,  // create2, opcode 15: a create that tells the node's Stat
  container,         // opcode 19
};
enum class Support { given, refused, doubtful };  // doubtful: the connection was lost over it

// Whether it is worth asking for.
bool is_supported(Feature feature);
// What became of one that was asked for.
void note_support(Feature feature, Support support);
// As at the start, for tests.
void forget_support();

}  // namespace zklock::zk
