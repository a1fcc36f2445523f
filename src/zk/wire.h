// SPDX-License-Identifier: Apache-2.0
// The layer between the socket and the C library, which connects, sends and receives through it (the linker's --wrap).
// The library believes lengths and counts, hands out what it could not decode, and aborts on an answer to no request.
// So it gets only whole frames that fit; anything else ends the connection. It would take a long answer that is still
// arriving for silence, so it gets the answer to a ping from time to time. It has no TLS, and does not choose among
// servers as zklock wants: it connects to the server at which the wire is aimed.
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
#include <utility>
#include <vector>

namespace zklock::zk {

// The most bytes that an answer may have.
constexpr size_t kLargestReply = 64 * 1024 * 1024;
// The most bytes that are received in one turn of the loop, however fast more come. The rest stays in the socket.
constexpr size_t kMostInTurn = 4 * 1024 * 1024;

// Returns whether `frame`, without its length, is a server's answer to the handshake. `has_session`: we resume a
// session, which the server may refuse. This function is pure.
bool is_handshake(std::string_view frame, bool has_session);

// Returns whether a later frame is an answer to `oldest`, the request whose turn it is (or null), or one that answers
// no request. `with_auth`: credentials were sent. `ending`: the session's end was sent. This function is pure.
bool fits(std::string_view frame, const Request* oldest, bool with_auth, bool ending = false);

// Returns what sent these four bytes instead of a length ("it speaks TLS: …"), or "" if that is not clear.
std::string_view stranger(std::string_view length);

class Wire {
 public:
  // Returns whether a frame, without its length, may be handed on. The first frame of a connection is the handshake.
  using Check = std::function<bool(std::string_view frame)>;

  // `tls` is null without TLS, and outlives the wire.
  explicit Wire(Check check, const host::Tls* tls = nullptr, size_t most_in_turn = kMostInTurn)
      : check_(std::move(check)), tls_(tls), most_in_turn_(most_in_turn) {}
  Wire(const Wire&) = delete;

  // Sets the address that the next connect() reaches, whatever address it is called with, and the names that the
  // server's certificate may be for. Without an address, connect() fails.
  void aim(const std::optional<sockaddr_storage>& target, std::vector<std::string> names = {}) {
    target_ = target;
    names_ = std::move(names);
  }

  // Like connect(2), send(2) and recv(2). `to` is a sockaddr_storage, into which connect() writes the real address.
  int connect(int fd, const sockaddr* to);
  ssize_t send(int fd, const void* data, size_t size, int flags);
  ssize_t receive(int fd, void* to, size_t size, int flags);

  // Sends the request that ends the session, behind all that was sent. Returns false, and sends nothing, if the socket
  // has not taken all of that. The library, which would wait for all answers first, does not learn of it: neither the
  // answer nor the end of the stream after it reaches the library.
  bool send_end(int fd);
  // Sends a ping, behind the session's end.
  void send_ping(int fd);
  // On the present connection: whether the session's end was sent, and whether it was answered.
  bool is_ending() const { return incoming_.ending != Ending::none; }
  bool has_ended() const { return incoming_.ending == Ending::answered; }

  // Begins a new turn; call it when the socket is ready. It returns whether the library may be called: not during the
  // TLS handshake.
  bool advance();
  // Returns what to poll the socket for if the library wants `wanted`.
  short events(short wanted) const { return stream_ ? stream_->events(wanted) : wanted; }
  // Returns true if there may be something to receive that poll does not report.
  bool has_unread() const { return stream_ && stream_->has_unread(); }
  // While `held`, keeps what is to be sent by TLS, as TCP_CORK does.
  void hold(bool held) {
    if (stream_) stream_->hold(held);
  }
  // Notes that zklock itself ends this connection.
  void note_cut();

  // Returns how the last connection ended; `none` if it has not.
  ConnectionEnd end() const { return end_; }
  // Returns why TLS failed on it, if it did; during the handshake, that the server is silent.
  std::optional<host::TlsFailure> tls_failure() const;
  // Returns a moment before the library first sent something on this connection; Deadline{} if it has not.
  Deadline begun_at() const { return begun_at_; }
  // Returns when the answer that is arriving last grew by a KiB; Deadline{} if there is none.
  Deadline progressed() const { return incoming_.progressed; }

 private:
  enum class Fill { frame, nothing, ended };
  enum class Ending { none, sent, answered };
  // What has come on the present connection, and what we do with it.
  struct Incoming {
    std::string frame;      // the part of the next frame, with its length
    std::string out;        // what the library is still to receive
    size_t taken = 0;       // bytes of `out` that it has received
    bool greeted = false;   // the handshake was answered
    bool nonsense = false;  // what came was no answer
    size_t marked = 0;      // bytes of `frame` that have counted as progress
    Deadline progressed{};
    bool blocked = false;  // the library still has to send a part
    Ending ending = Ending::none;
  };

  bool send_frame(int fd, std::string_view frame);
  Fill fill(int fd, int flags);
  Fill take(int fd, size_t want, int flags);
  void restart();
  // Returns whether another KiB has come, after the handshake.
  bool note_progress();

  Check check_;
  const host::Tls* const tls_;
  std::optional<sockaddr_storage> target_;
  std::vector<std::string> names_;  // of the target
  const size_t most_in_turn_;
  size_t received_in_turn_ = 0;
  std::unique_ptr<host::TlsStream> stream_;  // of the present connection
  std::optional<host::TlsFailure> tls_failure_;
  Deadline begun_at_{};
  Incoming incoming_;
  bool cut_ = false;
  ConnectionEnd end_ = ConnectionEnd::none;
};

// While this object exists, connect(), send() and recv() in this thread go through `wire`.
class WireScope {
 public:
  explicit WireScope(Wire& wire);
  WireScope(const WireScope&) = delete;
  ~WireScope();

  // The wire of the innermost scope; null outside of all scopes.
  static inline thread_local Wire* current = nullptr;

 private:
  Wire* const outer_;
};

}  // namespace zklock::zk
