// SPDX-License-Identifier: Apache-2.0
// host/net/resolver: turns names into addresses without blocking. glibc's HOSTALIASES makes a resolver hang: the file
// that it reads first is a fifo without a writer.
#include "host/net/resolver.h"

#include "base/failure.h"
#include "host/signals.h"
#include "support/process.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace zklock::host {
namespace resolver_test {

using namespace std::chrono_literals;
using support::kBound;

bool has_no_child() {
  return waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD;
}

Resolved resolve(const std::string& host) {
  Loop loop;
  Lookup lookup(host);
  const Attached attached(loop, lookup);
  while (!lookup.done()) loop.turn(deadline_in(60s));
  return lookup.result();
}

TEST(Resolver, KnowsNumericAddresses) {
  for (const char* host : {"127.0.0.1", "::1", "2001:db8::7", "0.0.0.0", "::ffff:10.0.0.1"}) {
    EXPECT_TRUE(is_numeric_address(host)) << host;
  }
  for (const char* host : {"", "localhost", "127.0.0", "256.0.0.1", "[::1]", "1", "::1:2181:x", "127.0.0.1 "}) {
    EXPECT_FALSE(is_numeric_address(host)) << host;
  }
}

ISOLATED_TEST(Resolver, FindsLocalhostOnce) {
  const auto [addresses, error] = resolve("localhost");
  EXPECT_TRUE(std::count(addresses.begin(), addresses.end(), "127.0.0.1") +
              std::count(addresses.begin(), addresses.end(), "::1"));
  for (const auto& address : addresses) EXPECT_EQ(std::count(addresses.begin(), addresses.end(), address), 1);
  EXPECT_EQ(error, "");
  EXPECT_TRUE(has_no_child());
}

// Replaces the system's hosts file; returns false if that is not allowed.
bool put_hosts(const support::TempDir& folder, const std::string& lines) {
  const std::string file = folder.write("hosts", lines);
  return unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount(file.c_str(), "/etc/hosts", nullptr, MS_BIND, nullptr) == 0;
}

ISOLATED_TEST(Resolver, GivesAnAddressOnceThoughTheSystemKnowsItTwice) {
  const support::TempDir folder;
  if (!put_hosts(folder, "127.0.0.7 twice.invalid\n127.0.0.8 twice.invalid\n127.0.0.7 twice.invalid\n")) {
    GTEST_SKIP() << "no mount namespace can be made here";
  }
  keep_to_own_lookup_modules();
  auto addresses = resolve("twice.invalid").addresses;
  std::sort(addresses.begin(), addresses.end());
  EXPECT_EQ(addresses, (std::vector<std::string>{"127.0.0.7", "127.0.0.8"}));
}

ISOLATED_TEST(Resolver, GivesAddressesOrTheReasonWhyThereAreNone) {
  for (const std::string address : {"127.0.0.2", "::1"}) {
    EXPECT_EQ(resolve(address).addresses, std::vector<std::string>{address});
  }
  const auto [addresses, error] = resolve("nonexistent.invalid");
  EXPECT_TRUE(addresses.empty());
  EXPECT_NE(error, "");
}

// Returns the name of a host whose lookup never ends.
std::string slow_host(const support::TempDir& folder) {
  mkfifo(folder.file("fifo").c_str(), 0600);
  setenv("HOSTALIASES", folder.file("fifo").c_str(), 1);
  return "slow";
}

ISOLATED_TEST(Resolver, GivesUpAtTheDeadlineWithoutLeavingItsChild) {
  const support::TempDir folder;
  Loop loop;
  const Deadline until = deadline_in(50ms);
  {
    Lookup lookup(slow_host(folder));
    const Attached attached(loop, lookup);
    while (left_until(until) > Duration::zero()) loop.turn(until);
    EXPECT_FALSE(lookup.done());
  }
  EXPECT_LT(BootClock::now(), until + kBound);
  EXPECT_TRUE(has_no_child());
}

ISOLATED_TEST(Resolver, IsEndedByASignal) {
  const support::TempDir folder;
  Loop loop;
  Signals signals;
  EndOnSignal ending(signals);
  const Attached receiving(loop, signals);
  const Attached end(loop, ending);
  {
    Lookup lookup(slow_host(folder));
    const Attached looking_up(loop, lookup);
    ::kill(getpid(), SIGTERM);
    EXPECT_EQ(support::failure_of([&] {
                for (;;) loop.turn(kNever);
              })->signal(),
              SIGTERM);
  }
  EXPECT_TRUE(has_no_child());
}

// --- the system's getent

// Replaces the system's getent by a shell script with these lines.
void put_getent(const support::TempDir& folder, const std::string& lines) {
  folder.write("getent", "#!/bin/sh\n" + lines, 0755);
  setenv("PATH", (folder.path() + ":" + getenv("PATH")).c_str(), 1);
}

constexpr const char* kKnowsPrinter =
    "echo \"$*\" >>\"${0%/*}/asked\"\n"
    "[ \"$3\" = printer.invalid ] || exit 2\n"
    "printf '%-15s %s\\n' 192.0.2.7 'STREAM printer.local' 192.0.2.7 DGRAM 2001:db8::7 STREAM 2001:db8::7 RAW\n";

ISOLATED_TEST(Resolver, AsksGetentForWhatLibcItselfDoesNotKnow) {
  const support::TempDir folder;
  put_getent(folder, kKnowsPrinter);
  keep_to_own_lookup_modules();
  EXPECT_EQ(resolve("127.0.0.2").addresses, std::vector<std::string>{"127.0.0.2"});
  const auto [addresses, error] = resolve("printer.invalid");
  EXPECT_EQ(addresses, (std::vector<std::string>{"192.0.2.7", "2001:db8::7"}));
  EXPECT_EQ(error, "");
  const Resolved unknown = resolve("nobody.invalid");
  EXPECT_TRUE(unknown.addresses.empty());
  EXPECT_NE(unknown.error, "");
  EXPECT_EQ(support::contents_of(folder.file("asked")), "ahosts -- printer.invalid\nahosts -- nobody.invalid\n");
  EXPECT_TRUE(has_no_child());
}

ISOLATED_TEST(Resolver, AsksNobodyElseWhereLibcLoadsItsModules) {
  const support::TempDir folder;
  put_getent(folder, kKnowsPrinter);
  EXPECT_NE(resolve("printer.invalid").error, "");
  EXPECT_FALSE(support::exists(folder.file("asked")));
}

ISOLATED_TEST(Resolver, SaysTheSameWhereThereIsNoGetent) {
  const std::string error = resolve("nobody.invalid").error;
  keep_to_own_lookup_modules();
  setenv("PATH", "/nowhere", 1);
  EXPECT_EQ(resolve("nobody.invalid").error, error);
  EXPECT_TRUE(has_no_child());
}

ISOLATED_TEST(Resolver, GetentHasNothingOfOurs) {
  const support::TempDir folder;
  put_getent(folder, "ls -l /proc/$$/fd >\"${0%/*}/descriptors\"\n");
  keep_to_own_lookup_modules();
  ASSERT_GE(open(folder.write("ours", "").c_str(), O_RDONLY), 0);
  resolve("nobody.invalid");
  const std::string descriptors = support::contents_of(folder.file("descriptors"));
  EXPECT_NE(descriptors.find("pipe:"), std::string::npos) << descriptors;
  EXPECT_EQ(descriptors.find("ours"), std::string::npos) << descriptors;
}

constexpr const char* kTakesForEver = "echo $$ >\"${0%/*}/pid\"; exec sleep 1000\n";

ISOLATED_TEST(Resolver, GetentEndsWithTheLookup) {
  const support::TempDir folder;
  put_getent(folder, kTakesForEver);
  keep_to_own_lookup_modules();
  Loop loop;
  pid_t getent = 0;
  {
    Lookup lookup("nobody.invalid");
    const Attached attached(loop, lookup);
    const auto asked = [&] {
      loop.turn(deadline_in(10ms));
      return support::exists(folder.file("pid"));
    };
    EXPECT_TRUE(support::wait_until(asked));
    getent = support::pid_in(folder.file("pid"));
    EXPECT_TRUE(support::is_alive(getent));
    EXPECT_FALSE(lookup.done());
  }
  EXPECT_FALSE(support::is_alive(getent));
  EXPECT_TRUE(has_no_child());
}

ISOLATED_TEST(Resolver, GetentEndsWithZklock) {
  const support::TempDir folder;
  put_getent(folder, kTakesForEver);
  keep_to_own_lookup_modules();
  const pid_t zklock = support::start_process([] {
    resolve("nobody.invalid");
    return 0;
  });
  const pid_t getent = support::pid_in(folder.file("pid"));
  EXPECT_TRUE(support::is_alive(getent));
  ::kill(zklock, SIGKILL);
  waitpid(zklock, nullptr, 0);
  EXPECT_TRUE(support::wait_until([&] { return !support::is_alive(getent); }));
}

}  // namespace resolver_test
}  // namespace zklock::host
