// SPDX-License-Identifier: Apache-2.0
// Between the socket and the C library, which receives through it (the linker's --wrap=recv): it hands on whole frames
// only, and only those that fit, and it knows of an answer that is still on its way. To the library such a one would be
// silence, so it is given the answer to a ping from time to time.
#pragma once

#include "base/time.h"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace zklock::zk {

class Wire {
 public:
  // Whether a frame, without its length, may be handed on; the first of a connection is the handshake.
  using Check = std::function<bool(std::string_view frame)>;
  enum class End { none, closed, cut, nonsense };

  explicit Wire(Check check) : check_(std::move(check)) {}
  Wire(const Wire&) = delete;

  // While it lives, whoever receives in this thread does so through the wire.
  class Use {
   public:
    explicit Use(Wire& wire) { in_use = &wire; }
    Use(const Use&) = delete;
    ~Use() { in_use = nullptr; }
  };
  static thread_local Wire* in_use;

  // As recv(2).
  ssize_t receive(int fd, void* to, size_t size, int flags);

  // A new connection begins.
  void restart();
  // It is we who end this one.
  void note_cut() { cut_ = true; }

  // How the last connection that ended did.
  End end() const { return end_; }
  // When at least a KiB of an answer that is on its way had come; never, if none is.
  Deadline progressed() const { return progressed_; }

 private:
  enum class Fill { frame, nothing, ended };

  Fill fill(int fd, int flags);
  Fill take(int fd, size_t want, int flags);
  void note_progress();
  ssize_t hand_out(void* to, size_t size);

  Check check_;
  std::string frame_;  // what has come of it, with its length
  std::string out_;    // what the library has still to take
  size_t taken_ = 0;   // of that
  bool cut_ = false;
  bool nonsense_ = false;
  End end_ = End::none;
  size_t marked_ = 0;  // bytes of the frame that have counted as progress
  Deadline progressed_{};
};

}  // namespace zklock::zk
