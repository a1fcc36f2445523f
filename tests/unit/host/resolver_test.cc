// SPDX-License-Identifier: Apache-2.0
// host/resolver: names to addresses without blocking. A resolver that takes for ever is made with glibc's HOSTALIASES:
// the file it reads first is a fifo that nobody writes to.
#include "host/net/resolver.h"

#include "base/failure.h"
#include "host/net/lookup_modules.h"
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

TEST(Resolver, KnowsNumericAddresses) {
  for (const char* host : {"127.0.0.1", "::1", "2001:db8::7", "0.0.0.0", "::ffff:10.0.0.1"}) {
    EXPECT_TRUE(is_numeric_address(host)) << host;
  }
  for (const char* host : {"", "localhost", "127.0.0", "256.0.0.1", "[::1]", "1", "::1:2181:x", "127.0.0.1 "}) {
    EXPECT_FALSE(is_numeric_address(host)) << host;
  }
}

ISOLATED_TEST(Resolver, FindsLocalhostOnce) {
  Loop loop;
  const auto results = resolve(loop, {"localhost"}, deadline_in(kBound));
  ASSERT_EQ(results.size(), 1u);
  const auto& addresses = results[0].addresses;
  EXPECT_TRUE(std::count(addresses.begin(), addresses.end(), "127.0.0.1") +
              std::count(addresses.begin(), addresses.end(), "::1"));
  for (const auto& address : addresses) EXPECT_EQ(std::count(addresses.begin(), addresses.end(), address), 1);
  EXPECT_EQ(results[0].error, "");
  EXPECT_TRUE(has_no_child());
}

// In place of the system's; false where that may not be done.
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
  Loop loop;
  auto addresses = resolve(loop, {"twice.invalid"}, deadline_in(60s))[0].addresses;
  std::sort(addresses.begin(), addresses.end());
  EXPECT_EQ(addresses, (std::vector<std::string>{"127.0.0.7", "127.0.0.8"}));
}

ISOLATED_TEST(Resolver, GivesOneResultAHostInTheirOrder) {
  Loop loop;
  const auto results = resolve(loop, {"127.0.0.2", "nonexistent.invalid", "::1", "127.0.0.3"}, deadline_in(60s));
  ASSERT_EQ(results.size(), 4u);
  EXPECT_EQ(results[0].addresses, std::vector<std::string>{"127.0.0.2"});
  EXPECT_EQ(results[2].addresses, std::vector<std::string>{"::1"});
  EXPECT_EQ(results[3].addresses, std::vector<std::string>{"127.0.0.3"});
  EXPECT_TRUE(results[1].addresses.empty());
  EXPECT_NE(results[1].error, "");
}

ISOLATED_TEST(Resolver, ManyHostsAreNoMatterOfPipeSizes) {
  Loop loop;
  const std::vector<std::string> hosts(20'000, "127.0.0.1");
  const auto results = resolve(loop, hosts, deadline_in(60s));
  ASSERT_EQ(results.size(), hosts.size());
  EXPECT_EQ(results.back().addresses, std::vector<std::string>{"127.0.0.1"});
}

// The name of a host that takes for ever to resolve.
std::string slow_host(const support::TempDir& folder) {
  mkfifo(folder.file("fifo").c_str(), 0600);
  setenv("HOSTALIASES", folder.file("fifo").c_str(), 1);
  return "slow";
}

ISOLATED_TEST(Resolver, GivesUpAtTheDeadlineWithoutLeavingItsChild) {
  const support::TempDir folder;
  Loop loop;
  const std::string host = slow_host(folder);
  const Deadline until = deadline_in(50ms);
  const auto failure = support::failure_of([&] { resolve(loop, {"127.0.0.1", host}, until); });
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->status(), ExitStatus::unavailable);
  EXPECT_NE(failure->text().find("slow"), std::string::npos) << failure->text();
  EXPECT_GE(BootClock::now(), until);
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
  const std::string host = slow_host(folder);
  ::kill(getpid(), SIGTERM);
  EXPECT_EQ(support::failure_of([&] { resolve(loop, {host}, kNever); })->signal(), SIGTERM);
  EXPECT_TRUE(has_no_child());
}

// --- the system's getent

// In place of the system's, with a shell script's lines.
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
  Loop loop;
  const auto results = resolve(loop, {"127.0.0.2", "printer.invalid", "127.0.0.3", "nobody.invalid"}, deadline_in(60s));
  ASSERT_EQ(results.size(), 4u);
  EXPECT_EQ(results[0].addresses, std::vector<std::string>{"127.0.0.2"});
  EXPECT_EQ(results[1].addresses, (std::vector<std::string>{"192.0.2.7", "2001:db8::7"}));
  EXPECT_EQ(results[1].error, "");
  EXPECT_EQ(results[2].addresses, std::vector<std::string>{"127.0.0.3"});
  EXPECT_TRUE(results[3].addresses.empty());
  EXPECT_NE(results[3].error, "");
  EXPECT_EQ(support::contents_of(folder.file("asked")), "ahosts -- printer.invalid\nahosts -- nobody.invalid\n");
  EXPECT_TRUE(has_no_child());
}

ISOLATED_TEST(Resolver, AsksNobodyElseWhereLibcLoadsItsModules) {
  const support::TempDir folder;
  put_getent(folder, kKnowsPrinter);
  Loop loop;
  EXPECT_NE(resolve(loop, {"printer.invalid"}, deadline_in(60s))[0].error, "");
  EXPECT_FALSE(support::exists(folder.file("asked")));
}

ISOLATED_TEST(Resolver, SaysTheSameWhereThereIsNoGetent) {
  Loop loop;
  const std::string error = resolve(loop, {"nobody.invalid"}, deadline_in(60s))[0].error;
  keep_to_own_lookup_modules();
  setenv("PATH", "/nowhere", 1);
  EXPECT_EQ(resolve(loop, {"nobody.invalid"}, deadline_in(60s))[0].error, error);
  EXPECT_TRUE(has_no_child());
}

ISOLATED_TEST(Resolver, GetentHasNothingOfOurs) {
  const support::TempDir folder;
  put_getent(folder, "ls -l /proc/$$/fd >\"${0%/*}/descriptors\"\n");
  keep_to_own_lookup_modules();
  ASSERT_GE(open(folder.write("ours", "").c_str(), O_RDONLY), 0);
  Loop loop;
  resolve(loop, {"nobody.invalid"}, deadline_in(60s));
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
    Lookup lookup({"nobody.invalid"});
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
    Loop loop;
    resolve(loop, {"nobody.invalid"}, kNever);
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
