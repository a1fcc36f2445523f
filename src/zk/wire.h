// SPDX-License-Identifier: Apache-2.0
// Between the socket and the C library, which connects, sends and receives through it (the linker's --wrap). The
// library believes lengths and counts, hands out what it could not decode, and aborts on an answer to nothing: so it is
// given whole frames only, and only those that fit. What does not fit ends the connection. An answer that is still on
// its way would be silence to it, so it is given the answer to a ping from time to time. And it knows no TLS. Nor does
// it choose among servers as is wanted here: it connects to whom the wire is aimed at.
#pragma once

#include "base/time.h"
#include "host/net/tls_stream.h"
#include "zk/requests.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/types.h>

namespace zklock::zk {

// More no answer may have.
constexpr size_t kLargestReply = 64 * 1024 * 1024;
// So much is received in one turn of the loop, however fast more comes. The rest stays in the socket.
constexpr size_t kMostInTurn = 4 * 1024 * 1024;

// The first thing that a server says, without its length. `has_session`: a new one may not be refused. Pure.
bool is_handshake(std::string_view frame, bool has_session);

// Anything after that: an answer to `oldest`, the request whose turn it is, if any, or what needs none. `with_auth`:
// credentials were sent. Pure.
bool fits(std::string_view frame, const Request* oldest, bool with_auth);

// Who sent these first four bytes instead of a length, where it is plain: "it speaks TLS: …".
// Or "".
std::string_view stranger(std::string_view length);

class Wire {
 public:
  // Whether a frame, without its length, may be handed on; the first of a connection is the handshake.
  using Check = std::function<bool(std::string_view frame)>;

  // The TLS over a new connection.
  using Secure = std::function<std::unique_ptr<host::TlsStream>(int fd)>;

  // `secure`: null without TLS.
  explicit Wire(Check check, Secure secure = nullptr, size_t most_in_turn = kMostInTurn)
      : check_(std::move(check)), secure_(std::move(secure)), most_in_turn_(most_in_turn) {}
  Wire(const Wire&) = delete;

  // Whom the next connect() reaches, whatever it names; nothing: nobody can be reached.
  void aim(const std::optional<sockaddr_storage>& target) { target_ = target; }

  // As connect(2), send(2) and recv(2). `to`, a sockaddr_storage, takes the address that is connected to.
  int connect(int fd, const sockaddr* to);
  ssize_t send(int fd, const void* data, size_t size, int flags);
  ssize_t receive(int fd, void* to, size_t size, int flags);

  // To be called when the socket is ready: a new turn. Whether the library may be called; not while TLS is being
  // agreed on.
  bool advance();
  // What to poll the socket for, where the library wants `wanted`.
  short events(short wanted) const { return stream_ ? stream_->events(wanted) : wanted; }
  // There may be something to receive of which poll does not know.
  bool has_unread() const { return stream_ && stream_->has_unread(); }
  // Keeps what is sent, as TCP_CORK does.
  void hold(bool held);
  // It is we who end this connection.
  void note_cut();

  // How the last connection that ended did.
  ConnectionEnd end() const { return end_; }
  // What was wrong with its TLS, if it was that; a server that is in the handshake still is silent.
  std::optional<host::TlsFailure> tls_failure() const;
  // A moment before the library's first word left on this connection; no moment, if it has not.
  Deadline begun_at() const { return begun_at_; }
  // When at least a KiB of an answer that is on its way had come; never, if none is.
  Deadline progressed() const { return progressed_; }

 private:
  enum class Fill { frame, nothing, ended };

  Fill fill(int fd, int flags);
  Fill take(int fd, size_t want, int flags);
  ssize_t receive_plain(int fd, void* to, size_t size, int flags);
  void restart();
  // Whether another KiB has come.
  bool note_progress();

  Check check_;
  Secure secure_;
  std::optional<sockaddr_storage> target_;
  const size_t most_in_turn_;
  size_t received_in_turn_ = 0;
  std::unique_ptr<host::TlsStream> stream_;  // of the connection in use
  std::optional<host::TlsFailure> tls_failure_;
  Deadline begun_at_{};
  std::string frame_;  // what has come of it, with its length
  std::string out_;    // what the library has still to take
  size_t taken_ = 0;   // of that
  bool cut_ = false;
  bool nonsense_ = false;
  ConnectionEnd end_ = ConnectionEnd::none;
  size_t marked_ = 0;  // bytes of the frame that have counted as progress
  Deadline progressed_{};
};

// While it lives, whoever connects, sends and receives in this thread does so through `wire`.
class WireScope {
 public:
  explicit WireScope(Wire& wire);
  WireScope(const WireScope&) = delete;
  ~WireScope();

  // The wire of the innermost scope; null outside of all.
  static inline thread_local Wire* current = nullptr;

 private:
  Wire* const outer_;
};

}  // namespace zklock::zk
