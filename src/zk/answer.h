// SPDX-License-Identifier: Apache-2.0
// What comes back for a request.
#pragma once

#include "base/failure.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::zk {

// What a caller decides on; the rest is `unexpected`, and failure_of() says what it was.
enum class Code {
  ok,
  no_node,
  node_exists,
  not_empty,
  bad_version,
  no_auth,      // the ACL forbids it, or it needs credentials that we did not give
  unsupported,  // by this server
  unknown,      // the connection was lost before the answer: done or not done
  expired,      // the session is over, and with it our ephemeral nodes
  unexpected,   // see `number`
};

struct Stat {
  int64_t created = 0;          // czxid
  int64_t created_ms = 0;       // ctime, the server's clock, ms since 1970
  int64_t modified_ms = 0;      // mtime, likewise
  int32_t version = 0;          // of the data
  int64_t ephemeral_owner = 0;  // a session id; 0: not ephemeral
  int32_t child_version = 0;    // cversion: how often a child has come or gone
  int32_t children = 0;         // how many there are
  int32_t data_length = 0;      // bytes
  int64_t child_changed = 0;    // pzxid: the zxid by which a child last came or went
  int64_t modified = 0;         // mzxid: that by which the data was last written
};

struct Answer {
  Code code = Code::ok;
  int number = 0;                  // the C client's, of the code
  std::string path;                // create: of the node; transact: of its last sequential one
  std::string data;                // read
  std::vector<std::string> names;  // children
  Stat stat;                       // create, read, exists, children, write; transact: of its last written one
};

// A request under way. `done` turns true inside a turn of the loop, with the answer.
struct Pending {
  bool done = false;
  Answer answer;
};
using Call = std::shared_ptr<Pending>;

// A watch that was set. `fired` turns true inside a turn of the loop when the node or its data changed or went.
struct WatchState {
  bool fired = false;
};
using Watch = std::shared_ptr<WatchState>;

// A session's id as ZooKeeper's own tools print it: "0x100000a3b2c0004".
std::string session_name(int64_t session);

// ZSESSIONCLOSEDREQUIRESASLAUTH. The server closes the connection behind it, so what was asked with that request has no
// answer.
constexpr int kTurnedAway = -124;

// ZEPHEMERALONLOCALSESSION. Session::await says it too, where a follower says that the session expired.
constexpr int kOnLocalSession = -120;

// The C client's name of a number, for messages: the file that knows the library has it (client.cc).
std::string name_of_code(int number);

// The end of what was tried ("cannot take /l") for an answer that it has no way round: 77 where we are not allowed,
// or the servers' settings forbid it, 65 where the path is in the way, else 70.
Failure failure_of(std::string_view tried, const Answer& answer);

// The same for a server that answers kTurnedAway: 77.
Failure turned_away(std::string_view tried);

// The same for a session that is over: 69.
Failure expired(std::string_view tried);

}  // namespace zklock::zk
