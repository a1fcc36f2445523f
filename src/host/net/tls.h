// SPDX-License-Identifier: Apache-2.0
// What all TLS connections of this process share: the files and the rules. The files are read at the start, and again
// for a new connection if they have changed, because certificates are renewed while zklock runs.
// A server's certificate is always checked: its chain up to a trusted authority, its dates, and the name or address of
// the server. The version is TLS 1.2 at least. OpenSSL's configuration file is not read, because it could name modules
// to be loaded.
// Only the TLS files of this folder include OpenSSL. If zklock is built without it, no_tls.cc takes their place.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct ssl_ctx_st;

namespace zklock::host {

// Returns "TLS by OpenSSL 3.0.19", or "no TLS", for -V.
std::string tls_version();

// All files are PEM; "" if none is named.
struct TlsOptions {
  std::string authorities;  // "": the system's, or those of SSL_CERT_FILE and SSL_CERT_DIR
  std::string certificate;  // ours, with the chain that leads to its authority
  std::string key;          // our certificate's key; "": in the same file
  std::string server_name;  // the name that all certificates must be for; "": each server's own
};

// A child may go on using it after a fork.
class Tls {
 public:
  // Reads the files. Throws a Failure (64) that names the file and the reason, or that says that zklock was built
  // without TLS.
  explicit Tls(TlsOptions options);
  Tls(const Tls&) = delete;

  // Returns whether a Tls was made, or is being made.
  static bool is_used();

  const TlsOptions& options() const { return options_; }
  // Returns the context for a new connection. It is valid until the next call. If the files have changed, and none is a
  // pipe, they are read again. If they are bad then, what they contained before stays in use, and a message on standard
  // error says so once. Throws nothing.
  ssl_ctx_st* context() const;

 private:
  using Context = std::unique_ptr<ssl_ctx_st, void (*)(ssl_ctx_st*)>;

  // The state of a file when it was last read or tried: which file it is, its size, and when it was written. All are 0
  // if there is no file.
  struct Version {
    uint64_t device = 0;
    uint64_t inode = 0;
    int64_t size = 0;
    int64_t written_ns = 0;
    bool operator==(const Version&) const = default;
  };

  std::vector<Version> versions() const;

  TlsOptions options_;
  mutable std::vector<Version> versions_;  // one for each of the three files that is named
  mutable Context context_;
};

}  // namespace zklock::host
