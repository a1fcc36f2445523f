// SPDX-License-Identifier: Apache-2.0
// zk/session against real servers, through a failing proxy.
#include "zk/session.h"

#include "support/fault_proxy.h"
#include "support/sandbox.h"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <gtest/gtest.h>

namespace zklock::zk {
namespace session_test {

using namespace std::chrono_literals;
using test::eventually;
using test::FaultProxy;
using test::options_for;
using test::Script;

// No program listens there: the port was free a moment ago.
std::string dead_address() {
  const FaultProxy gone(test::shared_servers());
  return gone.address();
}

Failure failure_of_opening(const SessionOptions& options, Deadline until = deadline_in(20s)) {
  host::Loop loop;
  Session session(loop, options);
  const Within within(session, until);
  try {
    session.open();
  } catch (const Failure& failure) {
    return failure;
  }
  return {ExitStatus::done, "it opened"};
}

class SessionTest : public testing::Test {
 protected:
  Session& open(const SessionOptions& options) {
    session_.emplace(loop_, options);
    session_->open();
    return *session_;
  }

  std::string server_ = test::shared_servers();
  host::Loop loop_;
  std::optional<Session> session_;
};

TEST_F(SessionTest, UsesTheTimeoutThatTheServerGrantsNotTheOneAskedFor) {
  Session& session = open(options_for(server_, 100ms));
  EXPECT_GT(session.timeout(), 100ms);
  EXPECT_EQ(session.timeout(), session.client().session_timeout());
}

TEST_F(SessionTest, MakesAChrootThatDoesNotExist) {
  const std::string chroot = test::new_chroot() + "/a/b";
  Session& session = open(options_for(server_ + chroot));
  session.make_node("/locks/job", CreateMode::container);
  EXPECT_EQ(session.children("/locks").names, std::vector<std::string>{"job"});
  test::Observer observer(server_);
  EXPECT_EQ(observer.children(chroot), std::vector<std::string>{"locks"});
}

TEST_F(SessionTest, GivesPathsBelowTheChroot) {
  Session& session = open(options_for(server_ + test::new_chroot()));
  session.make_node("/l", CreateMode::container);
  const Call made = session.client().create("/l/n-", "data", CreateMode::ephemeral_sequential);
  EXPECT_EQ(session.await(made).path, "/l/n-0000000000");
  const Answer read = session.read("/l/n-0000000000");
  EXPECT_EQ(read.data, "data");
  EXPECT_EQ(read.stat.ephemeral_owner, session.id());
}

TEST_F(SessionTest, SaysWhichServersItCannotReachAndWhy) {
  SessionOptions options = options_for(dead_address());
  options.connect_timeout = 200ms;
  const Failure failure = failure_of_opening(options);
  EXPECT_EQ(failure.status(), ExitStatus::unavailable);
  EXPECT_NE(failure.text().find(options.servers.text()), std::string::npos) << failure.text();
  EXPECT_NE(failure.text().find("from the test"), std::string::npos) << failure.text();
  EXPECT_NE(failure.text().find("Connection refused"), std::string::npos) << failure.text();
}

// Packets are dropped.
TEST_F(SessionTest, GivesUpOnAServerThatNeverAnswers) {
  FaultProxy proxy(server_);
  proxy.set(FaultProxy::Mode::silent);
  SessionOptions options = options_for(proxy.address());
  options.connect_timeout = 300ms;
  EXPECT_EQ(failure_of_opening(options).status(), ExitStatus::unavailable);
}

TEST_F(SessionTest, EachServerHasItsTurnWithinTheConnectTimeout) {
  FaultProxy silent(server_), other(server_);
  silent.set(FaultProxy::Mode::silent);
  // The library chooses the first server at random.
  for (int tries = 0; tries < 30 && silent.accepted() == 0; ++tries) {
    host::Loop loop;
    SessionOptions options = options_for(silent.address() + "," + other.address());
    options.session_timeout = 30s;
    options.connect_timeout = 2s;
    Session session(loop, options);
    ASSERT_NO_THROW(session.open());
    EXPECT_EQ(session.server(), other.address());
  }
  EXPECT_GT(silent.accepted(), 0);
}

// The caller's deadline also bounds connecting, before any answer.
TEST_F(SessionTest, TheDeadlineBoundsConnecting) {
  FaultProxy proxy(server_);
  proxy.set(FaultProxy::Mode::silent);
  const Failure failure = failure_of_opening(options_for(proxy.address()), deadline_in(200ms));
  EXPECT_EQ(failure.status(), ExitStatus::unavailable);
}

// DNS fails.
TEST_F(SessionTest, NamesAHostThatDoesNotResolve) {
  const Failure failure = failure_of_opening(options_for("nonexistent.invalid"));
  EXPECT_EQ(failure.status(), ExitStatus::unavailable);
  EXPECT_NE(failure.text().find("nonexistent.invalid"), std::string::npos) << failure.text();
}

TEST_F(SessionTest, OneNameThatResolvesIsEnough) {
  const std::string port = server_.substr(server_.rfind(':'));
  EXPECT_TRUE(open(options_for("nonexistent.invalid,localhost" + port)).connected());
}

TEST_F(SessionTest, ConnectsByIPv6) {
  std::optional<FaultProxy> proxy;
  try {
    proxy.emplace(server_, "::1");
  } catch (const std::runtime_error&) {
    GTEST_SKIP() << "this machine has no IPv6 loopback";
  }
  EXPECT_TRUE(open(options_for(proxy->address())).connected());
}

TEST_F(SessionTest, FindsTheOneLivingServerAmongSilentOnes) {
  FaultProxy silent1(server_), silent2(server_), alive(server_);
  silent1.set(FaultProxy::Mode::silent);
  silent2.set(FaultProxy::Mode::silent);
  const std::string list = silent1.address() + "," + alive.address() + "," + silent2.address();
  Session& session = open(options_for(list, 1s));
  EXPECT_EQ(session.client().server(), alive.address());
}

// A request without an answer shows a silent connection long before the library does.
TEST_F(SessionTest, CutsASilentConnectionAndGoesOnWithTheSameSession) {
  FaultProxy first(server_), second(server_);
  Session& session = open(options_for(first.address() + "," + second.address(), 3s));
  const int64_t id = session.id();
  const std::string used = session.client().server();
  (used == first.address() ? first : second).set(FaultProxy::Mode::silent);
  EXPECT_EQ(session.children("/").code, Code::ok);
  EXPECT_NE(session.client().server(), used);
  EXPECT_EQ(session.id(), id);
}

// The answer waits in the socket, and is given up with the connection.
TEST_F(SessionTest, APauseOfOursIsNotBlamedOnARequest) {
  FaultProxy proxy(server_);
  SessionOptions options = options_for(proxy.address(), 4s);
  options.connect_timeout = 1s;
  Session& session = open(options);
  proxy.fall_silent_after(test::opcode::kChildren);
  bool paused = false;
  const test::Script script(loop_, [&] {
    if (!proxy.is_silent() || std::exchange(paused, true)) return;
    proxy.set(FaultProxy::Mode::pass);
    std::this_thread::sleep_for(2s);
  });
  EXPECT_EQ(session.children("/").code, Code::ok);
  EXPECT_TRUE(paused);
}

// ZOOKEEPER-2466: with an even number of addresses, the library alone tries only every second one.
class FailOver : public SessionTest, public testing::WithParamInterface<int> {};

TEST_P(FailOver, ReachesTheOnlyLivingServerWhateverTheNumberOfAddresses) {
  FaultProxy first(server_), second(server_);
  std::string list = first.address() + "," + second.address();
  for (int i = 2; i < GetParam(); ++i) list += "," + dead_address();
  Session& session = open(options_for(list));
  const int64_t id = session.id();
  for (int round = 0; round < 4; ++round) {
    const bool on_first = session.client().server() == first.address();
    (on_first ? first : second).cut(true);
    ASSERT_EQ(session.children("/").code, Code::ok);
    EXPECT_EQ(session.client().server(), (on_first ? second : first).address());
    first.accept_again();
    second.accept_again();
  }
  EXPECT_EQ(session.id(), id);
}

INSTANTIATE_TEST_SUITE_P(Addresses, FailOver, testing::Values(2, 3, 4, 5));

// The lease counts on this worst case: the server in use falls silent, the next one is dead, the third is reached
// within the session.
TEST_P(FailOver, SurvivesASilentAndADeadServerWithinTheSession) {
  FaultProxy first(server_), second(server_), dead(server_);
  dead.set(FaultProxy::Mode::silent);
  std::string list = first.address() + "," + second.address() + "," + dead.address();
  for (int i = 3; i < GetParam(); ++i) list += "," + dead_address();
  Session& session = open(options_for(list));
  const int64_t id = session.id();
  const bool on_first = session.client().server() == first.address();
  (on_first ? first : second).set(FaultProxy::Mode::silent);
  EXPECT_EQ(session.children("/").code, Code::ok);
  EXPECT_EQ(session.client().server(), (on_first ? second : first).address());
  EXPECT_EQ(session.id(), id);
}

// With two addresses the library's list has one of them twice, in a row after one round.
TEST_F(SessionTest, AServerThatHasFallenSilentIsNotTriedAgainBeforeAnother) {
  FaultProxy first(server_), second(server_);
  Session& session = open(options_for(first.address() + "," + second.address(), 12s));
  const auto in_use = [&]() -> FaultProxy& { return session.client().server() == first.address() ? first : second; };
  for (int round = 0; round < 2; ++round) {
    FaultProxy& used = in_use();
    used.cut(true);
    ASSERT_EQ(session.children("/").code, Code::ok);
    used.accept_again();
  }
  in_use().set(FaultProxy::Mode::silent);
  const Deadline began = BootClock::now();
  ASSERT_EQ(session.children("/").code, Code::ok);
  EXPECT_LT(BootClock::now() - began, session.timeout() / 4) << "T/6 for the one, and for the other nothing";
}

// Between two tries of ours, another session may be accepted; ours has time for two more.
TEST_F(SessionTest, ThatAnotherSessionIsTakenDoesNotEndOursAtOnce) {
  FaultProxy proxy(server_);
  Session& session = open(options_for(proxy.address(), 4s));
  const int64_t id = session.id();
  const Script script(loop_, [&] {
    if (proxy.new_sessions() == 2) proxy.refuse_resumed(false);
  });
  proxy.refuse_resumed(true);
  proxy.cut();
  EXPECT_EQ(session.children("/").code, Code::ok);
  EXPECT_EQ(proxy.new_sessions(), 2);
  EXPECT_EQ(session.id(), id);
}

// The session moves to another connection of its own, or a server reports so: that ends no session.
TEST_F(SessionTest, ASessionThatIsMovedIsNotOver) {
  constexpr int kMoved = -118;
  FaultProxy proxy(server_);
  Session& session = open(options_for(proxy.address()));
  proxy.answer_with(test::opcode::kChildren, kMoved);
  EXPECT_EQ(session.await(session.client().children("/")).code, Code::unknown);
  proxy.answer_with(test::opcode::kChildren, kMoved);
  EXPECT_EQ(session.children("/").code, Code::ok);
  EXPECT_FALSE(session.expired());
}

// A read is worthless without the sync before it, and so is the sync without the read.
TEST_F(SessionTest, OfTwoThatBelongTogetherNeitherIsAskedAgainAlone) {
  constexpr int kThrottled = -127;
  FaultProxy proxy(server_);
  Session& session = open(options_for(proxy.address()));
  int asked = 0;
  for (const int op : {test::opcode::kSync, test::opcode::kChildren}) {
    proxy.answer_with(op, kThrottled);
    EXPECT_EQ(session.synced_children("/").code, Code::ok);
    asked += 2;
    EXPECT_EQ(proxy.requests(test::opcode::kSync), asked);
    EXPECT_EQ(proxy.requests(test::opcode::kChildren), asked);
  }
}

TEST_F(SessionTest, AnExpiredSessionIsAnAnswerAndNeverReplacedByItself) {
  FaultProxy proxy(server_);
  Session& session = open(options_for(proxy.address(), 500ms));
  const int64_t id = session.id();
  proxy.set(FaultProxy::Mode::silent);
  test::Observer observer(server_);
  const Deadline over = deadline_in(3 * session.timeout());
  while (left_until(over) > Duration::zero()) loop_.turn(over);
  proxy.set(FaultProxy::Mode::pass);
  ASSERT_TRUE(eventually(loop_, [&] { return session.expired(); }));
  EXPECT_THROW(session.children("/"), SessionOver);
  EXPECT_EQ(session.id(), id);
  session.open();
  EXPECT_NE(session.id(), id);
  EXPECT_EQ(session.children("/").code, Code::ok);
}

TEST_F(SessionTest, ALostAnswerToAWriteIsUnknown) {
  FaultProxy proxy(server_);
  const std::string chroot = test::new_chroot();
  Session& session = open(options_for(proxy.address() + chroot));
  session.make_node("/l", CreateMode::container);
  proxy.lose_next_answer();
  const Call made = session.client().create("/l/n-", "", CreateMode::ephemeral_sequential);
  EXPECT_EQ(session.await(made).code, Code::unknown);
  EXPECT_EQ(session.synced_children("/l").names, std::vector<std::string>{"n-0000000000"});
}

// If a lost request ends the session, the next session would send it again, forever.
TEST_F(SessionTest, ARequestThatIsLostInOneSessionAfterTheOtherIsGivenUp) {
  FaultProxy proxy(server_);
  SessionOptions options = options_for(proxy.address());
  options.connect_timeout = 1s;
  Session& session = open(options);
  const auto ask_for = [&](Duration span) {
    for (const Deadline until = deadline_in(span); BootClock::now() < until; session.open()) {
      proxy.lose_answer_to(test::opcode::kChildren);
      session.await(session.client().children("/"));
    }
  };
  EXPECT_THROW(ask_for(10s), Failure);
}

// A leader without its followers still answers a sync, and a read after that may be old. Only a quorum knows what
// became of a write.
TEST(SessionOnEnsemble, WithoutAQuorumNobodySaysWhatHasBecomeOfAWrite) {
  test::Sandbox sandbox("--servers 3 --tick 1000");
  const int leader = sandbox.leader();
  host::Loop loop;
  Session session(loop, options_for(sandbox.address(leader), 10s));
  session.open();
  for (int server = 1; server <= 3; ++server) {
    if (server != leader) sandbox.pause(server);
  }
  // The leader takes some ticks to notice that its followers are gone.
  EXPECT_EQ(session.exists("/").code, Code::ok);
  {
    const Within within(session, deadline_in(1s));
    EXPECT_THROW(session.settled_children("/"), Failure);
  }
  {
    const Within within(session, deadline_in(1s));
    EXPECT_THROW(settled_stat_all(session, {"/"}), Failure);
  }
  for (int server = 1; server <= 3; ++server) sandbox.resume(server);
  EXPECT_EQ(session.settled_children("/").code, Code::ok);
  EXPECT_EQ(settled_stat_all(session, {"/"}).front().code, Code::ok);
}

// A client that may be granted something must be heard as often as a holder. Otherwise the leader's last word of it may
// be too old, and the session could end before the grant's fence.
TEST_F(SessionTest, AnIdleSessionIsHeardOftenEnough) {
  Session& session = open(options_for(server_, 4s));
  const uint64_t before = session.client().answers();
  Deadline last = BootClock::now();
  Duration longest{};
  uint64_t seen = before;
  EXPECT_TRUE(eventually(loop_, [&] {
    if (session.client().answers() == seen) return false;
    seen = session.client().answers();
    longest = std::max(longest, BootClock::now() - last);
    last = BootClock::now();
    return seen >= before + 6;
  }));
  EXPECT_LT(longest, session.timeout() / 3);
}

// What is sent after a pause counts for nothing until a new handshake; this holds for a short pause right after a
// handshake too.
TEST_F(SessionTest, APauseRightAfterTheHandshakeMakesANewOne) {
  Session& session = open(options_for(server_, 4s));
  EXPECT_EQ(session.client().connections(), 1u);
  const Deadline awake = BootClock::now() + session.timeout() / 4;
  while (BootClock::now() < awake) usleep(10'000);
  EXPECT_EQ(session.await(session.client().exists("/")).code, Code::unknown);
  EXPECT_EQ(session.children("/").code, Code::ok);
  EXPECT_GE(session.client().connections(), 2u);
}

// The same holds if the answer is there before we see that we were held up.
TEST_F(SessionTest, AnAnswerThatIsThereAfterAPauseCountsForNothing) {
  Session& session = open(options_for(server_, 4s));
  const Deadline awake = BootClock::now() + session.timeout() / 4;
  while (BootClock::now() < awake) usleep(10'000);
  const Call asked = session.client().exists("/");
  usleep(300'000);  // longer than a round trip
  EXPECT_EQ(session.await(asked).code, Code::unknown);
  EXPECT_EQ(session.children("/").code, Code::ok);
  EXPECT_EQ(session.client().connections(), 2u);
}

// The answer to the handshake may be slow; the leader has heard of us when the request passed.
TEST_F(SessionTest, ASlowHandshakeCountsFromItsBeginning) {
  FaultProxy proxy(server_);
  proxy.set(FaultProxy::Mode::silent);
  Deadline tried = kNever;
  const Script script(loop_, [&] {
    if (proxy.accepted() > 0) tried = std::min(tried, BootClock::now());
    if (tried != kNever && BootClock::now() > tried + 500ms) proxy.set(FaultProxy::Mode::pass);
  });
  Session& session = open(options_for(proxy.address(), 6s));
  ASSERT_EQ(proxy.accepted(), 1);
  const Deadline late = tried + session.timeout() / 3 + 300ms;
  while (BootClock::now() < late) loop_.turn(late);
  EXPECT_LE(session.proof_now(), tried + session.timeout() / 3);
}

TEST_F(SessionTest, AProofSoonAfterAHandshakeCountsNoMoreThanThat) {
  Session& session = open(options_for(server_, 10s));
  const Deadline connected = BootClock::now();
  const Deadline unreported = connected + session.timeout() * 9 / 24;
  while (BootClock::now() < unreported) loop_.turn(unreported);
  EXPECT_LE(session.proof_now(), connected + session.timeout() / 3);
  while (BootClock::now() < connected + session.timeout() * 3 / 5) loop_.turn(connected + session.timeout() * 3 / 5);
  EXPECT_GT(session.proof_now(), connected + session.timeout() / 2);
}

// Until then our follower may not have heard of us, so its report may have left us out.
TEST_F(SessionTest, AfterASlowAnswerAProofCountsFromWhatTheLeaderHasSurelyHeard) {
  FaultProxy proxy(server_);
  Session& session = open(options_for(proxy.address(), 6s));
  const Client& client = session.client();
  const Deadline steady = BootClock::now() + session.timeout() * 3 / 4;
  ASSERT_TRUE(eventually(loop_, [&] { return BootClock::now() > steady && client.silent_since() == kNever; }));
  const Deadline before = client.last_answered_sent();
  EXPECT_GE(session.proof_now(), BootClock::now() - 100ms);
  proxy.set(FaultProxy::Mode::silent);
  ASSERT_TRUE(eventually(loop_, [&] { return BootClock::now() > before + session.timeout() / 4; }));
  proxy.set(FaultProxy::Mode::pass);
  ASSERT_TRUE(eventually(loop_, [&] { return BootClock::now() > before + session.timeout() / 3 + 300ms; }));
  EXPECT_EQ(client.connections(), 1U);
  EXPECT_LE(session.proof_now(), before + session.timeout() / 3);
}

// Servers that have lost their data refuse a client that has seen more than they have, forever.
TEST(SessionOnEnsemble, ASessionThatTheServersHaveForgottenAndRefuseIsExpired) {
  test::Sandbox sandbox("--tick 1000");
  {
    test::Observer observer(sandbox.servers());
    for (int i = 0; i < 50; ++i) observer.create("/" + std::to_string(i));
  }
  host::Loop loop;
  Session session(loop, options_for(sandbox.servers(), 4s));
  session.open();
  EXPECT_EQ(session.children("/").code, Code::ok);
  sandbox.kill(1);
  std::filesystem::remove_all(sandbox.data_folder(1));
  sandbox.restart(1);
  EXPECT_THROW(session.children("/"), SessionOver);
  session.open();
  EXPECT_EQ(session.children("/").code, Code::ok);
}

TEST_F(SessionTest, OneLostConnectionIsOneDoubtOfContainers) {
  FaultProxy proxy(server_);
  Session& session = open(options_for(proxy.address() + test::new_chroot()));
  proxy.lose_next_answer();
  const Call one = session.client().create("/a", "", CreateMode::container);
  const Call other = session.client().create("/b", "", CreateMode::container);
  EXPECT_EQ(session.await(one).code, Code::unknown);
  EXPECT_EQ(session.await(other).code, Code::unknown);
  EXPECT_TRUE(is_supported(Feature::container));
  forget_support();
}

TEST_F(SessionTest, ARequestThatIsTooLargeFailsHereAndLeavesTheConnectionAlone) {
  Session& session = open(options_for(server_ + test::new_chroot()));
  session.make_node("/l", CreateMode::container);
  const uint64_t connections = session.client().connections();
  try {
    session.client().create("/l/n-", std::string(1 << 20, 'x'), CreateMode::ephemeral_sequential);
    ADD_FAILURE() << "it was sent";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.status(), ExitStatus::bad_data);
    EXPECT_NE(failure.text().find("1048576 bytes"), std::string::npos) << failure.text();
  }
  const std::string half(1 << 19, 'x');
  const std::vector<Step> steps{{Op::create, "/l/a", half}, {Op::create, "/l/b", half}};
  EXPECT_THROW(session.client().transact(steps), Failure);
  EXPECT_EQ(session.children("/l").code, Code::ok);
  EXPECT_EQ(session.client().connections(), connections);
}

TEST_F(SessionTest, TheLargestRequestThatIsLetThroughIsTaken) {
  Session& session = open(options_for(server_ + test::new_chroot()));
  session.make_node("/l", CreateMode::container);
  std::string data(1 << 20, 'x');
  Call made;
  while (!made) {
    try {
      made = session.client().create("/l/n-", data, CreateMode::ephemeral_sequential);
    } catch (const Failure&) {
      data.pop_back();
    }
  }
  EXPECT_EQ(session.await(made).code, Code::ok) << data.size();
}

TEST_F(SessionTest, NodesOfACreatorAreClosedToOthers) {
  const std::string servers = server_ + test::new_chroot();
  SessionOptions options = options_for(servers);
  options.credentials = parse_credentials("digest:ann:secret", "the test");
  options.acl = Acl::creator;
  open(options).make_node("/l", CreateMode::container);
  test::Observer stranger(servers);
  EXPECT_EQ(stranger.read("/l").code, Code::no_auth);
  options.acl = Acl::creator_world_read;
  open(options).make_node("/r", CreateMode::container);
  EXPECT_EQ(stranger.read("/r").code, Code::ok);
}

TEST_F(SessionTest, CredentialsAreGivenAgainAfterAReconnect) {
  FaultProxy proxy(server_);
  SessionOptions options = options_for(proxy.address() + test::new_chroot());
  options.credentials = parse_credentials("digest:ann:secret", "the test");
  options.acl = Acl::creator;
  Session& session = open(options);
  session.make_node("/l", CreateMode::container);
  proxy.cut();
  EXPECT_EQ(session.read("/l").code, Code::ok);
  EXPECT_EQ(session.client().connections(), 2u);
}

TEST_F(SessionTest, AWatchOutlivesAConnectionAndFiresForNothingElse) {
  FaultProxy proxy(server_);
  Session& session = open(options_for(proxy.address()));
  const auto watch = std::make_shared<WatchState>();
  EXPECT_EQ(session.exists("/", watch).code, Code::ok);
  proxy.cut();
  EXPECT_EQ(session.children("/").code, Code::ok);
  EXPECT_EQ(session.client().connections(), 2u);
  EXPECT_FALSE(watch->fired);
}

TEST_F(SessionTest, AWatchThatFiredWhileUnconnectedIsDelivered) {
  FaultProxy proxy(server_);
  const std::string chroot = test::new_chroot();
  Session& session = open(options_for(proxy.address() + chroot));
  session.make_node("/l", CreateMode::persistent);
  const auto watch = std::make_shared<WatchState>();
  session.read("/l", watch);
  proxy.cut(true);
  test::Observer(server_ + chroot).remove("/l");
  EXPECT_FALSE(watch->fired);
  proxy.accept_again();
  EXPECT_TRUE(eventually(loop_, [&] { return watch->fired; }));
}

TEST_F(SessionTest, ClosingEndsTheEphemeralsAtOnce) {
  const std::string servers = server_ + test::new_chroot();
  Session& session = open(options_for(servers, 20s));
  session.make_node("/l", CreateMode::persistent);
  for (int i = 0; i < 50; ++i) session.client().create("/l/n-", "", CreateMode::ephemeral_sequential);
  session.close();
  EXPECT_TRUE(test::Observer(servers).children("/l").empty());
}

TEST_F(SessionTest, ItsSocketIsClosedOnExec) {
  open(options_for(server_));
  int sockets = 0;
  for (int fd = 3; fd < 256; ++fd) {
    sockaddr_storage peer{};
    socklen_t length = sizeof peer;
    if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &length) != 0) continue;
    ++sockets;
    EXPECT_TRUE(fcntl(fd, F_GETFD) & FD_CLOEXEC) << fd;
  }
  EXPECT_GT(sockets, 0);
}

TEST_F(SessionTest, NoServerMeansFewAttemptsNotABusyLoop) {
  FaultProxy proxy(server_);
  proxy.cut(true);
  SessionOptions options = options_for(proxy.address(), 6s);
  options.connect_timeout = 1s;
  EXPECT_EQ(failure_of_opening(options).status(), ExitStatus::unavailable);
  // The library's pause is T/60 a round, 100 ms here.
  EXPECT_LE(proxy.accepted(), 25);
}

// The library's own pause, T/60, would be 24 minutes.
TEST_F(SessionTest, ALongSessionDoesNotMakeTheServersBeTriedLater) {
  FaultProxy proxy(server_);
  proxy.cut(true);
  SessionOptions options = options_for(proxy.address(), 24h);
  options.connect_timeout = 5s;
  EXPECT_EQ(failure_of_opening(options).status(), ExitStatus::unavailable);
  EXPECT_GE(proxy.accepted(), 4);
  EXPECT_LE(proxy.accepted(), 60);
}

// The host is down: no answer comes back.
TEST_F(SessionTest, ALongSessionDoesNotMakeAnAttemptLonger) {
  FaultProxy proxy(server_);
  proxy.set(FaultProxy::Mode::silent);
  SessionOptions options = options_for(proxy.address(), 24h);
  options.connect_timeout = 4s;
  EXPECT_EQ(failure_of_opening(options).status(), ExitStatus::unavailable);
  EXPECT_GE(proxy.accepted(), 2);
}

}  // namespace session_test
}  // namespace zklock::zk
