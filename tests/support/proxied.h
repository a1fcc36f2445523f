// SPDX-License-Identifier: Apache-2.0
// The base of tests of recipes: a chroot of their own on the shared servers, a direct way to it and one through a
// failing proxy, and an observer that reads its nodes behind the recipe's back.
#pragma once

#include "support/fault_proxy.h"
#include "support/sandbox.h"
#include "zk/requests.h"

#include <string>

#include <gtest/gtest.h>

namespace zklock::test {

class Proxied : public testing::Test {
 protected:
  // Forgets what another test's lost answers have taught.
  Proxied() { zk::forget_support(); }

  std::string server_ = shared_servers();
  std::string chroot_ = new_chroot();
  std::string here_ = server_ + chroot_;
  Observer observer_{here_};
  FaultProxy proxy_{server_};
  std::string through_proxy_ = proxy_.address() + chroot_;
};

}  // namespace zklock::test
