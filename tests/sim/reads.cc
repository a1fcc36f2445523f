// SPDX-License-Identifier: Apache-2.0
// Server's handshakes, reads and watches.
#include "server.h"

#include <algorithm>
#include <array>
#include <utility>

namespace zklock::sim {

namespace {

constexpr size_t kPasswordSize = 16;
constexpr int32_t kEventsState = 3;  // the state in an event
constexpr int32_t kEventXid = -1;

std::string password_of(int64_t session) {
  std::string password(kPasswordSize, 'p');
  for (size_t i = 0; i < sizeof session; ++i) password[i] = static_cast<char>(session >> (8 * i));
  return password;
}

std::string encoded(const Event& event) {
  return RecordWriter().i32(kEventXid).i64(-1).i32(0).i32(event.type).i32(kEventsState).text(event.path).out;
}

std::vector<std::string> read_list(RecordReader& body) {
  std::vector<std::string> list;
  for (int32_t left = body.i32(); left > 0 && body.good(); --left) list.push_back(body.text());
  return list;
}

}  // namespace

void Server::greet(Client& client, const std::string& frame) {
  RecordReader body(frame);
  body.i32();
  const int64_t seen = body.i64();
  const int32_t wanted = body.i32();
  const int64_t session = body.i64();
  const std::string password = body.text();
  const uint64_t serial = client.connection->serial;
  if (!body.good()) return close(serial);
  client.greeted = true;
  if (seen > member_.tree.zxid) {
    note("server {} refuses host {}, which has seen more", member_.id, client.connection->client);
    return close(serial);
  }
  client.timeout = std::clamp(wanted, options_.min_timeout, options_.max_timeout);
  if (session != 0) return renew(client, session, client.timeout, password);
  quorum_.open_session(member_, {member_.id, member_.incarnation, serial, 0}, client.timeout);
}

// What an older connection of the session has sent here and is not taken yet is never done.
void Server::renew(Client& client, int64_t session, int32_t timeout, const std::string& password) {
  const uint64_t own = client.connection->serial;
  for (const uint64_t serial : serials()) {
    if (serial != own && clients_[serial].session == session) close(serial);
  }
  if (password != password_of(session)) return answer_greeting(own, session, false);
  client.session = session;
  quorum_.renew_session(member_, session, timeout,
                        [this, own, session](bool valid) { answer_greeting(own, session, valid); });
}

void Server::answer_greeting(uint64_t serial, int64_t session, bool valid) {
  Client* client = find(serial);
  if (!client) return;
  RecordWriter answer;
  answer.i32(0).i32(valid ? client->timeout : 0).i64(valid ? session : 0);
  answer.text(valid ? password_of(session) : std::string(kPasswordSize, '\0'));
  if (!options_.old) answer.boolean(false);
  send(*client, answer.out);
  if (!valid) return close(serial);
  client->session = session;
  client->ready = true;
  if (!client->connection->unread.empty()) on_bytes(*client->connection);
}

void Server::read(Client& client, Waiting& waiting) {
  RecordWriter answer;
  if (waiting.request.type == op::set_watches) {
    set_watches(client, waiting.request);
  } else if (waiting.request.type == op::sync) {
    answer.text(RecordReader(waiting.request.body).text());
  } else if (waiting.request.type != op::ping) {
    read_node(client, waiting, answer);
  }
  waiting.answer = std::move(answer.out);
}

// A node that does not exist can only be watched by exists.
void Server::read_node(Client& client, Waiting& waiting, RecordWriter& answer) {
  RecordReader body(waiting.request.body);
  const std::string path = body.text();
  const bool watches = body.boolean();
  const int32_t type = waiting.request.type;
  const Node* node = member_.tree.find(path);
  const bool lists = type == op::children || type == op::children2;
  if (watches && (node || type == op::exists)) (lists ? client.child_watches : client.data_watches).insert(path);
  if (!node) {
    waiting.error = error::no_node;
    return;
  }
  if (lists) list_children(*node, answer);
  if (type == op::get) answer.text(node->data);
  if (type != op::children) node->write_stat(answer);
}

// In no order, as with real servers.
void Server::list_children(const Node& node, RecordWriter& answer) {
  std::vector<std::string> names(node.children.begin(), node.children.end());
  for (size_t i = names.size(); i > 1; --i) {
    std::swap(names[i - 1], names[static_cast<size_t>(world->random.below(static_cast<int64_t>(i)))]);
  }
  answer.i32(static_cast<int32_t>(names.size()));
  for (const std::string& name : names) answer.text(name);
}

// After a reconnect: what has changed since the given zxid is told at once, the rest is watched.
void Server::set_watches(Client& client, const Request& request) {
  RecordReader body(request.body);
  const int64_t since = body.i64();
  for (const std::string& path : read_list(body)) {
    const Node* node = member_.tree.find(path);
    if (node && node->mzxid <= since) {
      client.data_watches.insert(path);
    } else {
      send(client, encoded({node ? Event::changed : Event::deleted, path}));
    }
  }
  for (const std::string& path : read_list(body)) {
    if (member_.tree.find(path)) {
      send(client, encoded({Event::created, path}));
    } else {
      client.data_watches.insert(path);
    }
  }
  for (const std::string& path : read_list(body)) {
    const Node* node = member_.tree.find(path);
    if (node && node->pzxid <= since) {
      client.child_watches.insert(path);
    } else {
      send(client, encoded({node ? Event::children_changed : Event::deleted, path}));
    }
  }
}

// A client that watches a node and its children hears of the node's end only once.
void Server::on_event(const Event& event) {
  const std::string parent = event.path == "/" ? "" : parent_of(event.path);
  for (auto& [serial, client] : clients_) {
    bool hit = client.data_watches.erase(event.path) > 0;
    if (event.type == Event::deleted) hit |= client.child_watches.erase(event.path) > 0;
    if (hit) send(client, encoded(event));
    if (event.type != Event::changed && client.child_watches.erase(parent) > 0) {
      send(client, encoded({Event::children_changed, parent}));
    }
  }
}

}  // namespace zklock::sim
