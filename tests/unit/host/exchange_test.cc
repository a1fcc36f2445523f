// SPDX-License-Identifier: Apache-2.0
// host/net/exchange: a request and its answer, whichever of a host's addresses answers. The tests use sockets of their
// own.
#include "host/net/exchange.h"

#include "support/process.h"

#include <arpa/inet.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

namespace zklock::host {
namespace exchange_test {

using namespace std::chrono_literals;
using support::kBound;

constexpr const char* kOne = "127.0.0.1";
constexpr const char* kOther = "127.0.0.2";

// Listens on one address of loopback; `port` 0 means any.
class Listener {
 public:
  explicit Listener(const char* address, uint16_t port = 0, int backlog = 8)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in name = name_of(address, port);
    socklen_t length = sizeof name;
    bind(socket_.get(), reinterpret_cast<sockaddr*>(&name), length);
    if (listen(socket_.get(), backlog) != 0) ADD_FAILURE() << "cannot listen on " << address;
    getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&name), &length);
    port_ = ntohs(name.sin_port);
  }
  uint16_t port() const { return port_; }
  Fd accept() const { return Fd(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC)); }

  // Once this many connections wait to be accepted, the kernel answers no more.
  void fall_silent(const char* address) {
    const sockaddr_in name = name_of(address, port_);
    for (int i = 0; i < 4; ++i) {
      waiting_.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
      connect(waiting_.back().get(), reinterpret_cast<const sockaddr*>(&name), sizeof name);
    }
  }

 private:
  static sockaddr_in name_of(const char* address, uint16_t port) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(port);
    inet_pton(AF_INET, address, &name.sin_addr);
    return name;
  }

  Fd socket_;
  uint16_t port_ = 0;
  std::vector<Fd> waiting_;
};

// Runs the exchange to its end, which must come within the bound.
void run(Exchange& exchange) {
  Loop loop;
  const Attached attached(loop, exchange);
  const Deadline end = deadline_in(kBound);
  while (exchange.end() == ExchangeEnd::none && left_until(end) > Duration::zero()) loop.turn(end);
}

std::thread answering(const Listener& listener, const std::string& text) {
  return std::thread([&listener, text] {
    const Fd client = listener.accept();
    char request[4];
    static_cast<void>(!read(client.get(), request, sizeof request));
    static_cast<void>(!write(client.get(), text.data(), text.size()));
  });
}

TEST(Exchange, TheNextAddressIsTriedWhereOneRefuses) {
  const Listener listener(kOne);
  std::thread server = answering(listener, "imok");
  Exchange exchange({kOther, kOne}, listener.port(), nullptr, "", "ruok", 1000, deadline_in(kBound));
  run(exchange);
  EXPECT_EQ(exchange.end(), ExchangeEnd::closed);
  EXPECT_EQ(exchange.text(), "imok");
  // Otherwise the thread would wait forever.
  if (exchange.text().empty()) Exchange({kOne}, listener.port(), nullptr, "", "", 1, deadline_in(1s));
  server.join();
}

TEST(Exchange, ASilentAddressLeavesTimeForTheNext) {
  const Listener listener(kOne);
  Listener silent(kOther, listener.port(), 0);
  silent.fall_silent(kOther);
  std::thread server = answering(listener, "imok");
  const Deadline until = deadline_in(4s);
  Exchange exchange({kOther, kOne}, listener.port(), nullptr, "", "ruok", 1000, until);
  run(exchange);
  EXPECT_EQ(exchange.text(), "imok");
  EXPECT_LT(BootClock::now(), until);
  if (exchange.text().empty()) Exchange({kOne}, listener.port(), nullptr, "", "", 1, deadline_in(1s));
  server.join();
}

// 255.255.255.255 cannot be reached.
TEST(Exchange, TheLastAddressSaysWhatIsWrong) {
  const uint16_t unused = Listener(kOne).port();
  Exchange exchange({"255.255.255.255", kOne}, unused, nullptr, "", "ruok", 1000, deadline_in(kBound));
  run(exchange);
  EXPECT_EQ(exchange.end(), ExchangeEnd::refused);
}

TEST(Exchange, WhereAllRefuseItIsRefused) {
  uint16_t free_port = 0;
  { free_port = Listener(kOne).port(); }
  Exchange exchange({kOne, kOther}, free_port, nullptr, "", "ruok", 1000, deadline_in(kBound));
  run(exchange);
  EXPECT_EQ(exchange.end(), ExchangeEnd::refused);
}

TEST(Exchange, WhoSaysNothingIsGivenUpInTime) {
  const Listener listener(kOne);  // the kernel accepts for it
  const Deadline began = BootClock::now();
  Exchange exchange({kOne}, listener.port(), nullptr, "", "ruok", 1000, deadline_in(100ms));
  run(exchange);
  EXPECT_EQ(exchange.end(), ExchangeEnd::no_end);
  EXPECT_LT(BootClock::now() - began, kBound / 2);
}

TEST(Exchange, AReplyWithoutAnEndIsCut) {
  const Listener listener(kOne);
  std::thread server = answering(listener, std::string(1000, 'x'));
  Exchange exchange({kOne}, listener.port(), nullptr, "", "ruok", 999, deadline_in(kBound));
  run(exchange);
  EXPECT_EQ(exchange.end(), ExchangeEnd::too_long);
  server.join();
}

}  // namespace exchange_test
}  // namespace zklock::host
