// SPDX-License-Identifier: Apache-2.0
// What all TLS connections of this process share: the files, read once, and the rules. A server's certificate is always
// checked: its chain up to an authority that is trusted, its dates, and that it is for the name or address by which the
// server is known here. TLS 1.2 at least. OpenSSL's configuration file is not read: it could name modules to be loaded.
// This and the files beside it alone include OpenSSL; where zklock is built without it, no_tls.cc stands for the rest.
#pragma once

#include <memory>
#include <string>

struct ssl_ctx_st;

namespace zklock::host {

// "TLS by OpenSSL 3.0.19", or "no TLS": for -V.
std::string tls_version();

// The files are PEM; "" where none is named.
struct TlsOptions {
  std::string authorities;  // "": the system's, or those of SSL_CERT_FILE and SSL_CERT_DIR
  std::string certificate;  // ours, with the chain that leads to its authority
  std::string key;          // of that; "": in the same file
  std::string server_name;  // that all certificates are checked for; "": each server's own
};

// May go on being used in a child after a fork.
class Tls {
 public:
  // Throws a Failure (64) that names the file and the reason; where zklock was built without TLS, too.
  explicit Tls(TlsOptions options);
  Tls(const Tls&) = delete;

  // One was made.
  static bool is_used();

  const TlsOptions& options() const { return options_; }
  ssl_ctx_st* context() const { return context_.get(); }

 private:
  void trust_systems_authorities() const;
  void trust(const std::string& file, const char* origin) const;
  void take_certificate() const;
  void take_key(const std::string& text, const std::string& file) const;

  TlsOptions options_;
  std::unique_ptr<ssl_ctx_st, void (*)(ssl_ctx_st*)> context_;
};

}  // namespace zklock::host
