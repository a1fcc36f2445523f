// SPDX-License-Identifier: Apache-2.0
// How a TLS connection failed, in words. Pure, but for what it reads of the connection.
#pragma once

#include <string>
#include <vector>

struct ssl_st;
struct x509_store_ctx_st;

namespace zklock::host {

struct TlsFailure {
  enum class Kind {
    silent,       // not a byte in time: it hangs, or is no server of TLS
    interrupted,  // the network, or a server that starts or ends
    distrusted,   // we do not accept its certificate
    refused,      // it does not accept ours, or wants one
    foreign,      // no TLS, or none that we speak
  };
  Kind kind;
  std::string trouble;  // "its certificate is for zk2, not for zk1": what the server has or did. Safe to print
  std::string remedy;   // what to do: "name the server as …"

  // Whether all attempts end like this one as long as nobody does anything.
  bool is_lasting() const { return kind != Kind::silent && kind != Kind::interrupted; }
};

// Of a server that was silent for too long.
inline TlsFailure silent_in_handshake() {
  return {TlsFailure::Kind::silent, "it takes the connection, and does not answer in the TLS handshake",
          "look whether the port is its one for TLS (secureClientPort), and whether its process hangs"};
}

// Of a server that sends more than any handshake has.
inline TlsFailure endless_handshake() {
  return {TlsFailure::Kind::foreign, "its TLS handshake has no end", "look what listens at that port"};
}

// What is wrong with a server's certificate, while it is being verified. `names`: those that it is checked for.
TlsFailure explain_distrust(x509_store_ctx_st* verification, const std::vector<std::string>& names);

// All else: what OpenSSL's queue of errors says of `ssl`.
TlsFailure explain_failure(const ssl_st* ssl);

}  // namespace zklock::host
