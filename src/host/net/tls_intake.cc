// SPDX-License-Identifier: Apache-2.0
#include "host/net/tls_intake.h"

#include <algorithm>
#include <cerrno>
#include <openssl/bio.h>
#include <unistd.h>

namespace zklock::host {

namespace {

constexpr size_t kMostInTurn = 64 * 1024;  // four records of TLS
// A handshake with the longest chain that OpenSSL accepts takes a tenth of that.
constexpr size_t kMostWithoutProgress = 1024 * 1024;

bool is_transient(int error) {
  return error == EAGAIN || error == EINTR;
}

}  // namespace

// The functions that OpenSSL calls. They do not use recv() and send(), by which the C library gets to OpenSSL
// (zk/wire.h).
struct IntakeBio {
  static TlsIntake& intake_of(BIO* bio) { return *static_cast<TlsIntake*>(BIO_get_data(bio)); }

  static int read(BIO* bio, char* to, int size) {
    TlsIntake& intake = intake_of(bio);
    BIO_clear_retry_flags(bio);
    if (intake.is_exhausted()) return -1;
    const size_t most = std::min(static_cast<size_t>(size), kMostInTurn - intake.read_in_turn_);
    const ssize_t length = most == 0 ? -1 : ::read(intake.fd_, to, most);
    if (length < 0 && (most == 0 || is_transient(errno))) BIO_set_retry_read(bio);
    intake.at_end_ = length == 0;
    if (length <= 0) return static_cast<int>(length);
    intake.read_in_turn_ += static_cast<size_t>(length);
    intake.read_since_progress_ += static_cast<size_t>(length);
    return static_cast<int>(length);
  }

  static int write(BIO* bio, const char* data, int size) {
    BIO_clear_retry_flags(bio);
    const ssize_t length = ::write(intake_of(bio).fd_, data, static_cast<size_t>(size));
    if (length < 0 && is_transient(errno)) BIO_set_retry_write(bio);
    return static_cast<int>(length);
  }

  static long control(BIO* bio, int command, long, void*) {
    if (command == BIO_CTRL_EOF) return intake_of(bio).at_end_;
    return command == BIO_CTRL_FLUSH;
  }

  static BIO_METHOD* method() {
    static BIO_METHOD* const method = [] {
      BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "zklock's intake");
      if (!made) return made;
      BIO_meth_set_read(made, read);
      BIO_meth_set_write(made, write);
      BIO_meth_set_ctrl(made, control);
      return made;
    }();
    return method;
  }
};

bio_st* TlsIntake::new_bio() {
  BIO* const bio = IntakeBio::method() ? BIO_new(IntakeBio::method()) : nullptr;
  if (!bio) return nullptr;
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  return bio;
}

bool TlsIntake::is_exhausted() const {
  return read_since_progress_ >= kMostWithoutProgress;
}

}  // namespace zklock::host
