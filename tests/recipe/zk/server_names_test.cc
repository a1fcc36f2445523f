// SPDX-License-Identifier: Apache-2.0
// Servers that move while a session has no connection. A getent of the test's own knows their names, and no other
// resolver is asked.
#include "host/net/resolver.h"
#include "support/fault_proxy.h"
#include "support/process.h"
#include "support/sandbox.h"
#include "zk/session.h"

#include <cstdlib>
#include <filesystem>
#include <map>
#include <nss.h>
#include <string>

#include <gtest/gtest.h>

namespace zklock::zk {
namespace server_names_test {

using namespace std::chrono_literals;
using test::FaultProxy;

// Runs in a process of its own.
class Names {
 public:
  Names() {
    folder_.write("getent", "#!/bin/sh\nexec sed -n \"s/^$3 //p\" \"${0%/*}/names\"\n", 0755);
    setenv("PATH", (folder_.path() + ":" + getenv("PATH")).c_str(), 1);
    host::keep_to_own_lookup_modules();
    __nss_configure_lookup("hosts", "files");
  }

  // Gives each name this one address from now on.
  void tell(const std::map<std::string, std::string>& addresses) {
    std::string lines;
    for (const auto& [name, address] : addresses) lines += name + " " + address + " STREAM " + name + "\n";
    std::filesystem::rename(folder_.write("new", lines), folder_.file("names"));
  }

 private:
  support::TempDir folder_;
};

std::string port_of(const FaultProxy& proxy) {
  return proxy.address().substr(proxy.address().rfind(':'));
}

// The name gets another address too early: no server is there yet.
ISOLATED_TEST(ServerNames, AServerThatIsBackAtTheAddressItHadIsFoundThere) {
  Names names;
  FaultProxy proxy(test::shared_servers());
  names.tell({{"zk.test", "127.0.0.1"}});
  host::Loop loop;
  Session session(loop, test::options_for("zk.test" + port_of(proxy), 20s));
  session.open();
  const int64_t id = session.id();
  proxy.cut(true);
  names.tell({{"zk.test", "127.0.0.2"}});
  const test::Script script(loop, [&] {
    if (session.server().starts_with("127.0.0.2:")) proxy.accept_again();
  });
  const Within within(session, deadline_in(support::kBound));
  EXPECT_EQ(session.children("/").code, Code::ok);
  EXPECT_EQ(session.id(), id);
}

// The servers lost their data, and they have moved since the second session began. Only that session can show that ours
// is over.
ISOLATED_TEST(ServerNames, TheSecondSessionFollowsServersThatMove) {
  Names names;
  FaultProxy before(test::shared_servers()), after(test::shared_servers());
  names.tell({{"before.test", "127.0.0.1"}});
  host::Loop loop;
  Session session(loop, test::options_for("before.test" + port_of(before) + ",after.test" + port_of(after), 3s));
  session.open();
  before.refuse_session(session.id());
  after.refuse_session(session.id());
  const int sessions = before.new_sessions();
  before.cut();
  const test::Script script(loop, [&] {
    if (before.new_sessions() == sessions || before.is_refusing()) return;
    before.cut(true);
    names.tell({{"before.test", "127.0.0.1"}, {"after.test", "127.0.0.1"}});
  });
  EXPECT_THROW(session.children("/"), SessionOver);
}

}  // namespace server_names_test
}  // namespace zklock::zk
