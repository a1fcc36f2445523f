// SPDX-License-Identifier: Apache-2.0
// recipe/value/fate: covers what tests/model/value_model.cc leaves out, because every node may be read there.
#include "recipe/value/fate.h"

#include <gtest/gtest.h>

namespace zklock::recipe {
namespace fate_test {

constexpr Sight kBefore{true, 7, 3, false, 0};

Sight at(int32_t version, std::optional<bool> is_ours) {
  return {true, 7, version, is_ours, 0};
}

TEST(Fate, WhatMayNotBeReadIsKnownByItsVersionAlone) {
  EXPECT_EQ(fate_of(ChangeKind::set, -1, kBefore, at(3, std::nullopt)), Fate::not_done);
  EXPECT_EQ(fate_of(ChangeKind::set, -1, kBefore, at(4, std::nullopt)), Fate::unknown);
  EXPECT_EQ(fate_of(ChangeKind::set_version, 3, kBefore, at(3, std::nullopt)), Fate::not_done);
  EXPECT_EQ(fate_of(ChangeKind::set_version, 3, kBefore, at(4, std::nullopt)), Fate::unknown);
}

TEST(Fate, OtherBytesAtTheNextVersionAreAnothers) {
  EXPECT_EQ(fate_of(ChangeKind::set_version, 3, kBefore, at(4, false)), Fate::not_done);
  EXPECT_EQ(fate_of(ChangeKind::set_version, 3, kBefore, at(4, true)), Fate::unknown);
  EXPECT_EQ(fate_of(ChangeKind::set_version, 3, kBefore, at(5, false)), Fate::unknown);
}

// The version stays, so no waiter for another version has been woken.
TEST(Fate, BytesThatStoodThereBeforeAreNotWritten) {
  constexpr Sight kSame{true, 7, 3, true, 0};
  EXPECT_EQ(fate_of(ChangeKind::set, -1, kSame, at(3, true)), Fate::not_done);
  EXPECT_EQ(fate_of(ChangeKind::set, -1, kSame, at(4, true)), Fate::done);
}

TEST(Fate, WhatWasMadeAnewIsAnotherNode) {
  Sight after = at(3, false);
  after.created = 9;
  EXPECT_EQ(fate_of(ChangeKind::set, -1, kBefore, after), Fate::unknown);
  EXPECT_EQ(fate_of(ChangeKind::set_version, 3, kBefore, after), Fate::unknown);
  EXPECT_EQ(fate_of(ChangeKind::remove, -1, kBefore, after), Fate::done);
  EXPECT_EQ(fate_of(ChangeKind::remove_version, 3, kBefore, after), Fate::unknown);
}

}  // namespace fate_test
}  // namespace zklock::recipe
