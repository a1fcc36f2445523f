// SPDX-License-Identifier: Apache-2.0
// What tests of recipes stand on: a chroot of their own on the shared servers, the way to it and the way through a
// proxy that can fail, and somebody who looks at its nodes behind the recipe's back.
#pragma once

#include "support/fault_proxy.h"
#include "support/sandbox.h"
#include "zk/requests.h"

#include <string>

#include <gtest/gtest.h>

namespace zklock::test {

class Proxied : public testing::Test {
 protected:
  // What another test's lost answers have taught is forgotten.
  Proxied() { zk::forget_support(); }

  std::string server_ = shared_servers();
  std::string chroot_ = new_chroot();
  std::string here_ = server_ + chroot_;
  Observer observer_{here_};
  FaultProxy proxy_{server_};
  std::string through_proxy_ = proxy_.address() + chroot_;
};

}  // namespace zklock::test
