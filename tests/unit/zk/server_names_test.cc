// SPDX-License-Identifier: Apache-2.0
// zk/server_names: how long a lookup may take, and how often there is one. host/resolver_test.cc makes a resolver hang
// in the same way.
#include "zk/server_names.h"

#include "support/process.h"
#include "zk/session.h"

#include <cstdlib>
#include <fstream>
#include <functional>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <gtest/gtest.h>

namespace zklock::zk {
namespace server_names_test {

using namespace std::chrono_literals;
using support::kBound;

// The caller may wait for much longer.
ISOLATED_TEST(ServerNames, AResolverThatHangsIsGivenUpAfterTheConnectTimeout) {
  const support::TempDir folder;
  mkfifo(folder.file("fifo").c_str(), 0600);
  setenv("HOSTALIASES", folder.file("fifo").c_str(), 1);
  SessionOptions options;
  options.servers = ServerList::parse("slow:2181", "the test");
  options.session_timeout = 4s;
  options.connect_timeout = 200ms;
  host::Loop loop;
  Session session(loop, options);
  const Deadline until = deadline_in(kBound);
  const auto failure = support::failure_of([&] { session.open(until); });
  EXPECT_LT(BootClock::now(), until);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->status(), ExitStatus::unavailable);
  EXPECT_NE(failure->text().find("cannot resolve slow"), std::string::npos) << failure->text();
}

bool has_child() {
  siginfo_t ended;
  return waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0;
}

// Sets the boot clock of processes started from now on forward by `span`. Returns false if that is not allowed.
bool put_clock_forward(std::chrono::seconds span) {
  if (unshare(CLONE_NEWTIME) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWTIME) != 0) return false;
  std::ofstream offsets("/proc/self/timens_offsets");
  offsets << "boottime " << span.count() << " 0" << std::flush;
  return offsets.good();
}

void expect_later(std::chrono::seconds span, const std::function<void()>& body) {
  ASSERT_TRUE(put_clock_forward(span));
  const auto ended = support::run_process([&] {
    body();
    return testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(ended.wait_status, 0) << ended.output;
}

// After an hour, lookups are six minutes apart.
ISOLATED_TEST(ServerNames, AreLookedUpLessAndLessOften) {
  const ServerList list = ServerList::parse("localhost:1", "the test");
  ServerNames names(list, false);
  host::Loop loop;
  SessionOptions options;
  options.session_timeout = 4s;
  Client client(options);
  const Link link(client, names.resolve(loop, deadline_in(kBound)));
  names.follow(link, [] {});
  if (!put_clock_forward(1h)) GTEST_SKIP() << "no time namespace can be made here";
  expect_later(1h, [&] {
    names.decide();
    EXPECT_TRUE(has_child());
    const host::Attached attached(loop, names);
    const auto has_taken = [&] {
      loop.turn(deadline_in(10ms));
      return !has_child();
    };
    EXPECT_TRUE(support::wait_until(has_taken));
    expect_later(1h + 1min, [&] {
      names.decide();
      EXPECT_FALSE(has_child());
    });
    expect_later(1h + 10min, [&] {
      names.decide();
      EXPECT_TRUE(has_child());
    });
  });
}

}  // namespace server_names_test
}  // namespace zklock::zk
