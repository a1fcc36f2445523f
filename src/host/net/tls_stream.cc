// SPDX-License-Identifier: Apache-2.0
#include "host/net/tls_stream.h"

#include "host/net/resolver.h"

#include <algorithm>
#include <cerrno>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <unistd.h>

namespace zklock::host {

namespace {

constexpr size_t kMostInTurn = 64 * 1024;  // four records of TLS
constexpr size_t kMostUnsent = 64 * 1024;
// A handshake with the longest chain that OpenSSL accepts takes a tenth of that.
constexpr size_t kMostWithoutProgress = 1024 * 1024;

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

bool is_transient(int error) {
  return error == EAGAIN || error == EINTR;
}

TlsStream& stream_of(BIO* bio) {
  return *static_cast<TlsStream*>(BIO_get_data(bio));
}

}  // namespace

TlsStream::TlsStream(const Tls& tls, int fd, std::vector<std::string> names)
    : names_(to_be_checked(std::move(names), tls.options().server_name)), fd_(fd), ssl_(SSL_new(tls.context())) {
  // No exception may pass through the C library, which makes the connection.
  if (ssl_ && prepare() && demand_names()) return;
  failure_ = {TlsFailure::Kind::distrusted, "its certificate cannot be checked for its name", "name it otherwise"};
  phase_ = Phase::ended;
}

// Lets OpenSSL read and write through this object. Returns false if there is no memory.
bool TlsStream::prepare() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "zklock's stream");
    if (!made) return made;
    BIO_meth_set_read(made, on_read);
    BIO_meth_set_write(made, on_write);
    BIO_meth_set_ctrl(made, on_control);
    return made;
  }();
  BIO* const bio = method ? BIO_new(method) : nullptr;
  if (!bio) return false;
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_, bio, bio);
  return true;
}

// What exceeds a turn stays in the socket, so poll() reports it. This does not use recv(), nor on_write() send(), by
// which the C library gets to OpenSSL (zk/wire.h).
int TlsStream::on_read(BIO* bio, char* to, int size) {
  TlsStream& stream = stream_of(bio);
  BIO_clear_retry_flags(bio);
  if (stream.is_exhausted()) return -1;
  const size_t most = std::min(static_cast<size_t>(size), kMostInTurn - stream.read_in_turn_);
  const ssize_t length = most == 0 ? -1 : ::read(stream.fd_, to, most);
  if (length < 0 && (most == 0 || is_transient(errno))) BIO_set_retry_read(bio);
  stream.at_end_ = length == 0;
  if (length <= 0) return static_cast<int>(length);
  stream.read_in_turn_ += static_cast<size_t>(length);
  stream.read_since_progress_ += static_cast<size_t>(length);
  return static_cast<int>(length);
}

int TlsStream::on_write(BIO* bio, const char* data, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t length = ::write(stream_of(bio).fd_, data, static_cast<size_t>(size));
  if (length < 0 && is_transient(errno)) BIO_set_retry_write(bio);
  return static_cast<int>(length);
}

long TlsStream::on_control(BIO* bio, int command, long, void*) {
  if (command == BIO_CTRL_EOF) return stream_of(bio).at_end_;
  return command == BIO_CTRL_FLUSH;
}

bool TlsStream::is_exhausted() const {
  return read_since_progress_ >= kMostWithoutProgress;
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

bool TlsStream::advance() {
  blocked_on_ = 0;
  read_in_turn_ = 0;
  if (phase_ == Phase::handshake) {
    ERR_clear_error();
    const int result = SSL_do_handshake(ssl_);
    if (result != 1) {
      note_result(result);
      return phase_ == Phase::ended;
    }
    phase_ = Phase::open;
    read_since_progress_ = 0;
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
  if (phase_ == Phase::idle) {
    phase_ = Phase::handshake;
    SSL_set_connect_state(ssl_);
    advance();
  }
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
      read_since_progress_ = 0;
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
  TlsFailure failure = explain_failure(ssl_);
  if (is_exhausted()) {
    failure = {TlsFailure::Kind::foreign, "its TLS handshake has no end", "look what listens at that port"};
  }
  const bool counts = phase_ == Phase::handshake || failure.kind == TlsFailure::Kind::refused;
  if (counts && !failure_) failure_ = std::move(failure);
  phase_ = Phase::ended;
}

}  // namespace zklock::host
