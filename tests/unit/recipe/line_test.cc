// SPDX-License-Identifier: Apache-2.0
// recipe/line: reads from names alone which contenders stand in line. names_test.cc tests the names themselves.
#include "recipe/line.h"

#include <algorithm>
#include <random>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace zklock::recipe {
namespace line_test {

constexpr const char* kUuid = "_c_0f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60";
constexpr const char* kHex = "3f1c2d4e5f600f6b1b1e9d0c4b368a5e";

std::string exclusive(int64_t number) {
  return fmt::format("{}-lock-{:010}", kUuid, number);
}

std::string shared(int64_t number) {
  return fmt::format("{}-shared-lock-{:010}", kUuid, number);
}

Place place_in(const std::vector<std::string>& names, const std::string& mine) {
  return find_place(line_of(names), mine);
}

std::vector<std::string> names_of(const std::vector<Contender>& line) {
  std::vector<std::string> names;
  for (const Contender& contender : line) names.push_back(contender.name);
  return names;
}

TEST(Line, ForeignChildrenDoNotStandInLine) {
  const std::vector<std::string> names = {"items", "lock-000000001", exclusive(9), "lock-00000000001", "notes"};
  EXPECT_EQ(names_of(line_of(names)), std::vector<std::string>{exclusive(9)});
  EXPECT_EQ(place_in(names, exclusive(9)).turn, Turn::mine);
}

TEST(Line, SortsByNumberOnly) {
  const std::vector<std::string> names = {"x-3-0000000030", "x-9-0000000001", exclusive(2), "ex0000000010"};
  const std::vector<std::string> sorted = {"x-9-0000000001", exclusive(2), "ex0000000010", "x-3-0000000030"};
  EXPECT_EQ(names_of(line_of(names)), sorted);
  EXPECT_EQ(place_in(names, "x-9-0000000001").turn, Turn::mine);
  EXPECT_EQ(place_in(names, "x-3-0000000030").predecessor, "ex0000000010");
}

TEST(Line, AnyNameWithANumberCountsAmongSlots) {
  const std::string slot = std::string(kUuid) + "-lease-0000000003";
  EXPECT_EQ(names_of(slots_of({slot, "x-lease-0000000001", "items"})),
            (std::vector<std::string>{"x-lease-0000000001", slot}));
}

TEST(Line, CounterIsUsedUpAtItsEndAndBelowZero) {
  for (const int64_t number : {2147483647L, -1L, -2147483648L, -1000000000L, 9999999999L}) {
    EXPECT_TRUE(is_used_up(number)) << number;
  }
  for (const int64_t number : {0L, 1L, 2147483646L}) EXPECT_FALSE(is_used_up(number)) << number;
}

TEST(Line, TiesHaveOneOrderForEverybody) {
  const std::string one = "x-1-0000000005";
  const std::string two = "x-2-0000000005";
  EXPECT_EQ(names_of(line_of({one, two})), names_of(line_of({two, one})));
}

TEST(Line, MyNodeIsGoneWhenItIsNotListed) {
  EXPECT_EQ(place_in({}, exclusive(1)).turn, Turn::gone);
  EXPECT_EQ(place_in({exclusive(2), "items"}, exclusive(1)).turn, Turn::gone);
  EXPECT_EQ(place_in({"items"}, "items").turn, Turn::gone);
}

TEST(Line, FirstHasItsTurnAndNobodyBeforeIt) {
  for (const std::string& mine : {exclusive(1), shared(1)}) {
    const Place place = place_in({exclusive(3), shared(2), mine}, mine);
    EXPECT_EQ(place.turn, Turn::mine);
    EXPECT_EQ(place.before, 0u);
    EXPECT_EQ(place.predecessor, "");
  }
}

TEST(Line, ExclusiveContenderWaitsForItsDirectPredecessor) {
  const std::vector<std::string> names = {exclusive(4), exclusive(1), shared(3), exclusive(2)};
  const Place place = place_in(names, exclusive(4));
  EXPECT_EQ(place.turn, Turn::waiting);
  EXPECT_EQ(place.predecessor, shared(3));
  EXPECT_EQ(place.holder, exclusive(1));
  EXPECT_EQ(place.before, 3u);
}

TEST(Line, SharedContenderWaitsForNearestExclusiveBeforeIt) {
  const std::vector<std::string> names = {exclusive(1), exclusive(2), shared(3), shared(4), exclusive(5)};
  const Place place = place_in(names, shared(4));
  EXPECT_EQ(place.turn, Turn::waiting);
  EXPECT_EQ(place.predecessor, exclusive(2));
  EXPECT_EQ(place.holder, exclusive(1));
  EXPECT_EQ(place.before, 3u);
}

TEST(Line, SharedContendersShare) {
  const std::vector<std::string> names = {shared(1), shared(2), shared(3), exclusive(4), shared(5)};
  EXPECT_EQ(place_in(names, shared(3)).turn, Turn::mine);
  EXPECT_EQ(place_in(names, shared(3)).before, 2u);
  EXPECT_EQ(place_in(names, exclusive(4)).predecessor, shared(3));
  EXPECT_EQ(place_in(names, shared(5)).predecessor, exclusive(4));
}

TEST(Line, ReaderBetweenTwoWritersRunsWhenTheFirstLetsGo) {
  EXPECT_EQ(place_in({exclusive(1), shared(2), exclusive(3)}, shared(2)).predecessor, exclusive(1));
  EXPECT_EQ(place_in({exclusive(1), shared(2), exclusive(3)}, exclusive(3)).predecessor, shared(2));
  EXPECT_EQ(place_in({shared(2), exclusive(3)}, shared(2)).turn, Turn::mine);
  EXPECT_EQ(place_in({shared(2), exclusive(3)}, exclusive(3)).turn, Turn::waiting);
  EXPECT_EQ(place_in({exclusive(3)}, exclusive(3)).turn, Turn::mine);
}

TEST(Line, WaiterWhoseUselessPredecessorLeftStillWaits) {
  EXPECT_EQ(place_in({exclusive(1), exclusive(2), exclusive(3)}, exclusive(3)).predecessor, exclusive(2));
  const Place place = place_in({exclusive(1), exclusive(3)}, exclusive(3));
  EXPECT_EQ(place.turn, Turn::waiting);
  EXPECT_EQ(place.predecessor, exclusive(1));
}

TEST(Line, EveryWaiterWatchesAnother) {
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) names.push_back(exclusive(i));
  std::set<std::string> watched;
  for (const std::string& name : names) watched.insert(place_in(names, name).predecessor);
  EXPECT_EQ(watched.size(), 100u);  // 99 names, and none for the first
}

TEST(Line, StrangersOfAnotherFamilyAreNamedWhereverTheyStand) {
  const std::string rw = std::string(kUuid) + "-__READ__0000000005";
  const std::string kazoo = kHex + std::string("__lock__0000000001");
  EXPECT_EQ(place_in({exclusive(3), rw}, exclusive(3)).turn, Turn::strangers);
  EXPECT_EQ(place_in({exclusive(3), rw}, exclusive(3)).predecessor, rw);
  EXPECT_EQ(place_in({kazoo, exclusive(3)}, exclusive(3)).predecessor, kazoo);
  EXPECT_EQ(place_in({kazoo, exclusive(3)}, kazoo).predecessor, exclusive(3));
  EXPECT_EQ(place_in({"x-1-0000000001", "ex0000000002", exclusive(3)}, exclusive(3)).turn, Turn::waiting);
}

TEST(Line, EachFamilyKeepsItsOwnRules) {
  std::vector<std::string> curator;
  for (const char* ending : {"-__READ__0000000001", "-__READ__0000000002", "-__WRIT__0000000003"}) {
    curator.push_back(std::string(kUuid) + ending);
  }
  EXPECT_EQ(place_in(curator, curator[1]).turn, Turn::mine);
  EXPECT_EQ(place_in(curator, curator[2]).predecessor, curator[1]);
  std::vector<std::string> kazoo;
  for (const char* ending : {"__lock__0000000001", "__rlock__0000000002", "__rlock__0000000003"}) {
    kazoo.push_back(std::string(kHex) + ending);
  }
  EXPECT_EQ(place_in(kazoo, kazoo[0]).turn, Turn::mine);
  EXPECT_EQ(place_in(kazoo, kazoo[2]).predecessor, kazoo[0]);
}

class RandomLine {
 public:
  explicit RandomLine(unsigned seed) : random_(seed) {
    for (size_t left = random_() % 12 + 1; left > 0; --left) names_.push_back(next());
    std::shuffle(names_.begin(), names_.end(), random_);
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::string next() {
    number_ += static_cast<int64_t>(random_() % 1000 + 1);
    return random_() % 2 ? shared(number_) : exclusive(number_);
  }

  std::mt19937 random_;
  int64_t number_ = 0;
  std::vector<std::string> names_;
};

// Returns the contenders whose turn it is, in order.
std::vector<Contender> holders_of(const std::vector<Contender>& line) {
  std::vector<Contender> holders;
  for (const Contender& c : line) {
    if (find_place(line, c.name).turn == Turn::mine) holders.push_back(c);
  }
  return holders;
}

TEST(Line, OneExclusiveHolderOrAllLeadingSharedOnesHaveTheirTurn) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    const auto line = line_of(RandomLine(seed).names());
    const auto first_exclusive =
        std::find_if(line.begin(), line.end(), [](const Contender& c) { return c.mode == LockMode::exclusive; });
    const size_t expected = std::max<size_t>(1, static_cast<size_t>(first_exclusive - line.begin()));
    const auto holders = holders_of(line);
    ASSERT_EQ(holders.size(), expected) << "seed " << seed;
    for (size_t i = 0; i < expected; ++i) EXPECT_EQ(holders[i].name, line[i].name) << "seed " << seed;
  }
}

TEST(Line, TheyHoldItWhoseTurnItIs) {
  EXPECT_EQ(count_holders({}), 0u);
  EXPECT_EQ(count_holders(line_of({exclusive(1), exclusive(2)})), 1u);
  EXPECT_EQ(count_holders(line_of({exclusive(1), shared(2)})), 1u);
  EXPECT_EQ(count_holders(line_of({shared(1), shared(2), exclusive(3), shared(4)})), 2u);
  for (unsigned seed = 0; seed < 500; ++seed) {
    const auto line = line_of(RandomLine(seed).names());
    EXPECT_EQ(count_holders(line), holders_of(line).size()) << "seed " << seed;
  }
}

TEST(Line, EveryWaiterWatchesSomebodyBeforeItWhomItMustWaitFor) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    const auto line = line_of(RandomLine(seed).names());
    for (size_t i = 0; i < line.size(); ++i) {
      const Place place = find_place(line, line[i].name);
      EXPECT_EQ(place.before, i);
      if (place.turn != Turn::waiting) continue;
      const auto watched = parse_contender(place.predecessor);
      ASSERT_TRUE(watched) << "seed " << seed;
      EXPECT_LT(watched->number, line[i].number) << "seed " << seed;
      EXPECT_TRUE(watched->mode == LockMode::exclusive || line[i].mode == LockMode::exclusive) << "seed " << seed;
      EXPECT_EQ(place.holder, line.front().name);
    }
  }
}

// Holders and waiters leave in any order: the line empties, each contender has had a turn or left, and none runs beside
// an exclusive one.
TEST(Line, EveryLineEmptiesWhoeverLeavesNext) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    auto line = line_of(RandomLine(seed).names());
    while (!line.empty()) {
      const auto holders = holders_of(line);
      ASSERT_FALSE(holders.empty()) << "seed " << seed;
      const bool alone = holders.front().mode == LockMode::shared || holders.size() == 1;
      EXPECT_TRUE(alone) << "seed " << seed;
      line.erase(line.begin() + static_cast<ptrdiff_t>(random() % line.size()));
    }
  }
}

}  // namespace line_test
}  // namespace zklock::recipe
