// SPDX-License-Identifier: Apache-2.0
// A TCP proxy on loopback that stands for a failing network: it can fall silent, lose answers, break connections. It
// has its own thread, so it works while the test's thread is inside the loop under test.
#pragma once

#include "host/fd.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace zklock::test {

// The protocol's numbers of requests.
namespace opcode {
inline constexpr int kEnd = -11, kRemove = 2, kExists = 3, kRead = 4, kWrite = 5, kSync = 9, kPing = 11, kChildren = 12,
                     kTransaction = 14, kCreate = 15, kContainer = 19;
}

class FaultProxy {
 public:
  // Relays to `target` ("127.0.0.1:2181"); listens on `host` ("127.0.0.1" or "::1") and a free port.
  explicit FaultProxy(const std::string& target, const std::string& host = "127.0.0.1");
  FaultProxy(const FaultProxy&) = delete;
  ~FaultProxy();

  const std::string& address() const { return address_; }

  enum class Mode {
    pass,         // everything, both ways
    silent,       // nothing, either way; new connections are accepted and get no answer
    lose_answers  // requests reach the server, its answers are thrown away
  };
  void set(Mode mode) { mode_ = mode; }

  // Closes every connection to the client; the server still reads what was sent to it. With `then_refuse`, closes new
  // connections at once.
  void cut(bool then_refuse = false);
  void accept_again() { refuse_ = false; }

  // The next request reaches the server; its answer does not reach the client, whose connection is closed.
  void lose_next_answer() { lose_next_ = true; }

  // Does the same to the next request with that opcode.
  void lose_answer_to(int op) { lose_answer_to_ = op; }

  // Passes the next request with that opcode to the server, and then sets the mode `silent`. So the answer waits until
  // the mode changes.
  void fall_silent_after(int op) { silent_after_ = op; }
  bool is_silent() const { return mode_ == Mode::silent; }

  // Passes the next request with that opcode to the server. No answer reaches the client until it sends something more,
  // and that does not reach the server.
  void keep_answer_to(int op) { keep_answer_to_ = op; }

  // Breaks the connection before the next request with that opcode reaches the server, and closes new ones at once.
  void break_before(int op) { break_before_ = op; }
  bool is_refusing() const { return refuse_; }

  // Passes the next request with that opcode to the server; the client gets `error` as the answer.
  void answer_with(int op, int error);

  // Keeps all events about changed nodes from the client.
  void swallow_events() { swallow_events_ = true; }

  // Each new connection is granted this session timeout.
  void grant(std::chrono::milliseconds timeout) { granted_ms_ = static_cast<int>(timeout.count()); }

  // Refuses connections that resume a session, and accepts new sessions.
  void refuse_resumed(bool refused) { refuse_resumed_ = refused; }

  // Refuses connections that resume that session; 0: none.
  void refuse_session(int64_t id) { refused_session_ = id; }

  // Answers each resumed session that it has expired, though it lives.
  void expire_resumed(bool expired) { expire_resumed_ = expired; }

  int accepted() const { return accepted_; }  // connections, ever
  int lost() const { return lost_; }          // answers thrown away by lose_next_answer()
  int requests(int op) const;                 // with that opcode, ever
  int new_sessions() const { return new_sessions_; }

 private:
  // A request, as far as it matters here. The first one of a connection is the handshake.
  struct Request {
    bool first = false;
    std::array<unsigned char, 24> head{};
    int number(size_t at) const;
    int64_t session() const;  // named by the handshake; 0: none
  };

  // The position in a stream of length-prefixed messages: the C client sends a message in two pieces.
  class Framing {
   public:
    // Returns the requests that have become complete.
    std::vector<Request> pass(const char* bytes, size_t length);
    bool at_boundary() const { return header_ == 0 && body_ == 0; }

   private:
    size_t header_ = 0;  // bytes of the length seen
    uint32_t length_ = 0;
    size_t body_ = 0;  // bytes still to come
    Request request_{true, {}};
  };
  struct Pair {
    host::Fd client;
    host::Fd server;
    Framing requests;
    std::string answers = {};        // the received part of an incomplete answer
    bool resumed = false;            // the handshake names a session
    bool kept = false;               // answers wait for another request
    bool greeted = false;            // the handshake's answer has come
    std::map<int, int> failed = {};  // errors, by the number of the request that is to fail
  };

  void run();
  void accept_one();
  void relay(Pair& pair, bool client_ready, bool server_ready);
  void take_requests(Pair& pair);
  void note(Pair& pair, const Request& request);
  bool is_to_break(const std::vector<Request>& requests);
  void take_answers(Pair& pair);
  std::string answer_of(Pair& pair, std::string frame);

  std::string target_;
  std::string address_;
  host::Fd listener_;
  std::atomic<Mode> mode_{Mode::pass};
  std::atomic<bool> refuse_{false};
  std::atomic<bool> lose_next_{false};
  std::atomic<bool> end_{false};
  std::atomic<int> accepted_{0};
  std::atomic<int> lost_{0};
  std::atomic<int> lose_answer_to_{0};
  std::atomic<int> silent_after_{0};
  std::atomic<int> keep_answer_to_{0};
  std::atomic<int> break_before_{0};
  std::atomic<bool> swallow_events_{false};
  std::atomic<int> granted_ms_{0};
  std::atomic<bool> refuse_resumed_{false};
  std::atomic<int64_t> refused_session_{0};
  std::atomic<bool> expire_resumed_{false};
  std::atomic<int> new_sessions_{0};
  mutable std::mutex mutex_;
  std::map<int, int> requests_;  // by opcode
  std::map<int, int> errors_;    // by opcode: the answer to the next one
  std::vector<Pair> pairs_;
  std::thread thread_;
};

}  // namespace zklock::test
