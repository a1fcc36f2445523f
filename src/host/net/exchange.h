// SPDX-License-Identifier: Apache-2.0
// One question over a TCP connection of its own, with TLS or without, and what comes back until the other side closes.
// Nothing blocks, and it ends by itself: at its deadline at the latest.
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
  closed,         // the other side has closed: text() is all that it had to say
  refused,        // nobody listens there
  unreachable,    // error() says why
  no_connection,  // in time
  no_end,         // connected, but the other side did not close in time
  too_long,       // more than was allowed
  insecure,       // tls_failure() says why
};

// By TLS, if at all.
struct Secured {
  const Tls* tls = nullptr;  // null: in the clear
  std::string name;          // for the certificate: the host's name or address
};

class Exchange : public Source {
 public:
  // `addresses` are numeric, at least one: those of one host, tried in turn. A silent one has its share of the time
  // only. `request` fits into an empty socket buffer; no more than `most` bytes of the answer are taken.
  Exchange(std::vector<std::string> addresses, uint16_t port, Secured secured, std::string request, size_t most,
           Deadline until);

  ExchangeEnd end() const { return end_; }
  const std::string& text() const { return text_; }
  const std::string& error() const { return error_; }
  const TlsFailure& tls_failure() const { return *tls_failure_; }

  void arm(PollSet& set) override;
  void record(const PollSet& set) override;
  void decide() override;

 private:
  void connect_next();
  void fail(int error);
  void record_connection(const PollSet& set);
  void record_text(const PollSet& set);
  void take_text();

  std::vector<std::string> addresses_;
  uint16_t port_;
  Secured secured_;
  std::string request_;  // until it is sent
  size_t most_;
  Deadline until_;
  size_t next_ = 0;         // of the addresses
  Deadline attempt_until_;  // of the present one
  Fd socket_;               // none: the next address is due
  bool connected_ = false;
  std::unique_ptr<TlsStream> stream_;  // over it
  std::optional<TlsFailure> tls_failure_;
  ExchangeEnd end_ = ExchangeEnd::none;
  std::string text_;
  std::string error_;
};

}  // namespace zklock::host
