// SPDX-License-Identifier: Apache-2.0
#include "command/cli/waiting.h"

#include "host/loop.h"
#include "support/sandbox.h"
#include "zk/session.h"

#include <gtest/gtest.h>

namespace zklock::command {
namespace waiting_test {

using std::chrono::milliseconds;
using std::chrono::seconds;

class WaitingTest : public testing::Test {
 protected:
  // Looks twice at most: the second look finds what is waited for.
  bool wait(const WaitSpan& span, const std::function<Deadline()>& due) {
    const auto look = [this] { return ++looks_ == 2; };
    return wait_until_met(session_, span, look, due);
  }

  host::Loop loop_;
  zk::Session session_{loop_, test::options_for(test::shared_servers() + test::new_chroot())};
  int looks_ = 0;
};

TEST_F(WaitingTest, WhatIsDueLaterIsLookedAtThen) {
  const Deadline due = deadline_in(milliseconds(300));
  EXPECT_TRUE(wait(WaitSpan("1h"), [due] { return due; }));
  EXPECT_GE(BootClock::now(), due);
}

TEST_F(WaitingTest, WhatWouldBeDueAfterTheEndIsLookedAtAtOnce) {
  const Deadline due = deadline_in(seconds(3600));
  const WaitSpan span("20s");
  EXPECT_TRUE(wait(span, [due] { return due; }));
  EXPECT_LT(BootClock::now(), span.until);
}

TEST_F(WaitingTest, WhatIsNeverDueIsNotLookedAtAgain) {
  EXPECT_FALSE(wait(WaitSpan("1s"), [] { return kNever; }));
  EXPECT_EQ(looks_, 1);
}

}  // namespace waiting_test
}  // namespace zklock::command
