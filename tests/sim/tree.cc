// SPDX-License-Identifier: Apache-2.0
#include "tree.h"

#include <utility>

namespace zklock::sim {

std::string parent_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string name_of(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// The number of changes of the children is shown, not that of creates: each child that is gone counts twice.
void Node::write_stat(RecordWriter& to) const {
  const auto count = static_cast<int32_t>(children.size());
  to.i64(czxid).i64(mzxid).i64(ctime).i64(mtime).i32(version).i32(2 * creates - count).i32(0).i64(owner);
  to.i32(static_cast<int32_t>(data.size())).i32(count).i64(pzxid);
}

// A real server makes its own nodes without transactions, so they do not count as creates.
Tree::Tree() {
  nodes["/"].children = {"zookeeper"};
  nodes["/zookeeper"].children = {"config", "quota"};
  nodes["/zookeeper/config"];
  nodes["/zookeeper/quota"];
}

const Node* Tree::find(const std::string& path) const {
  const auto found = nodes.find(path);
  return found == nodes.end() ? nullptr : &found->second;
}

std::vector<std::string> Tree::apply(const Txn& txn, const OnEvent& on_event) {
  std::vector<std::string> results;
  for (const Change& change : txn.changes) results.push_back(apply_one(txn, change, on_event));
  zxid = txn.zxid;
  return results;
}

std::string Tree::apply_one(const Txn& txn, const Change& change, const OnEvent& on_event) {
  switch (change.kind) {
    case Change::Kind::create: return create(txn, change, on_event);
    case Change::Kind::remove: remove(txn, change.path, on_event); break;
    case Change::Kind::set: return set(txn, change, on_event);
    case Change::Kind::check: break;
    case Change::Kind::open: sessions[change.owner] = change.timeout; break;
    case Change::Kind::close: close(txn, change.owner, on_event); break;
  }
  return "";
}

std::string Tree::create(const Txn& txn, const Change& change, const OnEvent& on_event) {
  Node& parent = nodes.at(parent_of(change.path));
  parent.children.insert(name_of(change.path));
  ++parent.creates;
  parent.pzxid = txn.zxid;
  Node node;
  node.data = change.data;
  node.czxid = node.mzxid = node.pzxid = txn.zxid;
  node.ctime = node.mtime = txn.ms;
  node.owner = change.owner;
  node.container = change.container;
  if (change.owner != 0) ephemerals[change.owner].insert(change.path);
  RecordWriter result;
  result.text(change.path);
  if (change.type != op::create) node.write_stat(result);
  nodes[change.path] = std::move(node);
  if (on_event) on_event({Event::created, change.path});
  return std::move(result.out);
}

void Tree::remove(const Txn& txn, const std::string& path, const OnEvent& on_event) {
  const auto found = nodes.find(path);
  if (found->second.owner != 0) ephemerals[found->second.owner].erase(path);
  nodes.erase(found);
  Node& parent = nodes.at(parent_of(path));
  parent.children.erase(name_of(path));
  parent.pzxid = txn.zxid;
  if (on_event) on_event({Event::deleted, path});
}

std::string Tree::set(const Txn& txn, const Change& change, const OnEvent& on_event) {
  Node& node = nodes.at(change.path);
  node.data = change.data;
  node.mzxid = txn.zxid;
  node.mtime = txn.ms;
  ++node.version;
  RecordWriter result;
  node.write_stat(result);
  if (on_event) on_event({Event::changed, change.path});
  return std::move(result.out);
}

void Tree::close(const Txn& txn, int64_t session, const OnEvent& on_event) {
  const std::set<std::string> paths = ephemerals[session];
  for (const std::string& path : paths) remove(txn, path, on_event);
  ephemerals.erase(session);
  sessions.erase(session);
}

}  // namespace zklock::sim
