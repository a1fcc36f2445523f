// SPDX-License-Identifier: Apache-2.0
// Real servers for a test, from scripts/zk-sandbox, and a session of the test's own on them.
#pragma once

#include "host/loop.h"
#include "zk/session.h"

#include <functional>
#include <string>
#include <vector>

namespace zklock::test {

// Servers that belong to one test, which may kill them. They end with the object.
class Sandbox {
 public:
  explicit Sandbox(const std::string& options);
  Sandbox(const Sandbox&) = delete;
  ~Sandbox();

  std::string servers() const { return servers_; }
  std::string data_folder(int server) const;  // its transaction log and snapshots
  std::string address(int server) const { return output("address", server); }
  int leader() const { return std::stoi(output("leader")); }
  void pause(int server) const { output("pause", server); }
  void resume(int server) const { output("continue", server); }
  void kill(int server) const { output("kill", server); }
  void restart(int server) const { output("restart", server); }

 private:
  std::string output(const std::string& verb, int server = 0) const;

  std::string servers_;
  std::string folder_;
};

// Returns the servers that all tests share, from ZKLOCK_SERVERS; never disturb them.
std::string shared_servers();

// Makes a chroot for one test.
std::string new_chroot();

zk::SessionOptions options_for(const std::string& servers, Duration session_timeout = std::chrono::seconds(4));

// A session with a loop of its own, by which the test sees and changes nodes, whatever happens to the tested one.
class Observer {
 public:
  explicit Observer(const std::string& servers);

  std::vector<std::string> children(const std::string& path);
  zk::Answer read(const std::string& path);
  void create(const std::string& path, const std::string& data = "");
  void write(const std::string& path, const std::string& data);
  void remove(const std::string& path);
  zk::Session& session() { return session_; }

 private:
  host::Loop loop_;
  zk::Session session_;
};

// A step of a test that runs inside the loop under test, after each turn.
class Script : public host::Source {
 public:
  Script(host::Loop& loop, std::function<void()> step) : step_(std::move(step)), attached_(loop, *this) {}
  void arm(host::PollSet& set) override { set.wake_at(deadline_in(std::chrono::milliseconds(10))); }
  void record(const host::PollSet&) override {}
  void decide() override { step_(); }

 private:
  std::function<void()> step_;
  host::Attached attached_;
};

// Runs the loop until `fact` is true; returns false if that takes longer than ZKLOCK_TEST_WAIT seconds (20).
bool eventually(host::Loop& loop, const std::function<bool()>& fact);

}  // namespace zklock::test
