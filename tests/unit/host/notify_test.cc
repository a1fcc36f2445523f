// SPDX-License-Identifier: Apache-2.0
// host/notify: what arrives at a service manager's socket.
#include "host/notify.h"

#include "host/fd.h"
#include "support/process.h"

#include <cstdlib>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>

#include <gtest/gtest.h>

namespace zklock::host {
namespace notify_test {

// Collects what the manager has been sent so far.
class Manager {
 public:
  Manager() {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    const std::string path = folder_.file("socket");
    path.copy(name.sun_path, sizeof name.sun_path - 1);
    if (bind(socket_.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) ADD_FAILURE() << path;
    setenv("NOTIFY_SOCKET", path.c_str(), 1);
  }

  std::string told() const {
    char text[8192];
    const ssize_t length = recv(socket_.get(), text, sizeof text, MSG_DONTWAIT);
    return length < 0 ? "nothing" : std::string(text, static_cast<size_t>(length));
  }

 private:
  support::TempDir folder_;
  Fd socket_{socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
};

ISOLATED_TEST(Notify, WhateverItIsGivenIsOneLineOfTheStatus) {
  const Manager manager;
  notify_status("behind x\nREADY=1\nMAINPID=1");
  EXPECT_EQ(manager.told(), "STATUS=behind x\\x0aREADY=1\\x0aMAINPID=1");
}

ISOLATED_TEST(Notify, ALongStatusIsCutAndNotDropped) {
  const Manager manager;
  notify_status(std::string(100'000, 'x'));
  const std::string told = manager.told();
  EXPECT_TRUE(told.starts_with("STATUS=xxx")) << told;
  EXPECT_LT(told.size(), 4096u);
}

}  // namespace notify_test
}  // namespace zklock::host
