// SPDX-License-Identifier: Apache-2.0
// command/queue/item_reader: needs no server.
#include "command/queue/item_reader.h"

#include <vector>

#include <gtest/gtest.h>

namespace zklock::command {
namespace item_reader_test {

using Items = std::vector<std::string>;

constexpr size_t kLargest = 5;
constexpr std::optional<char> kWhole;

// Returns what the reader makes of `bytes`, given in pieces of `piece`.
Items read(std::optional<char> end, const std::string& bytes, size_t piece) {
  ItemReader reader(end, kLargest);
  Items items;
  const auto take = [&] {
    while (auto item = reader.next()) items.push_back(*item);
  };
  for (size_t at = 0; at < bytes.size(); at += piece) {
    reader.feed(bytes.substr(at, piece));
    take();
  }
  reader.end();
  take();
  if (reader.oversize() > 0) {
    items.push_back("#" + std::to_string(reader.count()) + " " + std::to_string(reader.oversize()));
  } else {
    EXPECT_TRUE(reader.is_empty());
  }
  return items;
}

void expect(std::optional<char> end, const std::string& bytes, const Items& items) {
  for (const size_t piece : {size_t{1}, size_t{2}, size_t{3}, bytes.size() + 1}) {
    EXPECT_EQ(read(end, bytes, piece), items) << "in pieces of " << piece;
  }
}

TEST(ItemReader, EveryLineIsAnItemAnEmptyOneToo) {
  expect('\n', "", {});
  expect('\n', "a\n\nb\n", {"a", "", "b"});
  expect('\n', "\n", {""});
}

TEST(ItemReader, TheLastLineNeedsNoNewline) {
  expect('\n', "a\nb", {"a", "b"});
}

TEST(ItemReader, WithNulALineEndIsAByteLikeOthers) {
  const std::string bytes("a\nb\0\0\xff", 6);
  expect('\0', bytes, {"a\nb", "", "\xff"});
  expect('\n', bytes, {"a", std::string("b\0\0\xff", 4)});
}

TEST(ItemReader, AllOfItIsOneItem) {
  expect(kWhole, "a\nb\n", {"a\nb\n"});
  expect(kWhole, "", {""});
}

TEST(ItemReader, AnItemOfTheLimitIsFineAndOneByteMoreEndsIt) {
  expect('\n', "12345\n12345", {"12345", "12345"});
  expect('\n', "a\n123456\nb\n", {"a", "#2 6"});
  expect('\n', "a\n123456789", {"a", "#2 9"});
  expect(kWhole, "12345", {"12345"});
  expect(kWhole, "12345678", {"#1 8"});
}

TEST(ItemReader, WhatIsTooLargeIsCountedAndNotKept) {
  ItemReader reader('\n', kLargest);
  for (int i = 0; i < 1000; ++i) {
    reader.feed("123");
    EXPECT_EQ(reader.next(), std::nullopt);
  }
  reader.feed("\n");
  EXPECT_EQ(reader.next(), std::nullopt);
  EXPECT_EQ(reader.oversize(), 3000u);
}

}  // namespace item_reader_test
}  // namespace zklock::command
