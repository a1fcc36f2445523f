// SPDX-License-Identifier: Apache-2.0
// The nodes of a simulated server, and what a transaction does to them.
#pragma once

#include "jute.h"
#include "world.h"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace zklock::sim {

// The numbers of requests on the wire.
namespace op {
inline constexpr int32_t create = 1, remove = 2, exists = 3, get = 4, set = 5, children = 8, sync = 9, ping = 11,
                         children2 = 12, check = 13, multi = 14, create2 = 15, container = 19, remove_container = 20,
                         create_ttl = 21, auth = 100, set_watches = 101, open = -10, close = -11, failed = -1;
}

namespace error {
inline constexpr int32_t inconsistent = -2, marshalling = -5, unimplemented = -6, bad_arguments = -8, no_node = -101,
                         bad_version = -103, no_children_for_ephemerals = -108, node_exists = -110, not_empty = -111,
                         session_expired = -112, invalid_acl = -114, auth_failed = -115, session_moved = -118,
                         throttled = -127;
}

// What a watch tells.
struct Event {
  static constexpr int32_t created = 1, deleted = 2, changed = 3, children_changed = 4;
  int32_t type;
  std::string path;
};

struct Node {
  std::string data;
  int64_t czxid = 0;
  int64_t mzxid = 0;
  int64_t pzxid = 0;
  int64_t ctime = 0;  // ms since 1970
  int64_t mtime = 0;  // ms since 1970
  int32_t version = 0;
  int32_t creates = 0;  // of children, also of those that are gone: the next sequence number
  int64_t owner = 0;    // the session of an ephemeral node; 0: it is none
  bool container = false;
  std::set<std::string> children;  // their names

  void write_stat(RecordWriter& to) const;
  bool operator==(const Node&) const = default;
};

// One thing that a transaction does. Only valid changes are logged, so applying them cannot fail.
struct Change {
  enum class Kind { create, remove, set, check, open, close };
  Kind kind;
  int32_t type = 0;  // of the operation that asked for it
  std::string path = {};
  std::string data = {};
  int64_t owner = 0;  // create: of an ephemeral node; open and close: the session
  bool container = false;
  int32_t timeout = 0;  // open: ms
};

// The request that a transaction comes from, so that its server can answer it.
struct Origin {
  int server = -1;  // -1: none, as with an expiry
  uint64_t incarnation = 0;
  uint64_t connection = 0;  // its serial number
  uint64_t request = 0;
};

struct Txn {
  int64_t zxid = 0;
  int64_t ms = 0;  // since 1970, by the leader's clock
  int64_t session = 0;
  int32_t type = 0;
  std::vector<Change> changes = {};  // none if it has failed
  int32_t error = 0;                 // a multi: of the operation that failed
  std::vector<int32_t> errors = {};  // a multi: of each operation
  Origin origin = {};
  bool expiry = false;
};

class Tree {
 public:
  using OnEvent = std::function<void(const Event&)>;

  Tree();
  // Returns what each change answers, encoded. Calls `on_event`, which may be empty, for all that watches can tell.
  std::vector<std::string> apply(const Txn& txn, const OnEvent& on_event);
  // The same for one change; the zxid of the tree stays.
  std::string apply_one(const Txn& txn, const Change& change, const OnEvent& on_event);
  const Node* find(const std::string& path) const;

  std::map<std::string, Node> nodes;                    // by path
  std::map<int64_t, int32_t> sessions;                  // the timeouts that they were opened with, ms
  std::map<int64_t, std::set<std::string>> ephemerals;  // the paths, by session
  int64_t zxid = 0;                                     // of the last transaction applied

 private:
  std::string create(const Txn& txn, const Change& change, const OnEvent& on_event);
  void remove(const Txn& txn, const std::string& path, const OnEvent& on_event);
  std::string set(const Txn& txn, const Change& change, const OnEvent& on_event);
  void close(const Txn& txn, int64_t session, const OnEvent& on_event);
};

// "/" for "/a"; the path must have a slash.
std::string parent_of(const std::string& path);
std::string name_of(const std::string& path);

}  // namespace zklock::sim
