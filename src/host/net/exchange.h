// SPDX-License-Identifier: Apache-2.0
// Sends one request over a TCP connection of its own, with TLS or without, and takes what comes back until the other
// side closes. It never blocks, and it ends at its deadline at the latest.
#pragma once

#include "base/time.h"
#include "host/fd.h"
#include "host/loop.h"
#include "host/net/tls_stream.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zklock::host {

enum class ExchangeEnd {
  none,           // it goes on
  closed,         // the other side has closed: text() is all that it sent
  refused,        // no process listens there
  unreachable,    // error() says why
  no_connection,  // no connection in time
  no_end,         // connected, but the other side did not close in time
  too_long,       // the answer is longer than was allowed
  insecure,       // tls_failure() says why
};

class Exchange : public Source {
 public:
  // Starts at once, and goes on while it is in the loop. `tls` may be null. `name` is what the certificate must be for:
  // the host's name or address. `addresses` are those of one host, numeric, at least one. They
  // are tried in turn, and a silent one takes only its share of the time. `request` must fit into an empty socket
  // buffer. An answer of more than `most` bytes ends the exchange.
  Exchange(std::vector<std::string> addresses, uint16_t port, const Tls* tls, std::string name, std::string request,
           size_t most, Deadline until);

  ExchangeEnd end() const { return end_; }
  const std::string& text() const { return text_; }
  const std::string& error() const { return error_; }
  const TlsFailure& tls_failure() const { return *tls_failure_; }

  void arm(PollSet& set) override;
  void record(const PollSet& set) override;
  void decide() override;

 private:
  // With one address.
  struct Attempt {
    Deadline until;  // to connect
    Fd socket;       // none: the next address is due
    bool connected = false;
    std::unique_ptr<TlsStream> stream;  // over `socket`
  };

  void connect_next();
  void fail(int error);
  void record_connection(const PollSet& set);
  void record_text(const PollSet& set);
  void take_text();

  std::vector<std::string> addresses_;
  uint16_t port_;
  const Tls* tls_;
  std::string name_;
  std::string request_;  // empty once it is sent
  size_t most_;
  Deadline until_;
  size_t next_ = 0;  // index of the address that is tried next
  Attempt attempt_;
  std::optional<TlsFailure> tls_failure_;
  ExchangeEnd end_ = ExchangeEnd::none;
  std::string text_;
  std::string error_;
};

}  // namespace zklock::host
