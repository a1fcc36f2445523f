// SPDX-License-Identifier: Apache-2.0
// A TCP proxy on loopback that stands for a network that fails: it can fall silent, lose answers, break connections.
// Runs in a thread of its own, so that it works while the test's thread is inside the loop under test.
#pragma once

#include "host/fd.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace zklock::test {

class FaultProxy {
 public:
  // To `target` ("127.0.0.1:2181"), listening on `host` ("127.0.0.1" or "::1") and a free port.
  explicit FaultProxy(const std::string& target, const std::string& host = "127.0.0.1");
  FaultProxy(const FaultProxy&) = delete;
  ~FaultProxy();

  const std::string& address() const { return address_; }

  enum class Mode {
    pass,         // everything, both ways
    silent,       // nothing, neither way; new connections are taken and get no answer
    lose_answers  // requests reach the server, its answers are thrown away
  };
  void set(Mode mode) { mode_ = mode; }

  // Closes every connection to the client, while the server goes on reading what was sent to it. With `then_refuse`
  // new connections are closed at once.
  void cut(bool then_refuse = false);
  void accept_again() { refuse_ = false; }

  // The next request reaches the server; its answer does not reach the client, whose connection is closed.
  void lose_next_answer() { lose_next_ = true; }

  int accepted() const { return accepted_; }  // connections, ever
  int lost() const { return lost_; }          // answers thrown away by lose_next_answer()

 private:
  // Where a stream of length-prefixed messages is: the C client sends a message in two pieces.
  class Framing {
   public:
    void pass(const char* bytes, size_t length);
    bool at_boundary() const { return header_ == 0 && body_ == 0; }

   private:
    size_t header_ = 0;  // bytes of the length seen
    uint32_t length_ = 0;
    size_t body_ = 0;  // bytes still to come
  };
  struct Pair {
    host::Fd client;
    host::Fd server;
    Framing requests;
  };

  void run();
  void accept_one();
  void relay(Pair& pair, bool client_ready, bool server_ready);

  std::string target_;
  std::string address_;
  host::Fd listener_;
  std::atomic<Mode> mode_{Mode::pass};
  std::atomic<bool> refuse_{false};
  std::atomic<bool> lose_next_{false};
  std::atomic<bool> end_{false};
  std::atomic<int> accepted_{0};
  std::atomic<int> lost_{0};
  std::mutex mutex_;
  std::vector<Pair> pairs_;
  std::thread thread_;
};

}  // namespace zklock::test
