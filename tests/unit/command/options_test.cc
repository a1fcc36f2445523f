// SPDX-License-Identifier: Apache-2.0
// command/cli/options: precedence and bounds. Each test runs in a process of its own, with its environment.
#include "command/cli/options.h"

#include "support/process.h"

#include <cstdlib>

#include <gtest/gtest.h>

namespace zklock::command {
namespace options_test {

using namespace std::chrono_literals;
using support::failure_of;
using support::TempDir;

void forget_variables() {
  for (const char* name : {"ZKLOCK_SERVERS", "ZKLOCK_AUTH", "ZKLOCK_AUTH_FILE", "ZKLOCK_SESSION_TIMEOUT",
                           "ZKLOCK_CONNECT_TIMEOUT", "ZKLOCK_TLS"}) {
    unsetenv(name);
  }
}

std::string secret_of(const GlobalOptions& options) {
  return session_options(options).credentials;
}

// All three are set, but a file given by name wins.
ISOLATED_TEST(SessionOptions, AFileThatIsNamedGoesBeforeTheVariables) {
  forget_variables();
  const TempDir folder;
  setenv("ZKLOCK_AUTH", "digest:variable:1", 1);
  setenv("ZKLOCK_AUTH_FILE", folder.write("of-variable", "digest:variables-file:1\n", 0600).c_str(), 1);
  GlobalOptions options;
  options.auth_file = folder.write("named", "digest:option:1\n", 0600);
  EXPECT_EQ(secret_of(options), "option:1");
}

ISOLATED_TEST(SessionOptions, TheSecretGoesBeforeTheFileOfTheVariables) {
  forget_variables();
  const TempDir folder;
  setenv("ZKLOCK_AUTH_FILE", folder.write("of-variable", "digest:variables-file:1\n", 0600).c_str(), 1);
  EXPECT_EQ(secret_of({}), "variables-file:1");
  setenv("ZKLOCK_AUTH", "digest:variable:1", 1);
  EXPECT_EQ(secret_of({}), "variable:1");
  setenv("ZKLOCK_AUTH", "", 1);
  EXPECT_EQ(secret_of({}), "variables-file:1");
}

ISOLATED_TEST(SessionOptions, AnOptionGoesBeforeItsVariable) {
  forget_variables();
  setenv("ZKLOCK_SESSION_TIMEOUT", "7s", 1);
  GlobalOptions options;
  EXPECT_EQ(session_options(options).session_timeout, 7s);
  options.session_timeout = "8s";
  EXPECT_EQ(session_options(options).session_timeout, 8s);
}

ISOLATED_TEST(SessionOptions, AnEmptyVariableIsNone) {
  forget_variables();
  setenv("ZKLOCK_SERVERS", "", 1);
  setenv("ZKLOCK_SESSION_TIMEOUT", "", 1);
  EXPECT_EQ(session_options({}).servers.text(), "127.0.0.1:2181");
  EXPECT_EQ(session_options({}).session_timeout, 30s);
}

ISOLATED_TEST(SessionOptions, TimeoutsHaveBounds) {
  forget_variables();
  GlobalOptions options;
  for (const char* good : {"100ms", "24h"}) {
    options.session_timeout = options.connect_timeout = good;
    EXPECT_NO_THROW(session_options(options)) << good;
  }
  for (const char* bad : {"99ms", "24h1ms", "0"}) {
    options.session_timeout = bad;
    const auto failure = failure_of([&] { session_options(options); });
    ASSERT_TRUE(failure) << bad;
    EXPECT_EQ(failure->status(), ExitStatus::usage) << bad;
  }
}

ISOLATED_TEST(SessionOptions, AnAclOfTheCreatorNeedsCredentials) {
  forget_variables();
  GlobalOptions options;
  options.acl = "creator";
  EXPECT_TRUE(failure_of([&] { session_options(options); }));
  setenv("ZKLOCK_AUTH", "digest:variable:1", 1);
  EXPECT_EQ(session_options(options).acl, zk::Acl::creator);
}

TEST(SessionOptions, TheNearerOptionCounts) {
  GlobalOptions before, behind;
  before.servers = "far";
  before.acl = "open";
  behind.servers = "near";
  before.merge(behind);
  EXPECT_EQ(before.servers, "near");
  EXPECT_EQ(before.acl, "open");
}

TEST(SessionOptions, NumbersHaveBounds) {
  EXPECT_EQ(number_of("1", "--n", 1, 3), 1);
  EXPECT_EQ(number_of("3", "--n", 1, 3), 3);
  for (const char* bad : {"0", "4", "", "-1", "9223372036854775808"}) {
    EXPECT_TRUE(failure_of([&] { number_of(bad, "--n", 1, 3); })) << bad;
  }
}

}  // namespace options_test
}  // namespace zklock::command
