// SPDX-License-Identifier: Apache-2.0
#include "host/net/tls_stream.h"

#include "host/net/resolver.h"

#include <algorithm>
#include <cerrno>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>

namespace zklock::host {

namespace {

constexpr size_t kMostUnsent = 64 * 1024;  // four records of TLS

// Returns the name without what no certificate contains: an IPv6 address's zone, and the dot that ends a name.
std::string as_certified(const std::string& name) {
  if (name.find(':') != std::string::npos) return name.substr(0, name.find('%'));
  return name.ends_with('.') ? name.substr(0, name.size() - 1) : name;
}

// Returns the host names, if there are any, else the first address. With both, OpenSSL would want the address to be in
// the certificate as well.
std::vector<std::string> to_be_checked(std::vector<std::string> names, const std::string& instead) {
  if (!instead.empty()) names = {instead};
  for (std::string& name : names) name = as_certified(name);
  const auto is_name = [](const std::string& one) { return !is_numeric_address(one); };
  const auto addresses = std::stable_partition(names.begin(), names.end(), is_name);
  if (addresses == names.begin()) return {names.front()};
  names.erase(addresses, names.end());
  return names;
}

}  // namespace

TlsStream::TlsStream(const Tls& tls, int fd, std::vector<std::string> names)
    : names_(to_be_checked(std::move(names), tls.options().server_name)), intake_(fd), ssl_(SSL_new(tls.context())) {
  // No exception may pass through the C library, which makes the connection.
  if (ssl_ && prepare() && demand_names()) return;
  failure_ = {TlsFailure::Kind::distrusted, "its certificate cannot be checked for its name", "name it otherwise"};
  phase_ = Phase::ended;
}

// Gives OpenSSL the intake to read and write through.
bool TlsStream::prepare() {
  BIO* const bio = intake_.new_bio();
  if (bio) SSL_set_bio(ssl_, bio, bio);
  return bio != nullptr;
}

// Returns whether the names will be checked. OpenSSL accepts a certificate for any name if it was given none.
bool TlsStream::demand_names() {
  SSL_set_app_data(ssl_, this);
  SSL_set_verify(ssl_, SSL_VERIFY_PEER, on_verified);
  SSL_set_hostflags(ssl_, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  const std::string& first = names_.front();
  if (is_numeric_address(first)) return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_), first.c_str()) == 1;
  // SSL_set_tlsext_host_name() is a macro with an old-style cast, which our compiler flags forbid.
  SSL_ctrl(ssl_, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, const_cast<char*>(first.c_str()));
  return std::ranges::all_of(names_, [this](const auto& name) { return SSL_add1_host(ssl_, name.c_str()) == 1; });
}

// The failure is explained here, because a certificate that was not accepted cannot be had later.
int TlsStream::on_verified(int good, x509_store_ctx_st* verification) {
  if (good) return good;
  const void* ssl = X509_STORE_CTX_get_ex_data(verification, SSL_get_ex_data_X509_STORE_CTX_idx());
  TlsStream& stream = *static_cast<TlsStream*>(SSL_get_app_data(static_cast<const SSL*>(ssl)));
  stream.failure_ = explain_distrust(verification, stream.names_);
  return good;
}

TlsStream::~TlsStream() {
  SSL_free(ssl_);
}

void TlsStream::begin_handshake() {
  phase_ = Phase::handshake;
  SSL_set_connect_state(ssl_);
  advance();
}

bool TlsStream::advance() {
  blocked_on_ = 0;
  intake_.begin_turn();
  if (phase_ == Phase::handshake) {
    ERR_clear_error();
    const int result = SSL_do_handshake(ssl_);
    if (result != 1) {
      note_result(result);
      return phase_ == Phase::ended;
    }
    phase_ = Phase::open;
    intake_.note_progress();
    drained_ = false;
  }
  flush();
  return true;
}

short TlsStream::events(short wanted) const {
  if (phase_ == Phase::handshake) return blocked_on_;
  return static_cast<short>(wanted | blocked_on_);
}

ssize_t TlsStream::send(const void* data, size_t size) {
  if (phase_ == Phase::idle) begin_handshake();
  if (phase_ != Phase::open || held_) {
    if (unsent_.size() >= kMostUnsent) flush();
    if (unsent_.size() < kMostUnsent) {
      unsent_.append(static_cast<const char*>(data), size);
      return static_cast<ssize_t>(size);
    }
  } else {
    flush();
    ERR_clear_error();
    const int sent = unsent_.empty() && phase_ == Phase::open ? SSL_write(ssl_, data, static_cast<int>(size)) : 0;
    if (sent > 0) return sent;
    if (unsent_.empty() && phase_ == Phase::open) note_result(sent);
  }
  if (phase_ == Phase::ended) return static_cast<ssize_t>(size);
  errno = EAGAIN;
  return -1;
}

ssize_t TlsStream::receive(void* to, size_t size) {
  if (phase_ == Phase::open) {
    ERR_clear_error();
    const int length = SSL_read(ssl_, to, static_cast<int>(size));
    drained_ = length <= 0;
    if (length > 0) {
      intake_.note_progress();
      return length;
    }
    note_result(length);
  }
  if (phase_ == Phase::ended) return 0;
  errno = EAGAIN;
  return -1;
}

void TlsStream::hold(bool held) {
  held_ = held;
  if (!held) flush();
}

void TlsStream::flush() {
  size_t sent = 0;
  while (phase_ == Phase::open && sent < unsent_.size()) {
    ERR_clear_error();
    const int taken = SSL_write(ssl_, unsent_.data() + sent, static_cast<int>(unsent_.size() - sent));
    if (taken > 0) {
      sent += static_cast<size_t>(taken);
      continue;
    }
    note_result(taken);
    break;
  }
  unsent_.erase(0, sent);
}

// Records why OpenSSL could not do what was asked.
void TlsStream::note_result(int result) {
  const int error = SSL_get_error(ssl_, result);
  if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) {
    const bool writing = error == SSL_ERROR_WANT_WRITE;
    blocked_on_ = static_cast<short>(blocked_on_ | (writing ? POLLOUT : POLLIN));
    return;
  }
  TlsFailure failure = intake_.is_exhausted() ? endless_handshake() : explain_failure(ssl_);
  const bool counts = phase_ == Phase::handshake || failure.kind == TlsFailure::Kind::refused;
  if (counts && !failure_) failure_ = std::move(failure);
  phase_ = Phase::ended;
}

}  // namespace zklock::host
