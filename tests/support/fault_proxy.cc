// SPDX-License-Identifier: Apache-2.0
#include "support/fault_proxy.h"

#include <arpa/inet.h>
#include <functional>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>

#include <fmt/format.h>

namespace zklock::test {

namespace {

constexpr int kTickMs = 5;  // how soon a change of mode is noticed

struct Address {
  sockaddr_storage storage{};
  socklen_t length = sizeof(sockaddr_storage);
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

Address address_of(const std::string& host, uint16_t port) {
  Address address;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  if (inet_pton(AF_INET, host.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    address.length = sizeof *v4;
  } else if (inet_pton(AF_INET6, host.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    address.length = sizeof *v6;
  }
  return address;
}

uint16_t port_of(Address& address) {
  return ntohs(address.storage.ss_family == AF_INET ? reinterpret_cast<sockaddr_in*>(address.get())->sin_port
                                                    : reinterpret_cast<sockaddr_in6*>(address.get())->sin6_port);
}

using Observe = std::function<void(const char*, size_t)>;

// False when `from` has ended. `to` may be nobody.
bool copy(int from, int to, const Observe& observe = {}) {
  char bytes[65536];
  const ssize_t length = recv(from, bytes, sizeof bytes, 0);
  if (length <= 0) return false;
  if (to >= 0) static_cast<void>(send(to, bytes, static_cast<size_t>(length), MSG_NOSIGNAL));
  if (observe) observe(bytes, static_cast<size_t>(length));
  return true;
}

}  // namespace

void FaultProxy::Framing::pass(const char* bytes, size_t length) {
  for (size_t i = 0; i < length; ++i) {
    if (body_ > 0) {
      --body_;
      continue;
    }
    length_ = length_ << 8 | static_cast<unsigned char>(bytes[i]);
    if (++header_ < sizeof length_) continue;
    body_ = length_;
    header_ = length_ = 0;
  }
}

FaultProxy::FaultProxy(const std::string& target, const std::string& host) : target_(target) {
  Address local = address_of(host, 0);
  listener_ = host::Fd(socket(local.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (bind(listener_.get(), local.get(), local.length) != 0 || listen(listener_.get(), 64) != 0) {
    throw std::runtime_error("cannot listen on " + host);
  }
  getsockname(listener_.get(), local.get(), &local.length);
  address_ = fmt::format(host.find(':') == std::string::npos ? fmt::runtime("{}:{}") : fmt::runtime("[{}]:{}"), host,
                         port_of(local));
  thread_ = std::thread([this] { run(); });
}

FaultProxy::~FaultProxy() {
  end_ = true;
  thread_.join();
}

void FaultProxy::cut(bool then_refuse) {
  const std::lock_guard lock(mutex_);
  refuse_ = then_refuse;
  for (Pair& pair : pairs_) pair.client.reset();
}

void FaultProxy::run() {
  while (!end_) {
    std::vector<pollfd> fds;
    {
      const std::lock_guard lock(mutex_);
      const bool stopped = mode_ == Mode::silent;
      fds.push_back({listener_.get(), POLLIN, 0});
      for (const Pair& pair : pairs_) {
        fds.push_back({stopped ? -1 : pair.client.get(), POLLIN, 0});
        fds.push_back({stopped ? -1 : pair.server.get(), POLLIN, 0});
      }
    }
    ::poll(fds.data(), fds.size(), kTickMs);
    const std::lock_guard lock(mutex_);
    for (size_t i = 0; i < pairs_.size(); ++i) {
      relay(pairs_[i], fds[2 * i + 1].revents != 0, fds[2 * i + 2].revents != 0);
    }
    std::erase_if(pairs_, [](const Pair& pair) { return !pair.server; });
    if (fds[0].revents != 0) accept_one();
  }
}

void FaultProxy::accept_one() {
  host::Fd client(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  ++accepted_;
  if (refuse_) return;
  const size_t colon = target_.rfind(':');
  Address target = address_of(target_.substr(0, colon), static_cast<uint16_t>(std::stoi(target_.substr(colon + 1))));
  host::Fd server(socket(target.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connect(server.get(), target.get(), target.length) != 0) return;
  for (const int fd : {client.get(), server.get()}) {
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  pairs_.push_back({std::move(client), std::move(server), {}});
}

void FaultProxy::relay(Pair& pair, bool client_ready, bool server_ready) {
  if (client_ready && pair.client) {
    // A broken client leaves the server's side open: what it sent is still on its way.
    const auto follow = [&](const char* bytes, size_t length) { pair.requests.pass(bytes, length); };
    if (!copy(pair.client.get(), pair.server.get(), follow)) {
      pair.client.reset();
      pair.server.reset();
      return;
    }
    if (pair.requests.at_boundary() && lose_next_.exchange(false)) {
      ++lost_;
      pair.client.reset();
    }
  }
  if (!server_ready) return;
  const bool pass = mode_ == Mode::pass && pair.client;
  if (!copy(pair.server.get(), pass ? pair.client.get() : -1)) {
    pair.client.reset();
    pair.server.reset();
  }
}

}  // namespace zklock::test
