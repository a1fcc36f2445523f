// SPDX-License-Identifier: Apache-2.0
// host/net/tls_stream after a good handshake. Records without data do not decide how long a call takes, records with
// data may come forever, and the stream does not wait for room that is there. OpenSSL is the other side.
#include "host/fd.h"
#include "host/net/tls_stream.h"
#include "support/process.h"

#include <cstdio>
#include <memory>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <vector>

#include <gtest/gtest.h>

namespace zklock::host {
namespace tls_records_test {

constexpr size_t kTurn = 64 * 1024;
constexpr size_t kMost = 1024 * 1024;

// A server with a certificate for "server", from its own authority.
class Peer {
 public:
  explicit Peer(const std::string& file)
      : key_(EVP_EC_gen("P-256"), EVP_PKEY_free), context_(SSL_CTX_new(TLS_server_method()), SSL_CTX_free) {
    const std::unique_ptr<X509, void (*)(X509*)> certificate(X509_new(), X509_free);
    X509_set_version(certificate.get(), X509_VERSION_3);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -60);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
    X509_NAME* name = X509_get_subject_name(certificate.get());
    const std::string text = "server";
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(text.c_str()), -1, -1,
                               0);
    X509_set_issuer_name(certificate.get(), name);
    X509_set_pubkey(certificate.get(), key_.get());
    X509_sign(certificate.get(), key_.get(), EVP_sha256());
    const std::unique_ptr<FILE, int (*)(FILE*)> output(fopen(file.c_str(), "w"), fclose);
    PEM_write_X509(output.get(), certificate.get());
    SSL_CTX_use_certificate(context_.get(), certificate.get());
    SSL_CTX_use_PrivateKey(context_.get(), key_.get());
    SSL_CTX_set_num_tickets(context_.get(), 0);
    ssl_.reset(SSL_new(context_.get()));
    SSL_set_bio(ssl_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_accept_state(ssl_.get());
  }

  // Continues the handshake over `fd`.
  void shake(int fd) {
    char part[4096];
    for (ssize_t length = 0; (length = ::recv(fd, part, sizeof part, MSG_DONTWAIT)) > 0;) {
      BIO_write(SSL_get_rbio(ssl_.get()), part, static_cast<int>(length));
    }
    SSL_do_handshake(ssl_.get());
    const std::string said = take();
    EXPECT_EQ(::send(fd, said.data(), said.size(), MSG_NOSIGNAL), static_cast<ssize_t>(said.size()));
  }

  // Returns records with a change of keys each, of `size` bytes at least.
  std::string updates(size_t size) {
    std::string records;
    while (records.size() < size) {
      EXPECT_EQ(SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_NOT_REQUESTED), 1);
      EXPECT_EQ(SSL_do_handshake(ssl_.get()), 1);
      records += take();
    }
    return records;
  }

  // Returns records with so many bytes of data.
  std::string data(size_t size) {
    const std::string bytes(size, 'x');
    EXPECT_EQ(SSL_write(ssl_.get(), bytes.data(), static_cast<int>(size)), static_cast<int>(size));
    return take();
  }

 private:
  std::string take() {
    BIO* const output = SSL_get_wbio(ssl_.get());
    std::string bytes(BIO_ctrl_pending(output), '\0');
    if (!bytes.empty()) BIO_read(output, bytes.data(), static_cast<int>(bytes.size()));
    return bytes;
  }

  std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key_;
  std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context_;
  std::unique_ptr<SSL, void (*)(SSL*)> ssl_{nullptr, SSL_free};
};

// Both sides have finished the handshake.
class TlsRecords : public testing::Test {
 protected:
  TlsRecords() {
    int fds[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    ours_ = Fd(fds[0]);
    theirs_ = Fd(fds[1]);
    stream_.emplace(tls_, ours_.get(), std::vector<std::string>{"server"});
  }

  void SetUp() override {
    stream_->send("x", 1);
    for (int round = 0; round < 5 && stream_->in_handshake(); ++round) {
      peer_.shake(theirs_.get());
      stream_->advance();
    }
    peer_.shake(theirs_.get());
    ASSERT_FALSE(stream_->failure()) << stream_->failure()->trouble;
  }

  // Sends as many of the records as the socket takes, and removes these.
  void send_of(std::string& records) const {
    const ssize_t sent = ::send(theirs_.get(), records.data(), records.size(), MSG_NOSIGNAL);
    if (sent > 0) records.erase(0, static_cast<size_t>(sent));
  }

  size_t waiting() const {
    int bytes = 0;
    ioctl(ours_.get(), FIONREAD, &bytes);
    return static_cast<size_t>(bytes);
  }

  const support::TempDir folder_;
  Peer peer_{folder_.file("authority.pem")};
  const Tls tls_{{folder_.file("authority.pem"), "", "", ""}};
  Fd ours_, theirs_;
  std::optional<TlsStream> stream_;
};

TEST_F(TlsRecords, ThoseWithoutDataAreReadInTurnsAndEndTheConnectionAfterAMebibyte) {
  std::string records = peer_.updates(kMost + kTurn);
  char taken[100];
  for (ssize_t received = -1; received != 0;) {
    send_of(records);
    const size_t before = waiting();
    ASSERT_GT(before, 0u) << "it has no end";
    stream_->advance();
    received = stream_->receive(taken, sizeof taken);
    ASSERT_LE(before - waiting(), kTurn);
  }

  EXPECT_FALSE(stream_->failure()) << "it has ended, that is all";
}

TEST_F(TlsRecords, ThoseWithDataDoNotEndTheConnectionHoweverManyTheyAre) {
  std::string records = peer_.data(2 * kMost);
  std::string taken(kTurn, '\0');
  size_t received = 0;
  for (int turn = 0; turn < 1000 && received < 2 * kMost; ++turn) {
    send_of(records);
    stream_->advance();
    for (ssize_t length = 0; (length = stream_->receive(taken.data(), taken.size())) != -1;) {
      ASSERT_GT(length, 0) << "it has ended after " << received << " bytes";
      received += static_cast<size_t>(length);
    }
  }
  EXPECT_EQ(received, 2 * kMost);
}

// An owner that waits for room in vain is woken at once, forever.
TEST_F(TlsRecords, RoomInTheSocketIsWaitedForOnlyWhileThereIsNone) {
  const std::string part(16 * 1024, 'x');
  const auto send = [&] { return stream_->send(part.data(), part.size()); };
  for (int parts = 0; send() > 0; ++parts) ASSERT_LT(parts, 1000) << "the socket is never full";
  EXPECT_EQ(stream_->events(POLLIN), POLLIN | POLLOUT);
  for (std::string taken(kTurn, '\0'); ::recv(theirs_.get(), taken.data(), taken.size(), 0) > 0;) continue;
  EXPECT_TRUE(stream_->advance());
  EXPECT_GT(send(), 0);
  EXPECT_EQ(stream_->events(POLLIN), POLLIN);
}

}  // namespace tls_records_test
}  // namespace zklock::host
