// SPDX-License-Identifier: Apache-2.0
// Takes the place of the other TLS files if zklock is built without OpenSSL. No Tls can be made, so no stream is used.
#include "base/failure.h"
#include "host/net/tls_stream.h"

namespace zklock::host {

std::string tls_version() {
  return "no TLS";
}

Tls::Tls(TlsOptions) : context_(nullptr, nullptr) {
  throw Failure(ExitStatus::usage, "TLS was asked for, and this zklock was built without it (see zklock -V)");
}

ssl_ctx_st* Tls::context() const {
  return nullptr;
}

TlsStream::TlsStream(const Tls&, int, std::vector<std::string>) : fd_(-1), ssl_(nullptr) {}
TlsStream::~TlsStream() = default;
ssize_t TlsStream::send(const void*, size_t) {
  return -1;
}
ssize_t TlsStream::receive(void*, size_t) {
  return 0;
}
void TlsStream::hold(bool) {}
bool TlsStream::advance() {
  return true;
}
short TlsStream::events(short wanted) const {
  return wanted;
}

}  // namespace zklock::host
