// SPDX-License-Identifier: Apache-2.0
// How a TLS connection failed, in words. Pure, but for what it reads of the connection.
#pragma once

#include <string>
#include <vector>

struct ssl_st;

namespace zklock::host {

struct TlsFailure {
  enum class Kind {
    interrupted,  // the network, or a server that starts or ends
    distrusted,   // we do not accept its certificate
    refused,      // it does not accept ours, or wants one
    foreign,      // no TLS, or none that we speak
  };
  Kind kind;
  std::string trouble;  // "its certificate is for zk2, not for zk1": what the server has or did. Safe to print
  std::string remedy;   // what to do: "name the server as …"

  // Whether all attempts end like this one as long as nobody does anything.
  bool is_lasting() const { return kind != Kind::interrupted; }
};

// Of a server that was silent for too long.
TlsFailure silent_in_handshake();

// From what OpenSSL's queue of errors and `ssl` say. `names`: those that the certificate was checked for.
TlsFailure explain_failure(const ssl_st* ssl, const std::vector<std::string>& names);

}  // namespace zklock::host
