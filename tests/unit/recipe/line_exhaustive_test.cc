// SPDX-License-Identifier: Apache-2.0
// recipe/line: checks all lines of up to four contenders, of all kinds and families, against the meaning of exclusion.
// Two never hold the lock together if one is exclusive, the first comes first, and no contender waits without need.
#include "recipe/line.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace zklock::recipe {
namespace line_exhaustive_test {

constexpr int kMost = 4;
constexpr std::array kFamilies = {Family::standard, Family::curator_rw, Family::kazoo};
constexpr std::array kModes = {LockMode::exclusive, LockMode::shared};

std::string name_of(Family family, LockMode mode, int number, int id) {
  const std::string uuid = fmt::format("0f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f6{}", id);
  return fmt::format("{}{:010}", name_of_contender(family, mode, uuid), number);
}

bool exclude(const Contender& one, const Contender& other) {
  return one.mode == LockMode::exclusive || other.mode == LockMode::exclusive;
}

// Calls `check` with each line of `length` contenders, first come first.
template <class Check>
void each_line(int length, std::vector<Contender>& line, const Check& check) {
  if (length == 0) return check(line);
  for (const Family family : kFamilies) {
    for (const LockMode mode : kModes) {
      const int at = static_cast<int>(line.size());
      line.push_back({name_of(family, mode, at, at), family, mode, at});
      each_line(length - 1, line, check);
      line.pop_back();
    }
  }
}

template <class Check>
void each_line(const Check& check) {
  std::vector<Contender> line;
  for (int length = 0; length <= kMost; ++length) each_line(length, line, check);
}

std::string text_of(const std::vector<Contender>& line) {
  std::string text;
  for (const Contender& c : line) text += c.name + "\n";
  return text;
}

bool of_one_family(const std::vector<Contender>& line) {
  return std::all_of(line.begin(), line.end(), [&](const Contender& c) { return c.family == line.front().family; });
}

// True, by definition, if no contender before it excludes it or is excluded by it.
bool may_hold(const std::vector<Contender>& line, size_t me) {
  return std::none_of(line.begin(), line.begin() + static_cast<ptrdiff_t>(me),
                      [&](const Contender& other) { return exclude(other, line[me]); });
}

TEST(LineExhaustive, NoTwoHoldWhoExcludeEachOther) {
  each_line([](const std::vector<Contender>& line) {
    for (const bool with_kazoo : {false, true}) {
      std::vector<Contender> holders;
      for (const Contender& c : line) {
        if (find_place(line, c.name, with_kazoo).turn == Turn::mine) holders.push_back(c);
      }
      for (size_t i = 0; i < holders.size(); ++i) {
        for (size_t j = 0; j < i; ++j) ASSERT_FALSE(exclude(holders[i], holders[j])) << text_of(line);
      }
    }
  });
}

TEST(LineExhaustive, InOneFamilyWhoMayHoldDoes) {
  each_line([](const std::vector<Contender>& line) {
    if (line.empty() || !of_one_family(line)) return;
    size_t holders = 0;
    for (size_t me = 0; me < line.size(); ++me) {
      const Turn turn = find_place(line, line[me].name).turn;
      ASSERT_EQ(turn, may_hold(line, me) ? Turn::mine : Turn::waiting) << text_of(line) << me;
      holders += turn == Turn::mine ? 1 : 0;
    }
    ASSERT_GT(holders, 0u) << text_of(line);
    ASSERT_EQ(count_holders(line), holders) << text_of(line);
  });
}

TEST(LineExhaustive, StrangersAreSeenByAll) {
  each_line([](const std::vector<Contender>& line) {
    for (const bool with_kazoo : {false, true}) {
      for (const Contender& me : line) {
        const bool strangers = std::any_of(line.begin(), line.end(), [&](const Contender& other) {
          return other.family != me.family && !(with_kazoo && other.family == Family::kazoo);
        });
        const Turn turn = find_place(line, me.name, with_kazoo).turn;
        ASSERT_EQ(turn == Turn::strangers, strangers) << text_of(line) << me.name;
      }
    }
  });
}

// While the contender that we watch stays, it is not our turn, whichever others leave.
void check_watch(const std::vector<Contender>& line, const Contender& me) {
  const Place place = find_place(line, me.name);
  if (place.turn != Turn::waiting) return;
  ASSERT_EQ(place.holder, line.front().name);
  ASSERT_EQ(line[place.before].name, me.name);
  for (unsigned left = 0; left < 1u << line.size(); ++left) {
    std::vector<Contender> rest;
    for (size_t i = 0; i < line.size(); ++i) {
      const bool stays = line[i].name == me.name || line[i].name == place.predecessor;
      if (stays || (left >> i & 1) != 0) rest.push_back(line[i]);
    }
    ASSERT_EQ(find_place(rest, me.name).turn, Turn::waiting) << text_of(line) << me.name;
  }
}

TEST(LineExhaustive, WhoIsWatchedStandsInTheWayUntilHeGoes) {
  each_line([](const std::vector<Contender>& line) {
    for (const Contender& me : line) check_watch(line, me);
  });
}

// The server lists children in no order, and other clients choose numbers of their own.
TEST(LineExhaustive, AllSeeTheSameLineWhateverTheOrderAndTheNumbers) {
  for (int numbers = 0; numbers < 27; ++numbers) {
    for (int kinds = 0; kinds < 8; ++kinds) {
      std::vector<std::string> names{"items"};
      for (int i = 0, rest = numbers; i < 3; ++i, rest /= 3) {
        names.push_back(name_of(Family::standard, kModes[static_cast<size_t>(kinds >> i & 1)], rest % 3, i));
      }
      std::sort(names.begin(), names.end());
      const std::string expected = text_of(line_of(names));
      const std::vector<Contender> line = line_of(names);
      ASSERT_EQ(line.size(), 3u);
      ASSERT_TRUE(std::is_sorted(line.begin(), line.end(), [](auto& a, auto& b) { return a.number < b.number; }));
      while (std::next_permutation(names.begin(), names.end())) ASSERT_EQ(text_of(line_of(names)), expected);
    }
  }
}

}  // namespace line_exhaustive_test
}  // namespace zklock::recipe
