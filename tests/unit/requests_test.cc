// SPDX-License-Identifier: Apache-2.0
#include "zk/requests.h"

#include <gtest/gtest.h>

namespace zklock::zk {
namespace {

using namespace std::chrono_literals;

const Asked kList{Op::children, "/l"};
const Asked kCheck{Op::check, "/l"};

TEST(Vain, LossIsRememberedUntilTheRequestItselfIsAnswered) {
  Vain vain(10s);
  const Deadline first = BootClock::now();
  vain.note_loss(kList, first, Wire::End::closed);
  vain.note_answer(kCheck);
  EXPECT_EQ(vain.since(kList, first + 5s), first);
  vain.note_answer(kList);
  EXPECT_EQ(vain.since(kList, first + 5s), first + 5s);
}

TEST(Vain, LossLongAgoIsAnotherMatter) {
  Vain vain(10s);
  const Deadline first = BootClock::now();
  vain.note_loss(kList, first, Wire::End::closed);
  EXPECT_EQ(vain.since(kList, first + 11s), first + 11s);
}

TEST(Vain, CreateWithAnotherUniqueNameIsTheSame) {
  Vain vain(10s);
  const Deadline first = BootClock::now();
  vain.note_loss({Op::create, "/l/a-"}, first, Wire::End::closed);
  EXPECT_EQ(vain.since({Op::create_with_stat, "/l/b-"}, first + 1s), first);
}

TEST(Vain, WhatIsSaidNamesTheRequestItsSizeAndTheReason) {
  Vain vain(10s);
  const Asked create{Op::create, "/l/a-", 3000};
  vain.note_loss(create, BootClock::now(), Wire::End::closed);
  const std::string text = describe(vain.stuck(create, BootClock::now()), "h:1");
  EXPECT_NE(text.find("create a node below /l (3000 bytes)"), text.npos) << text;
  EXPECT_NE(text.find("lost once"), text.npos) << text;
  EXPECT_NE(text.find("jute.maxbuffer"), text.npos) << text;
}

}  // namespace
}  // namespace zklock::zk
