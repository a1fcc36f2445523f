// SPDX-License-Identifier: Apache-2.0
// host/net/tls_stream: what the other side sends does not decide how long a call takes. The tests use a socket of their
// own, whose other end speaks no TLS.
#include "host/net/tls_stream.h"

#include "host/fd.h"

#include <poll.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <gtest/gtest.h>

namespace zklock::host {
namespace tls_stream_test {

constexpr size_t kTurn = 64 * 1024;
constexpr size_t kMost = 1024 * 1024;

class TlsStreamTest : public testing::Test {
 protected:
  TlsStreamTest() {
    int fds[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    ours_ = Fd(fds[0]);
    theirs_ = Fd(fds[1]);
  }

  void SetUp() override {
    if (tls_version() == "no TLS") GTEST_SKIP() << "built without TLS";
  }

  // Sends as many records full of HelloRequests as the socket takes; OpenSSL skips these in a handshake. Returns how
  // many bytes then wait to be read.
  int fill() {
    const std::string record = std::string("\x16\x03\x03\x40\x00", 5) + std::string(16384, '\0');
    for (size_t sent = 0;;) {
      const ssize_t length = ::send(theirs_.get(), record.data() + offset_, record.size() - offset_, MSG_NOSIGNAL);
      if (length <= 0) break;
      offset_ = (offset_ + static_cast<size_t>(length)) % record.size();
      sent += static_cast<size_t>(length);
      if (sent > kMost) break;
    }
    return waiting();
  }

  int waiting() const {
    int bytes = 0;
    ioctl(ours_.get(), FIONREAD, &bytes);
    return bytes;
  }

  Fd ours_, theirs_;
  size_t offset_ = 0;
};

TEST_F(TlsStreamTest, ATurnOfAHandshakeReadsNoMoreThan64KiB) {
  const Tls tls{TlsOptions{}};
  TlsStream stream(tls, ours_.get(), {"127.0.0.1"});
  stream.send("x", 1);
  const int before = fill();
  ASSERT_GT(before, static_cast<int>(kTurn));
  EXPECT_FALSE(stream.advance());
  EXPECT_EQ(before - waiting(), static_cast<int>(kTurn));
  EXPECT_TRUE(stream.in_handshake());
  EXPECT_TRUE(stream.events(0) & POLLIN) << "what is left wakes it up";
}

TEST_F(TlsStreamTest, AHandshakeWithoutAnEndFailsAfterAMebibyte) {
  const Tls tls{TlsOptions{}};
  TlsStream stream(tls, ours_.get(), {"127.0.0.1"});
  stream.send("x", 1);
  size_t turns = 0;
  for (; !stream.failure() && turns <= kMost / kTurn; ++turns) {
    fill();
    stream.advance();
  }
  ASSERT_TRUE(stream.failure());
  EXPECT_EQ(turns, kMost / kTurn);
  EXPECT_EQ(stream.failure()->kind, TlsFailure::Kind::foreign);
  EXPECT_EQ(stream.failure()->trouble, "its TLS handshake has no end");
  char taken[1];
  EXPECT_EQ(stream.receive(taken, sizeof taken), 0);
}

}  // namespace tls_stream_test
}  // namespace zklock::host
