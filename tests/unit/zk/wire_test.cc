// SPDX-License-Identifier: Apache-2.0
#include "zk/wire.h"

#include "host/fd.h"
#include "host/net/tls_stream.h"

#include <cstdint>
#include <memory>
#include <string>
#include <sys/socket.h>
#include <vector>

#include <gtest/gtest.h>

namespace zklock::zk {
namespace wire_test {

std::string number(int32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(static_cast<uint32_t>(value) >> shift);
  return bytes;
}

std::string text(const std::string& value) {
  return number(static_cast<int32_t>(value.size())) + value;
}

std::string answer(int32_t error, const std::string& body, int32_t xid = 7) {
  return number(xid) + std::string(8, '\0') + number(error) + body;
}

const std::string kStat(68, '\1');

Request list() {
  return {Op::children, "/l"};
}

bool fits_list(const std::string& body) {
  const Request asked = list();
  return fits(answer(0, body), &asked, false);
}

std::string result(int32_t type, const std::string& body) {
  return number(type) + std::string(1, '\0') + number(0) + body;
}

const std::string kDone = number(-1) + "\1" + number(-1);

TEST(Reply, ListNeedsAsManyNamesAsItSaysAndTheStat) {
  EXPECT_TRUE(fits_list(number(2) + text("a") + text("b") + kStat));
  EXPECT_TRUE(fits_list(number(0) + kStat));
  EXPECT_FALSE(fits_list(""));
  EXPECT_FALSE(fits_list(number(3) + text("a") + text("b") + kStat));
  EXPECT_FALSE(fits_list(number(1) + text("a") + kStat.substr(1)));
  EXPECT_FALSE(fits_list(number(-1) + kStat));
  EXPECT_FALSE(fits_list(number(0x7fffffff) + text("a") + kStat));
  EXPECT_FALSE(fits_list(number(1) + number(-5) + kStat));
}

TEST(Reply, NameThatCanBeNonePoisonsTheList) {
  for (const std::string name : {"", ".", "..", "a/b", "a\nb"}) {
    EXPECT_FALSE(fits_list(number(1) + text(name) + kStat)) << name;
  }
  EXPECT_TRUE(fits_list(number(1) + text("\xff\xfe") + kStat));
}

TEST(Reply, ErrorNeedsNoBody) {
  const Request asked = list();
  EXPECT_TRUE(fits(answer(-101, ""), &asked, false));
  EXPECT_FALSE(fits(answer(101, ""), &asked, false));
}

TEST(Reply, ErrorsOfTheLibraryAreNoServers) {
  const Request asked = list();
  for (const int error : {-4, -7, -9, -116, -117}) EXPECT_FALSE(fits(answer(error, ""), &asked, false)) << error;
}

TEST(Reply, AnswerToNothingDoesNotFit) {
  EXPECT_FALSE(fits(answer(0, ""), nullptr, false));
  EXPECT_FALSE(fits("", nullptr, false));
}

TEST(Reply, PingNeedsNoRequestAndAuthCredentials) {
  EXPECT_TRUE(fits(answer(0, "", -2), nullptr, false));
  EXPECT_FALSE(fits(answer(-115, "", -4), nullptr, false));
  EXPECT_TRUE(fits(answer(-115, "", -4), nullptr, true));
}

TEST(Reply, TheEndOfTheSessionIsTheLastOne) {
  const Request asked{Op::remove, "/l", 0};
  EXPECT_TRUE(fits(answer(0, "", -11), nullptr, false, true));
  EXPECT_FALSE(fits(answer(0, "", -11), &asked, false, true));
  EXPECT_FALSE(fits(answer(0, "", -11), nullptr, false, false));
  EXPECT_FALSE(fits(answer(-112, "", -11), nullptr, false, true)) << "it is refused, and the session lives";
}

// The library believes that a watch is set, whatever the answer. A throttling server refuses it like any
// request.
TEST(Reply, WatchesThatAreRefusedEndTheConnection) {
  EXPECT_TRUE(fits(answer(0, "", -8), nullptr, false));
  EXPECT_FALSE(fits(answer(-127, "", -8), nullptr, false));
}

TEST(Reply, NotificationHasTypeAndPath) {
  EXPECT_TRUE(fits(answer(0, number(4) + number(3) + text("/l"), -1), nullptr, false));
  EXPECT_FALSE(fits(answer(0, number(-1) + number(3) + text("/l"), -1), nullptr, false));
  EXPECT_FALSE(fits(answer(0, number(4) + number(3) + number(-1), -1), nullptr, false));
}

TEST(Reply, CreateTellsThePathThatWasAskedFor) {
  const Request asked{Op::create, "/l/n-"};
  EXPECT_TRUE(fits(answer(0, text("/l/n-0000000003")), &asked, false));
  EXPECT_TRUE(fits(answer(0, text("/l/n-")), &asked, false));
  EXPECT_TRUE(fits(answer(0, text("/l/n--000000003")), &asked, false));
  EXPECT_TRUE(fits(answer(0, text("/l/n--2147483648")), &asked, false));
  EXPECT_FALSE(fits(answer(0, text("/l/n-000000003")), &asked, false));
  EXPECT_FALSE(fits(answer(0, text("/l/n-x")), &asked, false));
  EXPECT_FALSE(fits(answer(0, text("/m/n-0000000003")), &asked, false));
}

TEST(Reply, DataMayBeMissing) {
  const Request asked{Op::read, "/l"};
  EXPECT_TRUE(fits(answer(0, number(-1) + kStat), &asked, false));
  EXPECT_FALSE(fits(answer(0, number(-2) + kStat), &asked, false));
}

TEST(Reply, TransactionHasOneResultForEachStep) {
  const Request asked{Op::transaction, "/a", 0, {{Op::check, "/a"}, {Op::create, "/a/b"}}};
  const std::string checked = result(13, "");
  const std::string made = result(1, text("/a/b"));
  EXPECT_TRUE(fits(answer(0, checked + made + kDone), &asked, false));
  EXPECT_FALSE(fits(answer(0, checked + kDone), &asked, false));
  EXPECT_FALSE(fits(answer(0, checked + made + made + kDone), &asked, false));
  EXPECT_FALSE(fits(answer(0, checked + made), &asked, false));
}

TEST(Reply, FailedTransactionSaysWhy) {
  const Request asked{Op::check, "/a", 0, {{Op::check, "/a"}, {Op::check, "/b"}}};
  EXPECT_TRUE(fits(answer(0, result(-1, number(0)) + result(-1, number(-101)) + kDone), &asked, false));
  EXPECT_FALSE(fits(answer(0, result(-1, number(0)) + result(-1, number(-2)) + kDone), &asked, false));
}

TEST(Reply, HandshakeHasPasswordAndTimeout) {
  const std::string rest = std::string(8, '\1') + text(std::string(16, 'p'));
  EXPECT_TRUE(is_handshake(number(0) + number(4000) + rest, false));
  EXPECT_TRUE(is_handshake(number(0) + number(4000) + rest + '\0', false));
  EXPECT_TRUE(is_handshake(number(0) + number(0) + rest, true));
  EXPECT_FALSE(is_handshake(number(0) + number(0) + rest, false));
  EXPECT_FALSE(is_handshake(number(0) + number(-1) + rest, true));
  EXPECT_FALSE(is_handshake(number(0) + number(4000) + rest + "xx", false));
}

// The library doubles the timeout.
TEST(Reply, HandshakeHasNoTimeoutThatTheLibraryCannotDouble) {
  const auto handshake = [](int32_t timeout) {
    return number(0) + number(timeout) + std::string(8, '\1') + text(std::string(16, 'p'));
  };
  EXPECT_TRUE(is_handshake(handshake(1'000'000'000), false));
  EXPECT_FALSE(is_handshake(handshake(1'000'000'001), false));
}

TEST(Reply, WhoSpeaksAnotherProtocolIsNamed) {
  EXPECT_NE(stranger("\x15\x03\x03").find("TLS"), std::string_view::npos);
  EXPECT_NE(stranger("HTTP").find("HTTP"), std::string_view::npos);
  EXPECT_EQ(stranger("\1\2\3\4"), "");
}

class WireTest : public testing::Test {
 protected:
  WireTest() {
    int fds[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    ours_ = host::Fd(fds[0]);
    theirs_ = host::Fd(fds[1]);
  }
  // Returns how many bytes the library gets; -1 for nothing yet.
  ssize_t receive_after(const std::string& bytes) {
    EXPECT_EQ(::send(theirs_.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    char taken[64 * 1024];
    return wire_.receive(ours_.get(), taken, sizeof taken, 0);
  }

  void answer_handshake() { EXPECT_EQ(receive_after(number(4) + "good"), 8); }

  // Begins another connection. connect(2) itself fails, because the pair is already connected.
  void connect_again(Wire& wire) {
    sockaddr_storage to{};
    to.ss_family = AF_INET;
    wire.aim(to, {"127.0.0.1"});
    EXPECT_EQ(wire.connect(ours_.get(), reinterpret_cast<const sockaddr*>(&to)), -1);
  }

  host::Fd ours_, theirs_;
  Wire wire_{[](std::string_view) { return true; }};
};

constexpr ssize_t kPing = 20;

// Otherwise a byte now and then would be a sign of life forever.
TEST_F(WireTest, AKibibyteOfAnAnswerIsASignOfLifeAndLessIsNone) {
  answer_handshake();
  EXPECT_EQ(receive_after(number(5000) + std::string(100, 'x')), -1);
  EXPECT_EQ(receive_after(std::string(100, 'x')), -1);
  EXPECT_EQ(receive_after(std::string(1024, 'x')), kPing);
  EXPECT_EQ(receive_after(std::string(100, 'x')), -1);
  EXPECT_EQ(receive_after(std::string(3676, 'x')), 5004);
}

TEST_F(WireTest, WhatHasComeOfAnAnswerIsNotCountedForTheNext) {
  answer_handshake();
  EXPECT_EQ(receive_after(number(5000) + std::string(4000, 'x')), kPing);
  EXPECT_EQ(receive_after(std::string(1000, 'x')), 5004);
  EXPECT_EQ(receive_after(number(5000) + std::string(1024, 'x')), kPing);
}

// The library would take a ping's answer for a part of the handshake's: a session with the number 0.
TEST_F(WireTest, BeforeTheHandshakeIsAnsweredNothingIsASignOfLife) {
  EXPECT_EQ(receive_after(number(5000) + std::string(2000, 'x')), -1);
  EXPECT_EQ(receive_after(std::string(2000, 'x')), -1);
  EXPECT_EQ(wire_.progressed(), Deadline{});
}

TEST_F(WireTest, WhatIsMoreThanATurnTakesWaitsForTheNextOne) {
  Wire wire([](std::string_view) { return true; }, nullptr, 1000);
  const std::string frame = number(1500) + std::string(1500, 'x');
  EXPECT_EQ(::send(theirs_.get(), frame.data(), frame.size(), 0), 1504);
  char taken[2000];
  EXPECT_EQ(wire.receive(ours_.get(), taken, sizeof taken, 0), -1);
  EXPECT_EQ(wire.receive(ours_.get(), taken, sizeof taken, 0), -1);
  EXPECT_TRUE(wire.advance());
  EXPECT_EQ(wire.receive(ours_.get(), taken, sizeof taken, 0), 1504);
}

TEST_F(WireTest, AConnectionThatWeEndEndsInTheSameTurn) {
  Wire wire([](std::string_view) { return true; }, nullptr, 10);
  const std::string begun = number(100) + "012345";
  EXPECT_EQ(::send(theirs_.get(), begun.data(), begun.size(), 0), 10);
  char taken[20];
  EXPECT_EQ(wire.receive(ours_.get(), taken, sizeof taken, 0), -1);
  wire.note_cut();
  shutdown(ours_.get(), SHUT_RDWR);
  EXPECT_EQ(wire.receive(ours_.get(), taken, sizeof taken, 0), 0);
  EXPECT_EQ(wire.end(), ConnectionEnd::cut);
}

TEST_F(WireTest, AnAnswerThatIsTooLongEndsTheConnection) {
  EXPECT_EQ(receive_after(number(64 * 1024 * 1024 + 1)), 0);
  EXPECT_EQ(wire_.end(), ConnectionEnd::nonsense);
}

TEST_F(WireTest, WhoHasEndedTheConnectionIsKnown) {
  theirs_.reset();
  char taken[1];
  EXPECT_EQ(wire_.receive(ours_.get(), taken, sizeof taken, 0), 0);
  EXPECT_EQ(wire_.end(), ConnectionEnd::closed);
}

TEST_F(WireTest, WhatBeganOnTheConnectionBeforeHasNotBegunOnTheNext) {
  EXPECT_EQ(wire_.send(ours_.get(), "x", 1, 0), 1);
  EXPECT_NE(wire_.begun_at(), Deadline{});
  connect_again(wire_);
  EXPECT_EQ(wire_.begun_at(), Deadline{});
}

TEST_F(WireTest, AFailureOfTlsIsForgottenWithTheNextConnection) {
  if (host::tls_version() == "no TLS") GTEST_SKIP() << "built without TLS";
  const host::Tls tls{host::TlsOptions{}};
  Wire wire([](std::string_view) { return true; }, &tls);
  connect_again(wire);
  EXPECT_EQ(wire.send(ours_.get(), "x", 1, 0), 1);
  wire.note_cut();
  char taken[1];
  EXPECT_EQ(wire.receive(ours_.get(), taken, sizeof taken, 0), 0);
  EXPECT_TRUE(wire.tls_failure()) << "it was silent in the handshake";
  connect_again(wire);
  EXPECT_FALSE(wire.tls_failure());
}

}  // namespace wire_test
}  // namespace zklock::zk
