// SPDX-License-Identifier: Apache-2.0
#include "support/fault_proxy.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <utility>

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

// Returns nothing if `from` has ended.
std::string taken_from(int from) {
  char bytes[65536];
  const ssize_t length = recv(from, bytes, sizeof bytes, 0);
  return {bytes, length > 0 ? static_cast<size_t>(length) : 0};
}

void give(int to, const std::string& bytes) {
  if (to >= 0) static_cast<void>(send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL));
}

constexpr size_t kLength = 4;           // of a message's length
constexpr size_t kMostBytes = 1 << 24;  // a longer message is not ZooKeeper's: TLS, for example
constexpr int kEvent = -1;              // instead of a request's number

int number_in(const std::string& bytes, size_t at) {
  uint32_t number = 0;
  for (size_t i = at; i < at + sizeof number && i < bytes.size(); ++i) {
    number = number << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return static_cast<int>(number);
}

void put_number(std::string& bytes, size_t at, int number) {
  for (size_t i = 0; i < sizeof number; ++i) {
    bytes[at + i] = static_cast<char>(static_cast<uint32_t>(number) >> (24 - 8 * i));
  }
}

}  // namespace

int FaultProxy::Request::number(size_t at) const {
  return number_in({head.begin(), head.end()}, at);
}

int64_t FaultProxy::Request::session() const {
  return int64_t{number(16)} << 32 | static_cast<uint32_t>(number(20));
}

std::vector<FaultProxy::Request> FaultProxy::Framing::pass(const char* bytes, size_t length) {
  std::vector<Request> whole;
  for (size_t i = 0; i < length; ++i) {
    if (body_ > 0) {
      const size_t at = length_ - body_;
      if (at < request_.head.size()) request_.head[at] = static_cast<unsigned char>(bytes[i]);
      if (--body_ > 0) continue;
      whole.push_back(request_);
      request_ = {};
      continue;
    }
    length_ = (header_ == 0 ? 0 : length_ << 8) | static_cast<unsigned char>(bytes[i]);
    if (++header_ < sizeof length_) continue;
    body_ = length_;
    header_ = 0;
  }
  return whole;
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
        fds.push_back({stopped || pair.kept ? -1 : pair.server.get(), POLLIN, 0});
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
  pairs_.push_back({std::move(client), std::move(server), {}, {}, false, false, false, {}});
}

void FaultProxy::answer_with(int op, int error) {
  const std::lock_guard lock(mutex_);
  errors_[op] = error;
}

int FaultProxy::requests(int op) const {
  const std::lock_guard lock(mutex_);
  const auto found = requests_.find(op);
  return found == requests_.end() ? 0 : found->second;
}

void FaultProxy::relay(Pair& pair, bool client_ready, bool server_ready) {
  if (client_ready && pair.client) take_requests(pair);
  // That request may have made the proxy silent: the answer is kept then, and may follow another one already.
  if (server_ready && pair.server && mode_ != Mode::silent && !pair.kept) take_answers(pair);
}

// Leaves the server's side open if the client breaks: what the client sent is still on its way.
void FaultProxy::take_requests(Pair& pair) {
  const std::string bytes = taken_from(pair.client.get());
  const std::vector<Request> whole = pair.requests.pass(bytes.data(), bytes.size());
  const int64_t resumed = !whole.empty() && whole[0].first ? whole[0].session() : 0;
  const bool refused = resumed != 0 && (refuse_resumed_ || resumed == refused_session_);
  if (bytes.empty() || refused || is_to_break(whole)) {
    pair.client.reset();
    pair.server.reset();
    return;
  }
  // Behind the session's end, the server has closed the connection, and a request would cost us its answers.
  if (!std::exchange(pair.kept, false)) give(pair.server.get(), bytes);
  for (const Request& request : whole) note(pair, request);
  if (pair.requests.at_boundary() && lose_next_.exchange(false)) {
    ++lost_;
    pair.client.reset();
  }
}

bool FaultProxy::is_to_break(const std::vector<Request>& requests) {
  for (const Request& request : requests) {
    int op = request.number(4);
    if (request.first || !break_before_.compare_exchange_strong(op, 0)) continue;
    refuse_ = true;
    return true;
  }
  return false;
}

void FaultProxy::note(Pair& pair, const Request& request) {
  if (request.first) {
    pair.resumed = request.session() != 0;
    if (!pair.resumed) ++new_sessions_;
    return;
  }
  int op = request.number(4);
  ++requests_[op];
  if (const auto error = errors_.find(op); error != errors_.end()) {
    pair.failed[request.number(0)] = error->second;
    errors_.erase(error);
  }
  if (int silent = op; silent_after_.compare_exchange_strong(silent, 0)) mode_ = Mode::silent;
  if (int kept = op; keep_answer_to_.compare_exchange_strong(kept, 0)) pair.kept = true;
  if (lose_answer_to_.compare_exchange_strong(op, 0)) {
    ++lost_;
    pair.client.reset();
  }
}

void FaultProxy::take_answers(Pair& pair) {
  const std::string bytes = taken_from(pair.server.get());
  if (bytes.empty()) {
    pair.client.reset();
    pair.server.reset();
    return;
  }
  pair.answers += bytes;
  const int to = mode_ == Mode::pass && pair.client ? pair.client.get() : -1;
  while (pair.answers.size() >= kLength) {
    const auto length = static_cast<uint32_t>(number_in(pair.answers, 0));
    const size_t size = length > kMostBytes ? pair.answers.size() : kLength + length;
    if (pair.answers.size() < size) return;
    give(to, length > kMostBytes ? pair.answers : answer_of(pair, pair.answers.substr(0, size)));
    pair.answers.erase(0, size);
  }
}

// Returns the message with its length, as the client is to get it; empty: the client gets none.
std::string FaultProxy::answer_of(Pair& pair, std::string frame) {
  if (!std::exchange(pair.greeted, true)) {
    constexpr size_t kTimeout = kLength + 4;  // after the protocol's version
    if (granted_ms_ > 0) put_number(frame, kTimeout, granted_ms_);
    if (expire_resumed_ && pair.resumed) {
      for (size_t at = kTimeout; at < kTimeout + 4 + 8; at += 4) put_number(frame, at, 0);  // the session's number, too
    }
    return frame;
  }
  const int number = number_in(frame, kLength);
  if (number == kEvent && swallow_events_) return "";
  const auto failed = pair.failed.find(number);
  if (failed == pair.failed.end()) return frame;
  constexpr size_t kError = kLength + 4 + 8;  // after the number and the zxid
  put_number(frame, kError, failed->second);
  frame.resize(kError + 4);
  put_number(frame, 0, static_cast<int>(frame.size() - kLength));
  pair.failed.erase(failed);
  return frame;
}

}  // namespace zklock::test
