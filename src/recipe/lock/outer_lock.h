// SPDX-License-Identifier: Apache-2.0
// The lock of another zklock that runs us: ours too, as long as it has it. Nothing is made and nothing is given back;
// release() only looks whether the other has it still.
#pragma once

#include "recipe/lock/lockable.h"
#include "zk/session.h"

namespace zklock::recipe {

class OuterLock : public Lockable {
 public:
  OuterLock(zk::Session& session, Held held) : session_(session), held_(std::move(held)) {}

  // `held`; `disturbed` when the other has it no more: then there may be a place to take in line.
  Outcome acquire(const Patience& patience) override;
  Held held() const override { return held_; }
  const Holder& holder() const override { return nobody_; }
  // False: no server told in time; was_deleted() is false then.
  bool release(Duration budget) override;
  bool was_deleted() const override { return was_deleted_; }
  void forget() override { acquired_ = false; }

 private:
  zk::Session& session_;
  Held held_;
  Holder nobody_;
  bool acquired_ = false;  // and not released yet
  bool was_deleted_ = false;
};

}  // namespace zklock::recipe
