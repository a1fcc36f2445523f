// SPDX-License-Identifier: Apache-2.0
// Between the socket and the C library, which receives through it (the linker's --wrap=recv). The library believes
// lengths and counts, hands out what it could not decode, and aborts on an answer to nothing: so it is given whole
// frames only, and only those that fit. What does not fit ends the connection. An answer that is still on its way would
// be silence to it, so it is given the answer to a ping from time to time.
#pragma once

#include "base/time.h"
#include "zk/requests.h"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace zklock::zk {

// More no answer may have.
constexpr size_t kLargestReply = 64 * 1024 * 1024;

// The first thing that a server says, without its length. `has_session`: a new one may not be refused. Pure.
bool is_handshake(std::string_view frame, bool has_session);

// Anything after that: an answer to `oldest`, the request whose turn it is, if any, or what needs none. `with_auth`:
// credentials were sent. Pure.
bool fits(std::string_view frame, const Request* oldest, bool with_auth);

// Who sent these first four bytes instead of a length, where it is plain: "it speaks TLS, which zklock does not yet".
// Or "".
std::string_view stranger(std::string_view length);

class Wire {
 public:
  // Whether a frame, without its length, may be handed on; the first of a connection is the handshake.
  using Check = std::function<bool(std::string_view frame)>;

  explicit Wire(Check check) : check_(std::move(check)) {}
  Wire(const Wire&) = delete;

  // As recv(2).
  ssize_t receive(int fd, void* to, size_t size, int flags);

  // A new connection begins.
  void restart();
  // It is we who end this one.
  void note_cut() { cut_ = true; }

  // How the last connection that ended did.
  ConnectionEnd end() const { return end_; }
  // When at least a KiB of an answer that is on its way had come; never, if none is.
  Deadline progressed() const { return progressed_; }

 private:
  enum class Fill { frame, nothing, ended };

  Fill fill(int fd, int flags);
  Fill take(int fd, size_t want, int flags);
  // Whether another KiB has come.
  bool note_progress();

  Check check_;
  std::string frame_;  // what has come of it, with its length
  std::string out_;    // what the library has still to take
  size_t taken_ = 0;   // of that
  bool cut_ = false;
  bool nonsense_ = false;
  ConnectionEnd end_ = ConnectionEnd::none;
  size_t marked_ = 0;  // bytes of the frame that have counted as progress
  Deadline progressed_{};
};

// While it lives, whoever receives in this thread does so through `wire`.
class WireScope {
 public:
  explicit WireScope(Wire& wire);
  WireScope(const WireScope&) = delete;
  ~WireScope();
};

}  // namespace zklock::zk
