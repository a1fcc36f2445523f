// SPDX-License-Identifier: Apache-2.0
// zk/last_heard: the session timeout is 24 s here. So a longest silence is 4 s, a report is there after 7 s, and a
// proof is good for 8 s after the leader's last word.
#include "zk/last_heard.h"

#include <gtest/gtest.h>

namespace zklock::zk {
namespace last_heard_test {

using namespace std::chrono_literals;

constexpr Duration kTimeout = 24s;

Deadline at(Duration moment) {
  return Deadline(1000s + moment);
}

// Only the time since the handshake counts.
Duration proof_at(const LastHeard& leader, Duration moment) {
  return leader.proof_at(at(moment), kTimeout) - at(0s);
}

LastHeard after_handshake() {
  LastHeard leader;
  leader.begin(at(0s));
  return leader;
}

void answer(LastHeard& leader, Duration sent, Duration answered) {
  leader.note_answer(at(sent), at(answered), kTimeout);
}

// Returns a leader that has answered each request at once, up to and including the moment `last`.
LastHeard heard_every_3_s_until(Duration last) {
  LastHeard leader = after_handshake();
  for (Duration sent = 3s; sent <= last; sent += 3s) answer(leader, sent, sent);
  return leader;
}

TEST(LastHeard, AfterAHandshakeNothingCountsForLongerThanThat) {
  const LastHeard leader = after_handshake();
  EXPECT_EQ(proof_at(leader, 7s), 7s);
  EXPECT_EQ(proof_at(leader, 30s), 8s);
}

TEST(LastHeard, AReportNamesWhatHasComeBehindTheHandshake) {
  LastHeard leader = after_handshake();
  answer(leader, 3s, 3s);
  EXPECT_EQ(proof_at(leader, 9s), 8s);
  EXPECT_EQ(proof_at(leader, 10s), 10s);
}

TEST(LastHeard, AProofCountsFullyWhileAllIsAnsweredSoon) {
  EXPECT_EQ(proof_at(heard_every_3_s_until(30s), 32s), 32s);
}

TEST(LastHeard, AfterAnAnswerThatCameLateAProofCountsFromWhatIsSure) {
  LastHeard leader = heard_every_3_s_until(30s);
  answer(leader, 33s, 36s);
  EXPECT_EQ(proof_at(leader, 36s), 27s + 8s);
  EXPECT_EQ(proof_at(leader, 42s), 30s + 8s);
  EXPECT_EQ(proof_at(leader, 42999ms), 30s + 8s);
  answer(leader, 36s, 36s);
  EXPECT_EQ(proof_at(leader, 43s), 43s);
}

// It does not begin with the answer: the follower may have heard of the request as early as it was sent.
TEST(LastHeard, ASilenceBeginsWithTheSendingOfTheRequestBefore) {
  LastHeard leader = heard_every_3_s_until(30s);
  answer(leader, 33s, 34s);
  answer(leader, 36s, 37500ms);
  EXPECT_EQ(proof_at(leader, 39s), 30s + 8s);
}

TEST(LastHeard, WhereEveryAnswerIsLateTheProofsGoOnAllTheSame) {
  LastHeard leader = heard_every_3_s_until(30s);
  for (Duration sent = 33s; sent <= 60s; sent += 3s) answer(leader, sent, sent + 3s);
  EXPECT_EQ(proof_at(leader, 63s), 51s + 8s);
}

TEST(LastHeard, WhatWasNotAnsweredForLongDoesNotCount) {
  EXPECT_EQ(proof_at(heard_every_3_s_until(30s), 38s), 38s);
  EXPECT_EQ(proof_at(heard_every_3_s_until(30s), 45s), 30s + 8s);
}

TEST(LastHeard, AnotherHandshakeForgetsWhatWasBefore) {
  LastHeard leader = heard_every_3_s_until(30s);
  leader.begin(at(40s));
  EXPECT_EQ(proof_at(leader, 60s), 48s);
}

}  // namespace last_heard_test
}  // namespace zklock::zk
