// SPDX-License-Identifier: Apache-2.0
// recipe/line: who stands in line, read from names alone.
#include "recipe/line.h"

#include <algorithm>
#include <random>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace zklock::recipe {
namespace line_test {

constexpr const char* kUuid = "_c_0f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60";

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

TEST(Line, KnowsTheNamesOfAllFamilies) {
  const struct {
    const char* name;
    Family family;
    LockMode mode;
    int64_t number;
  } cases[] = {
      {"_c_0f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60-lock-0000000007", Family::standard, LockMode::exclusive, 7},
      {"_c_0f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60-shared-lock-0000000008", Family::standard, LockMode::shared, 8},
      {"lock-0000000000", Family::standard, LockMode::exclusive, 0},                   // Curator, unprotected
      {"x-72057594037927936-0000000012", Family::standard, LockMode::exclusive, 12},   // WriteLock
      {"x--72057594037927936-0000000012", Family::standard, LockMode::exclusive, 12},  // of a negative session id
      {"_c_0f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60-__WRIT__0000000001", Family::curator_rw, LockMode::exclusive, 1},
      {"_c_0f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60-__READ__0000000002", Family::curator_rw, LockMode::shared, 2},
      {"3f1c2d4e5f600f6b1b1e9d0c4b368a5e__lock__0000000003", Family::kazoo, LockMode::exclusive, 3},
      {"3f1c2d4e5f600f6b1b1e9d0c4b368a5e__rlock__0000000004", Family::kazoo, LockMode::shared, 4},
      {"anything__0000000005", Family::standard, LockMode::exclusive, 5},
      {"-0000000006", Family::standard, LockMode::exclusive, 6},
      {"grün-2147483646", Family::standard, LockMode::exclusive, 2147483646},
  };
  for (const auto& c : cases) {
    const auto contender = parse_contender(c.name);
    ASSERT_TRUE(contender) << c.name;
    EXPECT_EQ(contender->name, c.name);
    EXPECT_EQ(contender->family, c.family) << c.name;
    EXPECT_EQ(contender->mode, c.mode) << c.name;
    EXPECT_EQ(contender->number, c.number) << c.name;
  }
}

TEST(Line, Scenario23IgnoresForeignChildren) {
  for (const char* name : {"",
                           "-",
                           "__",
                           "items",
                           "leases",
                           "waiting",
                           "config.json",
                           "0000000001",
                           "lock0000000001",
                           "lock_0000000001",
                           "lock-",
                           "lock-x",
                           "lock-1",
                           "lock-000000001",
                           "lock-00000000001",
                           "lock-0000000001x",
                           "lock-0000000001-",
                           "lock-0000000001.last",
                           "lock-+000000001",
                           "lock- 000000001",
                           "-99999999999999999999",
                           "lock-0x00000001",
                           "lock-\xd9\xa1\xd9\xa2\xd9\xa3\xd9\xa4\xd9\xa5",
                           "\xff\xfe",
                           "lock-0000000001\n",
                           "__WRIT_0000000001"}) {
    EXPECT_FALSE(parse_contender(name)) << name;
  }
}

TEST(Line, Scenario23ForeignChildrenDoNotStandInLine) {
  const std::vector<std::string> names = {"items", "lock-000000001", exclusive(9), "lock-00000000001", "notes"};
  EXPECT_EQ(names_of(line_of(names)), std::vector<std::string>{exclusive(9)});
  EXPECT_EQ(place_in(names, exclusive(9)).turn, Turn::mine);
}

TEST(Line, Scenario22SortsByNumberOnly) {
  const std::vector<std::string> names = {"a-0000000030", "z-0000000001", "_c_x-lock-0000000002", "x-9-0000000010"};
  const std::vector<std::string> sorted = {"z-0000000001", "_c_x-lock-0000000002", "x-9-0000000010", "a-0000000030"};
  EXPECT_EQ(names_of(line_of(names)), sorted);
  EXPECT_EQ(place_in(names, "z-0000000001").turn, Turn::mine);
  EXPECT_EQ(place_in(names, "a-0000000030").predecessor, "x-9-0000000010");
}

TEST(Line, Scenario21ReadsNegativeNumbersAsTheServerWritesThem) {
  for (const int64_t number : {-1L, -7L, -999999999L, -1000000000L, -2147483647L, -2147483648L}) {
    for (const char* stem : {"_c_x-lock-", "_c_x-shared-lock-", "_c_x-__WRIT__", "a__lock__", "a__rlock__", "b__"}) {
      const auto contender = parse_contender(stem + fmt::format("{:010}", number));
      ASSERT_TRUE(contender) << stem << number;
      EXPECT_EQ(contender->number, number) << stem;
    }
  }
  EXPECT_EQ(parse_contender("a-shared-lock--000000007")->mode, LockMode::shared);
  EXPECT_EQ(parse_contender("a__rlock__-000000007")->family, Family::kazoo);
}

TEST(Line, MinusInANameIsNoSignOfItsNumber) {
  EXPECT_EQ(parse_contender("a--0000000007")->number, 7);
  EXPECT_EQ(parse_contender("a-b-c-0000000007")->number, 7);
  EXPECT_EQ(parse_contender("x-5-0000000007")->number, 7);
  EXPECT_FALSE(parse_contender("a-000000007"));
  EXPECT_FALSE(parse_contender("a-b-00000000007"));
  EXPECT_EQ(parse_contender("a-2147483646")->number, 2147483646);
}

TEST(Line, Scenario21CounterIsUsedUpAtItsEndAndBelowZero) {
  for (const int64_t number : {2147483647L, -1L, -2147483648L, -1000000000L}) {
    EXPECT_TRUE(is_used_up(*parse_contender(fmt::format("a-{:010}", number)))) << number;
  }
  for (const int64_t number : {0L, 1L, 2147483646L}) {
    EXPECT_FALSE(is_used_up(*parse_contender(fmt::format("a-{:010}", number)))) << number;
  }
  EXPECT_TRUE(is_used_up(*parse_contender("a-9999999999")));
}

TEST(Line, Scenario21TiesHaveOneOrderForEverybody) {
  const std::string one = "a-0000000005";
  const std::string two = "b-0000000005";
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

TEST(Line, Scenario26ReaderBetweenTwoWritersRunsWhenTheFirstLetsGo) {
  EXPECT_EQ(place_in({exclusive(1), shared(2), exclusive(3)}, shared(2)).predecessor, exclusive(1));
  EXPECT_EQ(place_in({exclusive(1), shared(2), exclusive(3)}, exclusive(3)).predecessor, shared(2));
  EXPECT_EQ(place_in({shared(2), exclusive(3)}, shared(2)).turn, Turn::mine);
  EXPECT_EQ(place_in({shared(2), exclusive(3)}, exclusive(3)).turn, Turn::waiting);
  EXPECT_EQ(place_in({exclusive(3)}, exclusive(3)).turn, Turn::mine);
}

TEST(Line, Scenario17WaiterWhoseUselessPredecessorLeftStillWaits) {
  EXPECT_EQ(place_in({exclusive(1), exclusive(2), exclusive(3)}, exclusive(3)).predecessor, exclusive(2));
  const Place place = place_in({exclusive(1), exclusive(3)}, exclusive(3));
  EXPECT_EQ(place.turn, Turn::waiting);
  EXPECT_EQ(place.predecessor, exclusive(1));
}

TEST(Line, Scenario20EveryWaiterWatchesAnother) {
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) names.push_back(exclusive(i));
  std::set<std::string> watched;
  for (const std::string& name : names) watched.insert(place_in(names, name).predecessor);
  EXPECT_EQ(watched.size(), 100u);  // 99 names, and nobody for the first
}

TEST(Line, StrangersOfAnotherFamilyAreNamedWhereverTheyStand) {
  const std::string rw = "_c_x-__READ__0000000005";
  const std::string kazoo = "abc__lock__0000000001";
  EXPECT_EQ(place_in({exclusive(3), rw}, exclusive(3)).turn, Turn::strangers);
  EXPECT_EQ(place_in({exclusive(3), rw}, exclusive(3)).predecessor, rw);
  EXPECT_EQ(place_in({kazoo, exclusive(3)}, exclusive(3)).predecessor, kazoo);
  EXPECT_EQ(place_in({kazoo, exclusive(3)}, kazoo).predecessor, exclusive(3));
  EXPECT_EQ(place_in({"x-1-0000000001", "lock-0000000002", exclusive(3)}, exclusive(3)).turn, Turn::waiting);
}

TEST(Line, EachFamilyKeepsItsOwnRules) {
  const std::vector<std::string> curator = {"a-__READ__0000000001", "b-__READ__0000000002", "c-__WRIT__0000000003"};
  EXPECT_EQ(place_in(curator, curator[1]).turn, Turn::mine);
  EXPECT_EQ(place_in(curator, curator[2]).predecessor, curator[1]);
  const std::vector<std::string> kazoo = {"a__lock__0000000001", "b__rlock__0000000002", "c__rlock__0000000003"};
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

// The contenders whose turn it is, in order.
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

// Whoever leaves next, holder or waiter: the line empties, everybody has had a turn or left, and nobody runs beside an
// exclusive one.
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
