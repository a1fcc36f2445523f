// SPDX-License-Identifier: Apache-2.0
// A simulated server as its clients see it: handshakes, requests in order, reads, watches.
#pragma once

#include "network.h"
#include "quorum.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace zklock::sim {

class Server : public Application {
 public:
  // All outlive it.
  Server(const EnsembleOptions& options, EnsembleCounters& counters, Quorum& quorum, Member& member);

  Listener::Reply on_connect(Connection& connection);
  void on_bytes(Connection& connection);
  void on_end(Connection& connection);
  // Its process dies, or its host without a word.
  void crash(bool silent);
  bool has(int64_t session) const;

  void on_event(const Event& event) override;
  void on_applied(const Txn& txn, const std::vector<std::string>& results) override;
  void on_stop() override;

 private:
  // A request that is not answered yet.
  struct Waiting {
    uint64_t id;
    int32_t xid;
    Request request;
    bool pending = false;  // the quorum has a say first
    int32_t error = 0;
    int64_t zxid = 0;
    std::string answer = {};
  };
  struct Client {
    std::shared_ptr<Connection> connection;
    bool greeted = false;  // its handshake has come
    bool ready = false;    // and is answered
    bool authenticated = false;
    bool wakes = false;  // its bytes are taken when the server goes on
    bool ended = false;  // by the client, while the server is paused
    int64_t session = 0;
    int32_t timeout = 0;  // ms
    std::deque<Waiting> queue = {};
    std::set<std::string> data_watches = {};
    std::set<std::string> child_watches = {};
  };

  // Null if the connection is closed.
  Client* find(uint64_t serial);
  std::vector<uint64_t> serials() const;
  void close(uint64_t serial);
  void give_up(const Client& client) const;
  static void send(const Client& client, std::string_view frame);

  void wake(Client& client);
  // Answers a four-letter word and closes the connection, which may be gone then. Returns false if none has come.
  bool take_word(const Client& client);
  std::string reply_to(const std::string& word) const;
  // Takes the next whole frame from what has come. Returns false if there is none; the connection may be closed then.
  bool take_frame(Client& client, std::string& frame);
  void take(Client& client, const std::string& frame);
  // Returns true if it has answered; the connection may be closed then.
  bool answer_at_once(Client& client, int32_t xid, const Request& request);
  void forward(Client& client, Waiting& waiting);
  // Answers what can be answered, in the order of the requests. The client may be gone then.
  void answer(uint64_t serial);
  void answer_one(Client& client, Waiting& waiting);
  void on_answered(const Txn& txn, const std::vector<std::string>& results);

  void greet(Client& client, const std::string& frame);
  void renew(Client& client, int64_t session, int32_t timeout, const std::string& password);
  void answer_greeting(uint64_t serial, int64_t session, bool valid);

  void read(Client& client, Waiting& waiting);
  void read_node(Client& client, Waiting& waiting, RecordWriter& answer);
  void list_children(const Node& node, RecordWriter& answer);
  void set_watches(Client& client, const Request& request);

  const EnsembleOptions& options_;
  EnsembleCounters& counters_;
  Quorum& quorum_;
  Member& member_;
  std::map<uint64_t, Client> clients_;  // by the serial number of the connection
  uint64_t last_request_ = 0;
};

}  // namespace zklock::sim
