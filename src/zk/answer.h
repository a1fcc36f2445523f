// SPDX-License-Identifier: Apache-2.0
// The answer to a request.
#pragma once

#include "base/failure.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::zk {

// The answers on which callers decide. Any other one is `unexpected`, and failure_of() explains it.
enum class Code {
  ok,
  no_node,
  node_exists,
  not_empty,
  bad_version,
  no_auth,      // the ACL forbids it, or it needs credentials that we did not give
  unsupported,  // the server does not know this request
  unknown,      // no usable answer, e.g. a lost connection: the request was carried out or not
  expired,      // the session is over, and with it our ephemeral nodes
  unexpected,   // see `number`
};

struct Stat {
  int64_t created = 0;          // czxid
  int64_t created_ms = 0;       // ctime, the server's clock, ms since 1970
  int64_t modified_ms = 0;      // mtime, as created_ms
  int32_t version = 0;          // of the data
  int64_t ephemeral_owner = 0;  // a session id; 0: not ephemeral
  int32_t child_version = 0;    // cversion: how often a child was added or removed
  int32_t children = 0;         // number of children
  int32_t data_length = 0;      // bytes
  int64_t child_changed = 0;    // pzxid: the zxid of the last time that a child was added or removed
  int64_t modified = 0;         // mzxid: the zxid of the last write of the data
};

struct Answer {
  Code code = Code::ok;
  int number = 0;                       // the C client's number for `code`
  std::string path = {};                // create: the node's path; transact: that of the last sequential node
  std::string data = {};                // read
  std::vector<std::string> names = {};  // children
  // create, read, exists, children, write; transact: that of the last written node
  Stat stat = {};
};

// A request that was sent. `done` turns true inside a turn of the loop, when the answer is there.
struct Pending {
  bool done = false;
  Answer answer;
};
using Call = std::shared_ptr<Pending>;

// A watch that was set. `fired` turns true inside a turn of the loop, when the node or its data has changed or is gone.
struct WatchState {
  bool fired = false;
  bool gone = false;  // it has fired because the node was deleted
};
using Watch = std::shared_ptr<WatchState>;

// Returns a session's ID as ZooKeeper's own tools print it: "0x100000a3b2c0004".
std::string session_name(int64_t session);

// ZSESSIONCLOSEDREQUIRESASLAUTH. The server closes the connection after it, so requests that were sent with that one
// get no answer.
constexpr int kTurnedAway = -124;

// ZSESSIONEXPIRED, with which a server may answer though the session lives: then the code is Code::unknown.
constexpr int kSaysExpired = -112;

// ZEPHEMERALONLOCALSESSION. Session::await also returns it if a follower says "expired" although the session lives.
constexpr int kOnLocalSession = -120;

// Returns the C client's name of a number, for messages. It is in client.cc, the file that knows the library.
std::string name_of_code(int number);

// Returns the Failure for an answer that ends what was tried ("cannot take /l"). It is 77 if we are not allowed or the
// servers' settings forbid it, 65 if the path cannot be used, otherwise 70.
Failure failure_of(std::string_view tried, const Answer& answer);

// The session is over, and with it its ephemeral nodes and watches. Code that can go on in another session catches it.
// Otherwise it ends the command with 69.
class SessionOver : public Failure {
 public:
  explicit SessionOver(std::string_view tried);
};

}  // namespace zklock::zk
