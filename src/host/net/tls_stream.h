// SPDX-License-Identifier: Apache-2.0
// One TLS connection, over a descriptor that is non-blocking and stays its owner's, who also waits for it: see
// events(). Nothing is ever sent in the clear. No call takes longer than it takes to read 64 KiB, whatever the other
// side sends (TlsIntake), and a handshake without an end fails.
#pragma once

#include "host/net/tls.h"
#include "host/net/tls_failure.h"
#include "host/net/tls_intake.h"

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace zklock::host {

class TlsStream {
 public:
  // `names`: one of them has to be the certificate's; host names or a numeric address. The descriptor may still be
  // connecting; the handshake begins with the first send(). `tls` outlives it.
  TlsStream(const Tls& tls, int fd, std::vector<std::string> names);
  TlsStream(const TlsStream&) = delete;
  ~TlsStream();

  // As send(2). What is taken before the end of the handshake, or while held, goes later. Once the connection has ended
  // all is taken and goes nowhere: receive() tells.
  ssize_t send(const void* data, size_t size);
  // As recv(2). 0 at the end, whatever that is: see failure().
  ssize_t receive(void* to, size_t size);
  // Keeps what is sent, so that it goes in one piece when that ends.
  void hold(bool held);

  // To be called when the descriptor is ready: goes on with the handshake, and with what waits to be sent. Whether
  // there may be something to receive, the end included.
  bool advance();
  // What to poll the descriptor for, where its user wants `wanted`.
  short events(short wanted) const;
  // There may be something to receive of which poll does not know: do not wait.
  bool has_unread() const { return phase_ == Phase::ended || (phase_ == Phase::open && !drained_); }
  bool in_handshake() const { return phase_ == Phase::handshake; }

  // It is we who end it.
  void abandon() { phase_ = Phase::ended; }
  // Of the handshake, or what the server refused behind it; nothing where the connection just ended.
  const std::optional<TlsFailure>& failure() const { return failure_; }

 private:
  enum class Phase { idle, handshake, open, ended };

  bool demand_names();
  bool prepare();
  void begin_handshake();
  void flush();
  void note_result(int result);
  static int on_verified(int good, x509_store_ctx_st* verification);

  std::vector<std::string> names_;
  TlsIntake intake_;  // before what reads through it
  ssl_st* ssl_;
  Phase phase_ = Phase::idle;
  bool held_ = false;
  bool drained_ = true;   // the last look found nothing
  short blocked_on_ = 0;  // as poll has it
  std::string unsent_;    // taken, and still in the clear
  std::optional<TlsFailure> failure_;
};

}  // namespace zklock::host
