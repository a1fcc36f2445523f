// SPDX-License-Identifier: Apache-2.0
#include "server.h"

#include <algorithm>
#include <utility>

namespace zklock::sim {

namespace {

constexpr int32_t kNewestOfOld = op::multi;  // 3.4 has no later ones but auth and set_watches

bool is_known(int32_t type, bool old) {
  if (type == op::auth || type == op::set_watches || type == op::close) return true;
  if (old && type > kNewestOfOld) return false;
  return is_txn(type) || type == op::exists || type == op::get || type == op::children || type == op::children2 ||
         type == op::sync || type == op::ping;
}

bool is_read(int32_t type) {
  return !is_txn(type) && type != op::ping && type != op::set_watches;
}

void add_result(RecordWriter& to, int32_t type, int32_t error, std::string_view result) {
  to.i32(type).boolean(false).i32(error);
  to.out += result;
}

// Creates that answer with a Stat have all the same type.
int32_t result_type(int32_t type) {
  return type == op::container ? op::create2 : type;
}

// A multi that has failed is answered with an error for each operation, 0 for those before the one to blame.
std::string multi_answer(const Txn& txn, const std::vector<std::string>& results) {
  RecordWriter answer;
  if (txn.error != 0) {
    for (const int32_t error : txn.errors) add_result(answer, op::failed, error, RecordWriter().i32(error).out);
  } else {
    for (size_t i = 0; i < results.size(); ++i) add_result(answer, result_type(txn.changes[i].type), 0, results[i]);
  }
  return std::move(answer.i32(-1).boolean(true).i32(-1).out);
}

}  // namespace

Server::Server(const EnsembleOptions& options, EnsembleCounters& counters, Quorum& quorum, Member& member)
    : options_(options), counters_(counters), quorum_(quorum), member_(member) {
  member.application = this;
}

Server::Client* Server::find(uint64_t serial) {
  const auto found = clients_.find(serial);
  return found == clients_.end() ? nullptr : &found->second;
}

std::vector<uint64_t> Server::serials() const {
  std::vector<uint64_t> list;
  for (const auto& [serial, client] : clients_) list.push_back(serial);
  return list;
}

bool Server::has(int64_t session) const {
  return std::any_of(clients_.begin(), clients_.end(),
                     [&](const auto& entry) { return entry.second.session == session && entry.second.ready; });
}

Listener::Reply Server::on_connect(Connection& connection) {
  if (!member_.up) return member_.silent ? Listener::Reply::silence : Listener::Reply::refuse;
  connection.incarnation = member_.incarnation;
  clients_[connection.serial].connection = connection.shared_from_this();
  return Listener::Reply::accept;
}

void Server::close(uint64_t serial) {
  const auto found = clients_.find(serial);
  if (found == clients_.end()) return;
  const auto connection = std::move(found->second.connection);
  clients_.erase(found);
  connection->close_down();
}

// A paused server still takes what had come before the end.
void Server::on_end(Connection& connection) {
  Client* client = find(connection.serial);
  if (!client) return;
  client->ended = true;
  if (!client->wakes) clients_.erase(connection.serial);
}

void Server::crash(bool silent) {
  for (const uint64_t serial : serials()) {
    if (silent) clients_[serial].connection->lose_server();
    give_up(clients_[serial]);
    close(serial);
  }
}

void Server::on_stop() {
  for (const uint64_t serial : serials()) {
    give_up(clients_[serial]);
    close(serial);
  }
}

void Server::give_up(const Client& client) const {
  if (!options_.gives_up) return;
  for (const Waiting& waiting : client.queue) {
    send(client, RecordWriter().i32(waiting.xid).i64(0).i32(error::session_expired).out);
  }
}

void Server::send(const Client& client, std::string_view frame) {
  client.connection->send_down(RecordWriter().text(frame).out);
}

void Server::wake(Client& client) {
  if (std::exchange(client.wakes, true)) return;
  const Time span = std::min<Time>(member_.paused_until - world->now, 10 * ms) + world->random.below(3 * ms);
  world->in(span, [this, connection = client.connection] {
    Client* waiting = find(connection->serial);
    if (!waiting) return;
    waiting->wakes = false;
    on_bytes(*connection);
    waiting = find(connection->serial);
    if (waiting && waiting->ended && !waiting->wakes) clients_.erase(connection->serial);
  });
}

void Server::on_bytes(Connection& connection) {
  const auto self = connection.shared_from_this();
  std::string frame;
  for (;;) {
    Client* client = find(self->serial);
    if (!client) return;
    if (member_.paused_until > world->now) return wake(*client);
    if (take_word(*client) || !take_frame(*client, frame)) return;
    if (member_.state == Member::State::looking) return close(self->serial);
    client->greeted ? take(*client, frame) : greet(*client, frame);
  }
}

bool Server::take_frame(Client& client, std::string& frame) {
  std::string& bytes = client.connection->unread;
  if (bytes.size() < 4 || (client.greeted && !client.ready)) return false;
  const int32_t size = RecordReader(bytes).i32();
  if (size < 0 || static_cast<size_t>(size) > options_.jute_maxbuffer) {
    close(client.connection->serial);
    return false;
  }
  const size_t end = 4 + static_cast<size_t>(size);
  if (bytes.size() < end) return false;
  frame = bytes.substr(4, end - 4);
  bytes.erase(0, end);
  return true;
}

void Server::take(Client& client, const std::string& frame) {
  ++counters_.requests;
  RecordReader reader(frame);
  const int32_t xid = reader.i32();
  Request request{reader.i32(), "", client.session, client.authenticated};
  request.body = reader.rest();
  const uint64_t serial = client.connection->serial;
  request.origin = {member_.id, member_.incarnation, serial, ++last_request_};
  if (world->traces) {
    note("  host {} session {:#x} server {}: {} type {}", client.connection->client, client.session, member_.id, xid,
         request.type);
  }
  // A leader drops requests of a session that it is about to close.
  const bool renews = request.type != op::auth && (!options_.slow_pings || !is_read(request.type));
  if (renews && !quorum_.touch(member_, client.session, client.timeout)) return;
  if (answer_at_once(client, xid, request)) return;
  client.queue.push_back({last_request_, xid, std::move(request)});
  forward(client, client.queue.back());
  answer(serial);
}

// These overtake requests that wait.
bool Server::answer_at_once(Client& client, int32_t xid, const Request& request) {
  int32_t error = 0;
  if (request.type == op::auth) {
    RecordReader body(request.body);
    body.i32();
    client.authenticated = body.text() == "digest";
    error = client.authenticated ? 0 : error::auth_failed;
  } else if (!is_known(request.type, options_.old)) {
    error = error::unimplemented;
  } else {
    return false;
  }
  send(client, RecordWriter().i32(xid).i64(request.type == op::auth ? 0 : -1).i32(error).out);
  if (error != 0) close(client.connection->serial);
  return true;
}

// `waiting` may be answered, and gone, when it returns.
void Server::forward(Client& client, Waiting& waiting) {
  const int32_t type = waiting.request.type;
  if (type != op::ping && type != op::close && world->random.chance(options_.throttles)) {
    waiting.error = error::throttled;
  } else if (is_txn(type)) {
    waiting.pending = true;
    quorum_.submit(member_, waiting.request);
  } else if (type == op::sync) {
    waiting.pending = true;
    quorum_.sync(member_, [this, serial = client.connection->serial, id = waiting.id] {
      Client* present = find(serial);
      if (!present) return;
      for (Waiting& one : present->queue) {
        if (one.id == id) one.pending = false;
      }
      answer(serial);
    });
  } else if (member_.state == Member::State::leading) {
    waiting.error = member_.sessions.check(client.session, member_.id);
  }
}

void Server::on_applied(const Txn& txn, const std::vector<std::string>& results) {
  const bool ours = txn.origin.server == member_.id && txn.origin.incarnation == member_.incarnation;
  if (txn.type == op::close) {
    for (const uint64_t serial : serials()) {
      const bool asked = ours && txn.origin.connection == serial;
      if (clients_[serial].session == txn.session && !asked) close(serial);
    }
  }
  if (!ours) return;
  if (txn.type == op::open) return answer_greeting(txn.origin.connection, txn.session, true);
  on_answered(txn, results);
}

void Server::on_answered(const Txn& txn, const std::vector<std::string>& results) {
  Client* client = find(txn.origin.connection);
  if (!client) return;
  for (Waiting& waiting : client->queue) {
    if (waiting.id != txn.origin.request) continue;
    waiting.pending = false;
    waiting.error = txn.error;
    waiting.zxid = txn.zxid;
    const bool moved = txn.error == error::session_moved && options_.moved_closes;
    if (txn.type == op::multi && !moved && txn.error != error::marshalling) {
      waiting.error = 0;
      waiting.answer = multi_answer(txn, results);
    } else if (!results.empty()) {
      waiting.answer = results[0];
    }
  }
  answer(txn.origin.connection);
}

void Server::answer(uint64_t serial) {
  for (;;) {
    Client* client = find(serial);
    if (!client || client->queue.empty() || client->queue.front().pending) return;
    Waiting waiting = std::move(client->queue.front());
    client->queue.pop_front();
    if (waiting.error == error::session_moved) return close(serial);
    answer_one(*client, waiting);
    if (waiting.request.type == op::close) return close(serial);
  }
}

void Server::answer_one(Client& client, Waiting& waiting) {
  if (!is_txn(waiting.request.type) || waiting.error == error::throttled) waiting.zxid = member_.tree.zxid;
  if (!is_txn(waiting.request.type) && waiting.error == 0) read(client, waiting);
  RecordWriter answer;
  answer.i32(waiting.xid).i64(waiting.zxid).i32(waiting.error);
  if (waiting.error == 0) answer.out += waiting.answer;
  if (world->traces) {
    note("  host {} session {:#x} server {}: {} type {} answered {} zxid {:#x}", client.connection->client,
         client.session, member_.id, waiting.xid, waiting.request.type, waiting.error, waiting.zxid);
  }
  send(client, answer.out);
}

}  // namespace zklock::sim
