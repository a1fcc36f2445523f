// SPDX-License-Identifier: Apache-2.0
// What all TLS connections of this process share: the files and the rules. The files are read at the start, and again
// for a new connection if they have changed: certificates are renewed while zklock runs. A server's certificate is
// always checked: its chain up to an authority that is trusted, its dates, and that it is for the name or address by
// which the server is known here. TLS 1.2 at least. OpenSSL's configuration file is not read: it could name modules to
// be loaded. This and the files beside it alone include OpenSSL; where zklock is built without it, no_tls.cc stands for
// the rest.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

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
  // For a new connection; until the next call. If the files have changed and are good, of what they say now; if they
  // are not, of what they said before, which is said once on standard error. Throws nothing.
  ssl_ctx_st* context() const;

 private:
  using Context = std::unique_ptr<ssl_ctx_st, void (*)(ssl_ctx_st*)>;

  // A file as it was when it was last read or tried: which it is, how long, written when. All 0 if it is not there.
  struct Version {
    uint64_t device = 0;
    uint64_t inode = 0;
    int64_t size = 0;
    int64_t written_ns = 0;
    bool operator==(const Version&) const = default;
  };

  std::vector<Version> versions() const;

  TlsOptions options_;
  mutable std::vector<Version> versions_;  // of those of the three files that are named
  mutable Context context_;
};

}  // namespace zklock::host
