// SPDX-License-Identifier: Apache-2.0
// Runs the tests' proxy under ThreadSanitizer: calls each of its functions while its own thread relays messages.
#include "support/fault_proxy.h"

#include <arpa/inet.h>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <vector>

namespace {

using zklock::host::Fd;
using zklock::test::FaultProxy;
using namespace zklock::test::opcode;
using namespace std::chrono_literals;

constexpr int kRounds = 40;
constexpr int kPatienceMs = 20;

std::atomic<bool> ended{false};

sockaddr_in loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// Sends back what comes: it has the frames of an answer.
void answer(int listener) {
  std::vector<Fd> clients;
  while (!ended) {
    std::vector<pollfd> ready{{listener, POLLIN, 0}};
    for (const Fd& client : clients) ready.push_back({client.get(), POLLIN, 0});
    poll(ready.data(), ready.size(), kPatienceMs);
    for (size_t i = 1; i < ready.size(); ++i) {
      char bytes[4096];
      if (ready[i].revents == 0) continue;
      const ssize_t length = recv(ready[i].fd, bytes, sizeof bytes, 0);
      if (length <= 0 || send(ready[i].fd, bytes, static_cast<size_t>(length), MSG_NOSIGNAL) < 0)
        clients[i - 1].reset();
    }
    std::erase_if(clients, [](const Fd& client) { return !client; });
    if (ready[0].revents != 0) clients.emplace_back(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  }
}

// Returns a message of 24 bytes after its length; its opcode is the second number.
std::string request(int op) {
  std::string frame(28, '\0');
  frame[3] = 24;
  frame[11] = static_cast<char>(op);
  return frame;
}

// Connects repeatedly, and sends requests until an answer is missing.
void ask(uint16_t port) {
  while (!ended) {
    const Fd server(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = loopback(port);
    if (connect(server.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) continue;
    for (const int op : {0, kRead, kWrite, kExists, kCreate}) {
      const std::string frame = request(op);
      if (send(server.get(), frame.data(), frame.size(), MSG_NOSIGNAL) < 0) break;
      pollfd ready{server.get(), POLLIN, 0};
      char bytes[4096];
      if (poll(&ready, 1, kPatienceMs) <= 0 || recv(server.get(), bytes, sizeof bytes, 0) <= 0) break;
    }
  }
}

void call_each(FaultProxy& proxy) {
  proxy.grant(10s);
  proxy.swallow_events();
  proxy.answer_with(kRead, -4);
  proxy.lose_answer_to(kWrite);
  std::this_thread::sleep_for(5ms);
  proxy.lose_next_answer();
  proxy.fall_silent_after(kExists);
  std::this_thread::sleep_for(5ms);
  proxy.set(FaultProxy::Mode::lose_answers);
  proxy.cut(proxy.is_silent());
  proxy.refuse_resumed(true);
  proxy.expire_resumed(true);
  std::this_thread::sleep_for(5ms);
  proxy.set(FaultProxy::Mode::pass);
  proxy.accept_again();
  proxy.break_before(kCreate);
  std::this_thread::sleep_for(10ms);
  if (proxy.is_refusing()) proxy.accept_again();
  proxy.refuse_resumed(false);
  proxy.expire_resumed(false);
}

}  // namespace

int main() {
  const Fd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  if (bind(listener.get(), reinterpret_cast<sockaddr*>(&address), length) != 0 || listen(listener.get(), 8) != 0)
    return 1;
  getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &length);
  std::thread server(answer, listener.get());
  int asked = 0;
  {
    FaultProxy proxy("127.0.0.1:" + std::to_string(ntohs(address.sin_port)));
    const std::string own = proxy.address();
    std::thread client(ask, static_cast<uint16_t>(std::stoi(own.substr(own.rfind(':') + 1))));
    const auto until = std::chrono::steady_clock::now() + 60s;
    for (int round = 0; round < kRounds || (asked <= kRounds && std::chrono::steady_clock::now() < until); ++round) {
      call_each(proxy);
      asked = proxy.requests(kRead);
    }
    std::printf("%d reads, %d connections, %d answers lost, %d sessions\n", asked, proxy.accepted(), proxy.lost(),
                proxy.new_sessions());
    ended = true;
    client.join();
  }
  server.join();
  return asked > kRounds ? 0 : 1;
}
