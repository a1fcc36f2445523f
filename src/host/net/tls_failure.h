// SPDX-License-Identifier: Apache-2.0
// Describes how a TLS connection failed. Pure, except that it reads the connection and OpenSSL's errors.
#pragma once

#include <string>
#include <vector>

struct ssl_st;
struct x509_store_ctx_st;

namespace zklock::host {

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

// Returns the failure for a server that sends more than any handshake has.
inline TlsFailure endless_handshake() {
  return {TlsFailure::Kind::foreign, "its TLS handshake has no end", "look what listens at that port"};
}

// Explains what is wrong with a server's certificate. To be called while the certificate is being verified. `names` are
// those that it is checked for.
TlsFailure explain_distrust(x509_store_ctx_st* verification, const std::vector<std::string>& names);

// Explains all other failures, by OpenSSL's queue of errors and what `ssl` knows of the certificates.
TlsFailure explain_failure(const ssl_st* ssl);

}  // namespace zklock::host
