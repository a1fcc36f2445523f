// SPDX-License-Identifier: Apache-2.0
// Stands between OpenSSL and a connection's descriptor, and limits how much is read. OpenSSL reads on until its call is
// done or nothing is left to read, so the other side would decide when that ends. A server that answers a handshake
// only with HelloRequests could keep the call busy for ever. The intake lets a call read 64 KiB, and a connection 1 MiB
// without progress.
#pragma once

#include <cstddef>

struct bio_st;

namespace zklock::host {

class TlsIntake {
 public:
  explicit TlsIntake(int fd) : fd_(fd) {}
  TlsIntake(const TlsIntake&) = delete;

  // Returns a new BIO that reads and writes the descriptor through this object, which must outlive it; null if there is
  // no memory.
  bio_st* new_bio();

  // Allows 64 KiB more to be read. What exceeds that stays in the socket, so poll() reports it.
  void begin_turn() { read_in_turn_ = 0; }
  // To be called when what was read has brought the connection further.
  void note_progress() { read_since_progress_ = 0; }
  // Returns whether 1 MiB was read since the last progress. If so, nothing more is read.
  bool is_exhausted() const;

 private:
  friend struct IntakeBio;

  const int fd_;
  bool at_end_ = false;
  size_t read_in_turn_ = 0;
  size_t read_since_progress_ = 0;
};

}  // namespace zklock::host
