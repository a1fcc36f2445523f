// SPDX-License-Identifier: Apache-2.0
// host/net/tls_stream behind a good handshake: records that bring no data do not decide how long a call takes. The
// other side is OpenSSL's.
#include "host/fd.h"
#include "host/net/tls_stream.h"
#include "support/process.h"

#include <cstdio>
#include <memory>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <gtest/gtest.h>

namespace zklock::host {
namespace tls_records_test {

constexpr size_t kTurn = 64 * 1024;
constexpr size_t kMost = 1024 * 1024;

// A server whose certificate is for "server", and its own authority's.
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

  // Goes on with the handshake over `fd`.
  void shake(int fd) {
    char part[4096];
    for (ssize_t length = 0; (length = ::recv(fd, part, sizeof part, MSG_DONTWAIT)) > 0;) {
      BIO_write(SSL_get_rbio(ssl_.get()), part, static_cast<int>(length));
    }
    SSL_do_handshake(ssl_.get());
    const std::string said = take();
    EXPECT_EQ(::send(fd, said.data(), said.size(), MSG_NOSIGNAL), static_cast<ssize_t>(said.size()));
  }

  // Records with a change of keys each, of `size` bytes at least.
  std::string updates(size_t size) {
    std::string records;
    while (records.size() < size) {
      EXPECT_EQ(SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_NOT_REQUESTED), 1);
      EXPECT_EQ(SSL_do_handshake(ssl_.get()), 1);
      records += take();
    }
    return records;
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

TEST(TlsRecords, ThoseWithoutDataAreReadInTurnsAndEndTheConnectionAfterAMebibyte) {
  const support::TempDir folder;
  Peer peer(folder.file("authority.pem"));
  int fds[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
  const Fd ours(fds[0]), theirs(fds[1]);
  const Tls tls{{folder.file("authority.pem"), "", "", ""}};
  TlsStream stream(tls, ours.get(), {"server"});
  stream.send("x", 1);
  for (int round = 0; round < 5 && stream.in_handshake(); ++round) {
    peer.shake(theirs.get());
    stream.advance();
  }
  peer.shake(theirs.get());
  ASSERT_FALSE(stream.failure()) << stream.failure()->trouble;

  std::string records = peer.updates(kMost + kTurn);
  const auto waiting = [&] {
    int bytes = 0;
    ioctl(ours.get(), FIONREAD, &bytes);
    return static_cast<size_t>(bytes);
  };
  char taken[100];
  for (ssize_t received = -1; received != 0;) {
    const ssize_t sent = ::send(theirs.get(), records.data(), records.size(), MSG_NOSIGNAL);
    if (sent > 0) records.erase(0, static_cast<size_t>(sent));
    const size_t before = waiting();
    ASSERT_GT(before, 0u) << "it has no end";
    stream.advance();
    received = stream.receive(taken, sizeof taken);
    ASSERT_LE(before - waiting(), kTurn);
  }

  EXPECT_FALSE(stream.failure()) << "it has ended, that is all";
}

}  // namespace tls_records_test
}  // namespace zklock::host
