// SPDX-License-Identifier: Apache-2.0
#include "prepare.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace zklock::sim {

namespace {

constexpr int32_t kEphemeral = 1, kSequential = 2, kEphemeralSequential = 3, kContainer = 4, kLastWithoutTtl = 4;
constexpr int32_t kLastFlag = 6;
constexpr int32_t kAnyVersion = -1;

// One operation, alone or in a multi, as it was asked for.
struct Operation {
  int32_t type = 0;
  std::string path = {};
  std::string data = {};
  int32_t version = kAnyVersion;
  int32_t flags = 0;
  bool acl_valid = true;
};

bool is_create(int32_t type) {
  return type == op::create || type == op::create2 || type == op::container || type == op::create_ttl;
}

bool read_acl(RecordReader& body, bool authenticated) {
  const int32_t count = body.i32();
  bool valid = count > 0;
  for (int32_t i = 0; i < count && body.good(); ++i) {
    body.i32();
    const std::string scheme = body.text();
    const std::string id = body.text();
    const bool known = scheme == "digest" || scheme == "ip" || scheme == "x509" || scheme == "sasl";
    valid = valid && (scheme == "auth" ? authenticated : known || (scheme == "world" && id == "anyone"));
  }
  return valid;
}

// Nothing if it is malformed, or none that a multi may have.
std::optional<Operation> read_operation(int32_t type, RecordReader& body, bool authenticated) {
  Operation operation{type, body.text()};
  if (is_create(type)) {
    operation.data = body.text();
    operation.acl_valid = read_acl(body, authenticated);
    operation.flags = body.i32();
    if (type == op::create_ttl) body.i64();
  } else if (type == op::set) {
    operation.data = body.text();
    operation.version = body.i32();
  } else if (type == op::remove || type == op::check) {
    operation.version = body.i32();
  } else if (type != op::remove_container) {
    return {};
  }
  if (!body.good()) return {};
  return operation;
}

bool is_control(const std::string& path, size_t at) {
  const auto byte = static_cast<unsigned char>(path[at]);
  const auto before = static_cast<unsigned char>(at > 0 ? path[at - 1] : 0);
  return byte < 0x20 || byte == 0x7f || (before == 0xc2 && byte < 0xa0);
}

bool is_valid_path(const std::string& path) {
  if (!path.starts_with('/')) return false;
  if (path == "/") return true;
  size_t begin = 1;
  while (begin <= path.size()) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    if (name.empty() || name == "." || name == "..") return false;
    begin = end + 1;
  }
  for (size_t i = 0; i < path.size(); ++i) {
    if (is_control(path, i)) return false;
  }
  return true;
}

bool is_special(const std::string& path) {
  return path == "/" || path == "/zookeeper" || path == "/zookeeper/quota" || path == "/zookeeper/config";
}

int32_t prepare_create(const Tree& tree, const Operation& asked, int64_t session, Change& change) {
  if (asked.flags < 0 || asked.flags > kLastFlag) return error::bad_arguments;
  std::string path = asked.path;
  if (path.find('/') == std::string::npos) return error::bad_arguments;
  const bool sequential = asked.flags == kSequential || asked.flags == kEphemeralSequential;
  if (!asked.acl_valid) return error::invalid_acl;
  const Node* parent = tree.find(parent_of(path));
  if (!parent) return error::no_node;
  if (sequential) path += fmt::format("{:010}", parent->creates);
  if (!is_valid_path(path)) return error::bad_arguments;
  if (tree.find(path)) return error::node_exists;
  if (parent->owner != 0) return error::no_children_for_ephemerals;
  const bool ephemeral = asked.flags == kEphemeral || asked.flags == kEphemeralSequential;
  change = {Change::Kind::create, asked.type, path, asked.data, ephemeral ? session : 0, asked.type == op::container};
  return 0;
}

int32_t prepare_remove(const Tree& tree, const Operation& asked, Change& change) {
  if (asked.path.find('/') == std::string::npos || is_special(asked.path)) return error::bad_arguments;
  const Node* node = tree.find(asked.path);
  if (!node) return error::no_node;
  if (asked.version != kAnyVersion && asked.version != node->version) return error::bad_version;
  if (!node->children.empty()) return error::not_empty;
  if (asked.type == op::remove_container && node->owner != 0) return error::bad_version;
  change = {Change::Kind::remove, asked.type, asked.path};
  return 0;
}

int32_t prepare_version(const Tree& tree, const Operation& asked, Change& change) {
  if (!is_valid_path(asked.path)) return error::bad_arguments;
  const Node* node = tree.find(asked.path);
  if (!node) return error::no_node;
  if (asked.version != kAnyVersion && asked.version != node->version) return error::bad_version;
  change = {asked.type == op::set ? Change::Kind::set : Change::Kind::check, asked.type, asked.path, asked.data};
  return 0;
}

// Returns 0 and fills `change`, or returns the error.
int32_t prepare_one(const Tree& tree, Operation asked, int64_t session, int32_t session_error, Change& change) {
  if (is_create(asked.type) && asked.flags > kLastWithoutTtl && asked.flags <= kLastFlag) return error::unimplemented;
  if (asked.type == op::remove_container) return prepare_remove(tree, asked, change);
  if (session_error != 0) return session_error;
  if (is_create(asked.type)) return prepare_create(tree, asked, session, change);
  return asked.type == op::remove ? prepare_remove(tree, asked, change) : prepare_version(tree, asked, change);
}

// Returns what takes a change back that is about to be applied, without a copy of the parent's children.
std::function<void()> undo_of(Tree& tree, const Change& change) {
  if (change.kind == Change::Kind::check) return [] {};
  if (change.kind == Change::Kind::set) {
    return [&tree, path = change.path, old = tree.nodes.at(change.path)] { tree.nodes[path] = old; };
  }
  const std::string above = parent_of(change.path);
  const int64_t pzxid = tree.nodes.at(above).pzxid;
  if (change.kind == Change::Kind::create) {
    return [&tree, above, pzxid, path = change.path, owner = change.owner] {
      Node& parent = tree.nodes.at(above);
      parent.children.erase(name_of(path));
      --parent.creates;
      parent.pzxid = pzxid;
      tree.nodes.erase(path);
      if (owner != 0) tree.ephemerals[owner].erase(path);
    };
  }
  return [&tree, above, pzxid, path = change.path, old = tree.nodes.at(change.path)] {
    Node& parent = tree.nodes.at(above);
    parent.children.insert(name_of(path));
    parent.pzxid = pzxid;
    if (old.owner != 0) tree.ephemerals[old.owner].insert(path);
    tree.nodes[path] = old;
  };
}

// Returns the operations of a multi; nothing if it is malformed.
std::optional<std::vector<Operation>> read_multi(RecordReader& body, bool authenticated) {
  std::vector<Operation> operations;
  for (;;) {
    int32_t type = body.i32();
    const bool done = body.boolean();
    body.i32();
    if (!body.good()) return {};
    if (done) return operations;
    std::optional<Operation> operation = read_operation(type, body, authenticated);
    if (!operation) return {};
    // In a multi the flag alone decides (up to ZooKeeper 3.8): create2 answers as create does.
    if (type == op::create || type == op::create2) {
      operation->type = operation->flags == kContainer ? op::container : op::create;
    }
    operations.push_back(std::move(*operation));
  }
}

// Each operation sees what those before it have done.
void prepare_multi(Tree& tree, const Request& request, int32_t session_error, Txn& txn) {
  RecordReader body(request.body);
  const auto operations = read_multi(body, request.authenticated);
  if (!operations) {
    txn.error = error::marshalling;
    return;
  }
  std::vector<std::function<void()>> undo;
  for (const Operation& operation : *operations) {
    if (txn.error != 0) {
      txn.errors.push_back(error::inconsistent);
      continue;
    }
    Change change{};
    txn.error = prepare_one(tree, operation, request.session, session_error, change);
    txn.errors.push_back(txn.error);
    if (txn.error != 0) continue;
    undo.push_back(undo_of(tree, change));
    tree.apply_one(txn, change, {});
    txn.changes.push_back(std::move(change));
  }
  for (auto step = undo.rbegin(); step != undo.rend(); ++step) (*step)();
  if (txn.error != 0) txn.changes.clear();
}

}  // namespace

bool is_txn(int32_t type) {
  return is_create(type) || type == op::remove || type == op::set || type == op::multi || type == op::check ||
         type == op::close;
}

Txn prepare(Tree& outstanding, const Request& request, int32_t session_error) {
  Txn txn;
  txn.session = request.session;
  txn.type = request.type;
  txn.origin = request.origin;
  if (request.type == op::close) {
    txn.changes = {{Change::Kind::close, op::close, "", "", request.session}};
  } else if (request.type == op::multi) {
    prepare_multi(outstanding, request, session_error, txn);
  } else {
    RecordReader body(request.body);
    const auto operation = read_operation(request.type, body, request.authenticated);
    Change change{};
    txn.error = error::marshalling;
    if (operation) txn.error = prepare_one(outstanding, *operation, request.session, session_error, change);
    if (txn.error == 0) txn.changes.push_back(std::move(change));
  }
  return txn;
}

}  // namespace zklock::sim
