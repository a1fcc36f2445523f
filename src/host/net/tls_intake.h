// SPDX-License-Identifier: Apache-2.0
// Between OpenSSL and the descriptor of a connection. OpenSSL goes on reading as long as there is something to read and
// what it was called for is not done, so the other side would decide when a call ends: a server that answers a
// handshake with nothing but HelloRequests could keep it for ever. The intake lets a call read 64 KiB, and a connection
// 1 MiB that brings it no further.
#pragma once

#include <cstddef>

struct bio_st;

namespace zklock::host {

class TlsIntake {
 public:
  explicit TlsIntake(int fd) : fd_(fd) {}
  TlsIntake(const TlsIntake&) = delete;

  // A new BIO that reads and writes the descriptor through this object, which outlives it. Null without memory.
  bio_st* new_bio();

  // Lets 64 KiB more be read. What is beyond them stays in the socket, so poll() knows of it.
  void begin_turn() { read_in_turn_ = 0; }
  // What was read so far has brought the connection further.
  void note_progress() { read_since_progress_ = 0; }
  // Too much was read since then: nothing more is.
  bool is_exhausted() const;

 private:
  friend struct IntakeBio;

  const int fd_;
  bool at_end_ = false;
  size_t read_in_turn_ = 0;
  size_t read_since_progress_ = 0;
};

}  // namespace zklock::host
