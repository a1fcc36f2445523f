// SPDX-License-Identifier: Apache-2.0
// One TLS connection over a non-blocking descriptor. The owner of the descriptor keeps it, and waits for it as events()
// says. The stream never sends anything in the clear.
// OpenSSL reads on until its call is done or nothing is left to read, so the other side would decide when that ends. A
// server that answers a handshake only with HelloRequests could keep the call busy for ever. So the stream stands
// between OpenSSL and the descriptor: in one turn, it lets 64 KiB be read, and on a connection 1 MiB without progress.
#pragma once

#include "host/net/tls.h"

#include <cstddef>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

struct bio_st;
struct ssl_st;
struct x509_store_ctx_st;

namespace zklock::host {

// How a connection failed.
struct TlsFailure {
  enum class Kind {
    silent,       // not a byte in time: it hangs, or is no TLS server
    interrupted,  // by the network, or by a server that starts or ends
    distrusted,   // we do not accept its certificate
    refused,      // it does not accept our certificate, or demands one
    foreign,      // it speaks no TLS, or none that we speak
  };
  Kind kind;
  std::string trouble;  // what is wrong: "its certificate is for zk2, not for zk1". Safe to print
  std::string remedy;   // what to do: "name the server as …"

  // Returns whether all attempts will end like this one until a person changes something.
  bool is_lasting() const { return kind != Kind::silent && kind != Kind::interrupted; }
};

// Returns the failure for a server that was silent for too long.
inline TlsFailure silent_in_handshake() {
  return {TlsFailure::Kind::silent, "it takes the connection, and does not answer in the TLS handshake",
          "look whether the port is its one for TLS (secureClientPort), and whether its process hangs"};
}

// Explains what is wrong with a server's certificate. Call it while the certificate is being verified. `names` are
// those that it is checked for.
TlsFailure explain_distrust(x509_store_ctx_st* verification, const std::vector<std::string>& names);

// Explains all other failures, by OpenSSL's queue of errors and what `ssl` knows of the certificates.
TlsFailure explain_failure(const ssl_st* ssl);

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

  // Begins a new turn: goes on with the handshake and sends what waits to be sent. Call it when the descriptor is
  // ready. Returns whether there may be something to receive, or the end.
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
  void flush();
  void note_result(int result);
  bool is_exhausted() const;
  static int on_verified(int good, x509_store_ctx_st* verification);
  static int on_read(bio_st* bio, char* to, int size);
  static int on_write(bio_st* bio, const char* data, int size);
  static long on_control(bio_st* bio, int command, long, void*);

  std::vector<std::string> names_;
  const int fd_;
  ssl_st* ssl_;  // reads and writes through this object
  Phase phase_ = Phase::idle;
  bool held_ = false;
  bool drained_ = true;   // the last receive() found nothing
  short blocked_on_ = 0;  // what OpenSSL waits for, as events of poll()
  std::string unsent_;    // taken, and not encrypted yet
  bool at_end_ = false;   // there is nothing more to read from the descriptor
  size_t read_in_turn_ = 0;
  size_t read_since_progress_ = 0;
  std::optional<TlsFailure> failure_;
};

}  // namespace zklock::host
