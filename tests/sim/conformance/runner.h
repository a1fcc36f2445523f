// SPDX-License-Identifier: Apache-2.0
// Does the steps of a sequence on one backend, and writes down what the servers tell each client.
#pragma once

#include "backend.h"
#include "steps.h"

#include <array>
#include <map>
#include <set>
#include <utility>

namespace zklock::sim {

// What was seen, with the number of the step. Sessions and zxids are numbered in the order in which they are seen,
// lists of children are sorted, and times are left out.
using Seen = std::vector<std::pair<size_t, std::string>>;

// A client's connection to a server, and what it must know to come back.
struct Session {
  std::unique_ptr<Channel> channel;  // null: it is not connected
  std::string inbox;
  int64_t id = 0;
  std::string password;
  int32_t xid = 0;
  int64_t zxid = 0;  // the last one seen
  int server = 0;
  std::set<std::string> data_watches, exist_watches, child_watches;

  // The next frame; empty if the connection has ended, nothing if none comes in time.
  std::optional<std::string> frame(int64_t within_ms = 10000);
  void send(std::string_view frame) const;
  void shake_hands(Backend& backend, int its_server, int64_t seen, int32_t timeout);
  // Takes session and password from a handshake's answer. Returns the timeout in ms.
  int32_t adopt(const std::string& answer);
};

class Runner {
 public:
  Runner(Backend& backend, std::string top) : backend_(backend), top_(std::move(top)) {}
  Seen run(const std::vector<Step>& steps);
  // How often a server has stood still until it had something else to do: ZOOKEEPER-4537, from 3.6 to 3.8.0.
  int prods() const { return prods_; }

 private:
  // Prods a server that seems to stand still by opening another session there.
  std::optional<std::string> next_frame(Session& session);
  void take(const Step& step);
  void open(Session& session, int server);
  void reconnect(Session& session, int server);
  void use_old(const Session& session, Session& old);
  void tell_watches(Session& session);
  void refused(Session& session, const Step& step);
  void ask(Session& session, const std::vector<Asked>& asked, bool unordered);
  // The session gets all that was committed before: by a transaction, because a sync through a leader does not wait.
  void catch_up(Session& session, bool unordered);
  void barrier(bool unordered);
  // Reads until all of these, by xid, are answered. Answers to quiet ones are not written down.
  void await(Session& session, std::vector<std::pair<int32_t, const Asked*>> waiting, bool unordered);
  void on_event(Session& session, const std::string& frame);
  void on_answer(Session& session, const Asked& asked, const std::string& frame);
  std::string result_text(int32_t type, class RecordReader& body);
  std::string stat_text(RecordReader& body);
  std::string multi_text(RecordReader& body);
  void keep_watch(Session& session, const Asked& asked, int32_t error);
  std::string zxid_text(int64_t zxid);
  std::string session_text(int64_t session);
  void see(const Session& session, const std::string& text);
  void flush_events(bool unordered);

  Backend& backend_;
  std::string top_;
  std::array<Session, kParties> sessions_;
  std::map<int64_t, size_t> zxids_;
  std::map<int64_t, size_t> session_numbers_;
  std::vector<std::string> events_;
  size_t step_ = 0;
  int prods_ = 0;
  Seen seen_;
};

}  // namespace zklock::sim
