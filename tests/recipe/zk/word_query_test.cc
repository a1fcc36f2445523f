// SPDX-License-Identifier: Apache-2.0
#include "host/fd.h"
#include "support/fault_proxy.h"
#include "support/sandbox.h"
#include "zk/words/query.h"

#include <arpa/inet.h>
#include <atomic>
#include <poll.h>
#include <sys/socket.h>
#include <thread>

#include <gtest/gtest.h>

namespace zklock::zk {
namespace word_query_test {

using namespace std::chrono_literals;

TEST(WordQuery, AServerThatDoesNotAnswerAWordIsNotAskedTheNext) {
  test::FaultProxy closing(test::shared_servers());
  closing.cut(true);
  host::Loop loop;
  const std::vector<Server> servers = ServerList::parse(closing.address(), "the test").servers;
  WordQuery query(loop, {servers}, {"srvr", "mntr", "conf"}, deadline_in(20s));
  const std::vector<std::vector<WordReply>> all = query.finish();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all.front().size(), 1u);
  EXPECT_EQ(closing.accepted(), 1);
}

// A server that answers each word but mntr, which is not in its whitelist.
class Listener {
 public:
  Listener() {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof name;
    EXPECT_EQ(bind(socket_.get(), reinterpret_cast<sockaddr*>(&name), length), 0);
    EXPECT_EQ(listen(socket_.get(), 8), 0);
    getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&name), &length);
    address = "127.0.0.1:" + std::to_string(ntohs(name.sin_port));
  }
  ~Listener() {
    end_ = true;
    thread_.join();
  }
  std::string address;

 private:
  void run() {
    pollfd ready{socket_.get(), POLLIN, 0};
    while (!end_) {
      if (poll(&ready, 1, 20) != 1) continue;
      const host::Fd client(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      char word[4] = "";
      if (recv(client.get(), word, sizeof word, MSG_WAITALL) != sizeof word) continue;
      std::string reply = "clientPort=2181\n";
      if (std::string(word, sizeof word) == "mntr") {
        reply = "mntr is not executed because it is not in the whitelist.\n";
      }
      EXPECT_GT(send(client.get(), reply.data(), reply.size(), MSG_NOSIGNAL), 0);
    }
  }

  host::Fd socket_{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::atomic<bool> end_{false};
  std::thread thread_{[this] { run(); }};
};

TEST(WordQuery, TheWordBehindOneThatIsNotAllowedIsAsked) {
  const Listener listener;
  host::Loop loop;
  const std::vector<Server> servers = ServerList::parse(listener.address, "the test").servers;
  WordQuery query(loop, {servers}, {"mntr", "conf"}, deadline_in(20s));
  const std::vector<WordReply> replies = query.finish().front();
  ASSERT_EQ(replies.size(), 2u);
  EXPECT_EQ(replies[0].result, WordResult::not_allowed);
  EXPECT_EQ(replies[1].result, WordResult::answered);
}

TEST(WordQuery, AnAddressWithoutARouteIsNotWaitedFor) {
  host::Loop loop;
  const std::vector<Server> servers = ServerList::parse("255.255.255.255:2181", "the test").servers;
  const Deadline until = deadline_in(20s);
  WordQuery query(loop, {servers}, {"ruok"}, until);
  EXPECT_EQ(query.finish().front().front().result, WordResult::unreachable);
  EXPECT_LT(BootClock::now(), until);
}

}  // namespace word_query_test
}  // namespace zklock::zk
