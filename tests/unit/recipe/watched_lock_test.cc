// SPDX-License-Identifier: Apache-2.0
// recipe/lock/watched_lock: what has changed between two looks. Tests of the program cover the looks themselves.
#include "recipe/lock/watched_lock.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace zklock::recipe {
namespace watched_lock_test {

using namespace std::chrono_literals;

// Returns a contender of `session`: "a+" holds, "b-" waits. They come in the order of their czxid.
Participant one(const std::string& node, bool holding, int64_t created, int64_t session) {
  Participant participant{*parse_contender("x-1-0000000000"), node, {}, {}, holding};
  participant.stat.ephemeral_owner = session;
  participant.stat.created = created;
  return participant;
}

// Reads "/l/a+ /l/b-". Each contender has a session of its own; its last letter says when it was created.
std::vector<Participant> line(const std::string& text) {
  std::vector<Participant> participants;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    const int64_t id = word[word.size() - 2];
    participants.push_back(one(word.substr(0, word.size() - 1), word.back() == '+', id, id));
    at = end + 1;
  }
  return participants;
}

std::string shown(const std::vector<LockChange>& changes) {
  constexpr const char* kNames[] = {"released", "left", "holding", "acquired", "waiting"};
  std::string text;
  for (const LockChange& change : changes) {
    text += fmt::format("{} {} {}", kNames[static_cast<size_t>(change.event)], change.who.node, change.position);
    if (change.lasted)
      text += fmt::format(" {}", std::chrono::duration_cast<std::chrono::seconds>(*change.lasted).count());
    text += "; ";
  }
  return text;
}

class LockChanges : public testing::Test {
 protected:
  // Looks a second after the last time.
  std::string then(const std::vector<Participant>& now) {
    const std::string text = shown(advance(standings_, now, moment_));
    moment_ = moment_.value_or(Deadline()) + 1s;
    return text;
  }
  std::string then(const std::string& text) { return then(line(text)); }

 private:
  std::vector<Standing> standings_;
  std::optional<Deadline> moment_;
};

TEST_F(LockChanges, WhoIsThereAtFirstInTheOrderOfTheLine) {
  EXPECT_EQ(then(""), "");
  EXPECT_EQ(then("/l/a+ /l/b- /l/c-"), "acquired /l/a 1; waiting /l/b 2; waiting /l/c 3; ");
  EXPECT_EQ(then("/l/a+ /l/b- /l/c-"), "");
}

TEST_F(LockChanges, AHandOverIsAReleaseAndThenAnAcquisition) {
  then("/l/a+ /l/b-");
  EXPECT_EQ(then("/l/b+"), "released /l/a 0; acquired /l/b 1; ");
  EXPECT_EQ(then("/l/b+ /l/c-"), "waiting /l/c 2; ");
  EXPECT_EQ(then("/l/c+"), "released /l/b 0 2; acquired /l/c 1 1; ");
  EXPECT_EQ(then(""), "released /l/c 0 1; ");
}

TEST_F(LockChanges, WhoIsGoneFromTheMiddleOfTheLineHasLeft) {
  then("");
  then("/l/a+ /l/b- /l/c-");
  EXPECT_EQ(then("/l/a+ /l/c-"), "left /l/b 0 1; ");
  EXPECT_EQ(then("/l/c+"), "released /l/a 0 2; acquired /l/c 1 2; ");
}

TEST_F(LockChanges, SeveralAtOnceAreToldInTheOrderOfTheirLine) {
  then("/l/a+ /l/b- /l/c- /l/d-");
  EXPECT_EQ(then("/l/d+ /l/e-"), "released /l/a 0; left /l/b 0; left /l/c 0; acquired /l/d 1; waiting /l/e 2; ");
}

TEST_F(LockChanges, SharedHoldersComeAndGoEachForItself) {
  then("");
  EXPECT_EQ(then("/l/a+ /l/b+ /l/c- /l/d-"), "acquired /l/a 1; acquired /l/b 2; waiting /l/c 3; waiting /l/d 4; ");
  EXPECT_EQ(then("/l/b+ /l/c- /l/d-"), "released /l/a 0 1; ");
  EXPECT_EQ(then("/l/c+ /l/d-"), "released /l/b 0 2; acquired /l/c 1 2; ");
}

TEST_F(LockChanges, AnotherNodeOfTheSameNameIsAnotherContender) {
  then("/l/a+");
  EXPECT_EQ(then({one("/l/a", true, 500, 'a')}), "released /l/a 0; acquired /l/a 1; ");
}

TEST_F(LockChanges, WhoGoesThroughTheGateToASlotIsTheSame) {
  then("");
  then({one("/s/locks/a", false, 1, 7), one("/s/locks/b", false, 2, 8)});
  // It has first a node for a slot in the gate, and then the slot.
  EXPECT_EQ(then({one("/s/leases/a", false, 3, 7), one("/s/locks/b", false, 2, 8)}), "");
  EXPECT_EQ(then({one("/s/leases/a", true, 3, 7), one("/s/locks/b", false, 2, 8)}), "acquired /s/leases/a 1 2; ");
  EXPECT_EQ(then({one("/s/leases/a", true, 3, 7), one("/s/leases/b", true, 4, 8)}), "acquired /s/leases/b 2 3; ");
  EXPECT_EQ(then({one("/s/leases/b", true, 4, 8)}), "released /s/leases/a 0 2; ");
}

TEST_F(LockChanges, OneSessionWithManySlotsIsTakenInItsOrder) {
  then({one("/s/leases/z", true, 1, 7), one("/s/locks/a", false, 2, 7), one("/s/locks/b", false, 3, 7)});
  EXPECT_EQ(then({one("/s/leases/z", true, 1, 7), one("/s/leases/a", true, 5, 7), one("/s/locks/b", false, 3, 7)}),
            "acquired /s/leases/a 2; ");
  EXPECT_EQ(then({one("/s/leases/a", true, 5, 7), one("/s/leases/b", true, 6, 7)}),
            "released /s/leases/z 0; acquired /s/leases/b 2; ");
}

TEST_F(LockChanges, WhoGetsASlotWhenAnotherLeavesTheGateIsNotThat) {
  then("");
  then({one("/s/locks/a", false, 1, 7), one("/s/locks/b", false, 2, 8)});
  EXPECT_EQ(then({one("/s/leases/x", true, 5, 9), one("/s/locks/b", false, 2, 8)}),
            "left /s/locks/a 0 1; acquired /s/leases/x 1; ");
}

TEST_F(LockChanges, WhoHeldTheLockOfOneHasReleasedItWhenHeHasASlot) {
  then({one("/s/a", true, 1, 7)});
  EXPECT_EQ(then({one("/s/leases/b", true, 2, 7)}), "released /s/a 0; acquired /s/leases/b 1; ");
}

TEST_F(LockChanges, OneThatCouldNotBeReadIsToldAndGoes) {
  then("");
  EXPECT_EQ(then({one("/l/a", true, 0, 0), one("/l/b", false, 0, 0)}), "acquired /l/a 1; waiting /l/b 2; ");
  EXPECT_EQ(then({one("/l/c", true, 3, 3)}), "released /l/a 0 1; left /l/b 0 1; acquired /l/c 1; ");
}

}  // namespace watched_lock_test
}  // namespace zklock::recipe
