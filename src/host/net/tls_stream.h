// SPDX-License-Identifier: Apache-2.0
// One TLS connection over a non-blocking descriptor. The owner of the descriptor keeps it, and waits for it as events()
// says. The stream never sends anything in the clear. No call takes longer than reading 64 KiB does, whatever the other
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
  // The certificate must be for one of `names` (host names or a numeric address), or for TlsOptions::server_name if
  // that is set. The descriptor may still be connecting. The handshake begins with the first send(). `tls` must outlive
  // the stream. Throws nothing; if the names cannot be checked, the connection has ended, see failure().
  TlsStream(const Tls& tls, int fd, std::vector<std::string> names);
  TlsStream(const TlsStream&) = delete;
  ~TlsStream();

  // Sends like send(2). What is taken before the end of the handshake, or while held, is sent later. After the
  // connection has ended, everything is taken and dropped, and receive() reports the end.
  ssize_t send(const void* data, size_t size);
  // Receives like recv(2). Returns 0 at any end, see failure().
  ssize_t receive(void* to, size_t size);
  // While `held` is true, keeps what is sent, so that it goes in one piece afterwards.
  void hold(bool held);

  // Goes on with the handshake and sends what waits to be sent. To be called when the descriptor is ready. Returns
  // whether there may be something to receive, or the end.
  bool advance();
  // Returns what to poll the descriptor for if its owner wants `wanted`.
  short events(short wanted) const;
  // Returns whether there may be something to receive that poll() does not know of. If so, do not wait.
  bool has_unread() const { return phase_ == Phase::ended || (phase_ == Phase::open && !drained_); }
  bool in_handshake() const { return phase_ == Phase::handshake; }

  // Ends the connection from our side, without a failure.
  void abandon() { phase_ = Phase::ended; }
  // Why the handshake failed, or what the server refused after it; nothing if the connection just ended.
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
  TlsIntake intake_;  // declared before `ssl_`, which reads through it
  ssl_st* ssl_;
  Phase phase_ = Phase::idle;
  bool held_ = false;
  bool drained_ = true;   // the last receive() found nothing
  short blocked_on_ = 0;  // what OpenSSL waits for, as events of poll()
  std::string unsent_;    // taken, and not encrypted yet
  std::optional<TlsFailure> failure_;
};

}  // namespace zklock::host
