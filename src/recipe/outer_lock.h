// SPDX-License-Identifier: Apache-2.0
// The lock of another zklock that runs us: ours too, as long as it has it. Nothing is made and nothing is given back.
#pragma once

#include "recipe/lockable.h"
#include "zk/session.h"

namespace zklock::recipe {

class OuterLock : public Lockable {
 public:
  OuterLock(zk::Session& session, Held held) : session_(session), held_(std::move(held)) {}

  // `held`, or `removed` when the other has lost it.
  Outcome acquire(const Patience& patience) override;
  Held held() const override { return held_; }
  const Holder& holder() const override { return nobody_; }
  bool release(Duration) override { return true; }
  void forget() override {}

 private:
  zk::Session& session_;
  Held held_;
  Holder nobody_;
};

}  // namespace zklock::recipe
