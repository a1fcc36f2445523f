// SPDX-License-Identifier: Apache-2.0
#include "host/net/exchange.h"

#include "host/net/resolver.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <sys/socket.h>

namespace zklock::host {

Exchange::Exchange(std::vector<std::string> addresses, uint16_t port, const Tls* tls, std::string name,
                   std::string request, size_t most, Deadline until)
    : addresses_(std::move(addresses)),
      port_(port),
      tls_(tls),
      name_(std::move(name)),
      request_(std::move(request)),
      most_(most),
      until_(until) {
  connect_next();
}

// When it returns, a connection is under way, or the exchange has ended.
void Exchange::connect_next() {
  while (!attempt_.socket && end_ == ExchangeEnd::none) {
    if (next_ >= addresses_.size()) {
      end_ = error_.empty() ? ExchangeEnd::refused : ExchangeEnd::unreachable;
      return;
    }
    const Duration share = left_until(until_) / static_cast<int64_t>(addresses_.size() - next_);
    attempt_.until = until_ == kNever ? kNever : deadline_in(share);
    const auto to = socket_address_of(addresses_[next_++], port_);
    if (!to) {  // its zone is gone
      error_ = gai_strerror(EAI_NONAME);
      continue;
    }
    attempt_.socket = Fd(socket(to->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const auto* address = reinterpret_cast<const sockaddr*>(&*to);
    if (!attempt_.socket || (connect(attempt_.socket.get(), address, sizeof *to) != 0 && errno != EINPROGRESS)) {
      fail(errno);
    }
  }
}

// Ends the attempt. Its error counts only if no later attempt follows.
void Exchange::fail(int error) {
  attempt_.socket.reset();
  error_ = error == ECONNREFUSED ? "" : std::strerror(error);
}

void Exchange::arm(PollSet& set) {
  if (end_ != ExchangeEnd::none) return;
  const short wanted = attempt_.connected ? POLLIN : POLLOUT;
  set.watch(attempt_.socket.get(), attempt_.stream ? attempt_.stream->events(wanted) : wanted);
  set.wake_at(attempt_.connected ? until_ : attempt_.until);
}

void Exchange::record(const PollSet& set) {
  if (end_ != ExchangeEnd::none || !attempt_.socket) return;
  if (attempt_.connected) {
    record_text(set);
  } else {
    record_connection(set);
  }
}

void Exchange::record_connection(const PollSet& set) {
  if (set.seen(attempt_.socket.get())) {
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(attempt_.socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return fail(error);
    attempt_.connected = true;
  } else if (left_until(attempt_.until) == Duration::zero()) {
    if (next_ >= addresses_.size()) end_ = ExchangeEnd::no_connection;
    fail(ETIMEDOUT);
  }
}

void Exchange::record_text(const PollSet& set) {
  if (set.seen(attempt_.socket.get()) && (!attempt_.stream || attempt_.stream->advance())) take_text();
  if (end_ == ExchangeEnd::none && left_until(until_) == Duration::zero()) {
    end_ = ExchangeEnd::no_end;
    if (attempt_.stream && attempt_.stream->in_handshake()) tls_failure_ = silent_in_handshake();
  }
  if (attempt_.stream && attempt_.stream->failure()) tls_failure_ = attempt_.stream->failure();
  if (tls_failure_) end_ = ExchangeEnd::insecure;
  if (end_ == ExchangeEnd::none) return;
  attempt_.stream.reset();
  attempt_.socket.reset();
}

// Takes all that has come, unless it is too long: poll() does not know what TLS has already read.
void Exchange::take_text() {
  constexpr size_t kPiece = 64 * 1024;
  do {
    const size_t before = text_.size();
    text_.resize(before + kPiece);
    char* const to = text_.data() + before;
    const ssize_t length =
        attempt_.stream ? attempt_.stream->receive(to, kPiece) : recv(attempt_.socket.get(), to, kPiece, 0);
    const int error = errno;
    text_.resize(before + (length > 0 ? static_cast<size_t>(length) : 0));
    // A reset counts as an end, because some servers close before they have read everything.
    if (length == 0 || (length < 0 && error != EAGAIN && error != EINTR)) end_ = ExchangeEnd::closed;
    if (text_.size() > most_) end_ = ExchangeEnd::too_long;
  } while (end_ == ExchangeEnd::none && attempt_.stream && attempt_.stream->has_unread());
}

void Exchange::decide() {
  if (end_ != ExchangeEnd::none) return;
  if (!attempt_.socket) return connect_next();
  if (!attempt_.connected || request_.empty()) return;
  // If this fails, reading fails too, and reports it.
  if (tls_) {
    attempt_.stream = std::make_unique<TlsStream>(*tls_, attempt_.socket.get(), std::vector{name_});
    attempt_.stream->send(request_.data(), request_.size());
  } else {
    static_cast<void>(!send(attempt_.socket.get(), request_.data(), request_.size(), MSG_NOSIGNAL));
  }
  request_.clear();
}

}  // namespace zklock::host
