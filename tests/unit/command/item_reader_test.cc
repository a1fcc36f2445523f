// SPDX-License-Identifier: Apache-2.0
// command/item_reader: pure.
#include "command/queue/item_reader.h"

#include <vector>

#include <gtest/gtest.h>

namespace zklock::command {
namespace item_reader_test {

using Items = std::vector<std::string>;

constexpr size_t kLargest = 5;

// What is had from `bytes`, given in pieces of `piece`.
Items read(Framing framing, const std::string& bytes, size_t piece) {
  ItemReader reader(framing, kLargest);
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
  if (const auto& large = reader.oversize()) {
    items.push_back("#" + std::to_string(large->number) + " " + std::to_string(large->size));
  } else {
    EXPECT_TRUE(reader.is_empty());
  }
  return items;
}

void expect(Framing framing, const std::string& bytes, const Items& items) {
  for (const size_t piece : {size_t{1}, size_t{2}, size_t{3}, bytes.size() + 1}) {
    EXPECT_EQ(read(framing, bytes, piece), items) << "in pieces of " << piece;
  }
}

// 60
TEST(ItemReader, EveryLineIsAnItemAnEmptyOneToo) {
  expect(Framing::lines, "", {});
  expect(Framing::lines, "a\n\nb\n", {"a", "", "b"});
  expect(Framing::lines, "\n", {""});
}

TEST(ItemReader, TheLastLineNeedsNoNewline) {
  expect(Framing::lines, "a\nb", {"a", "b"});
}

// 60
TEST(ItemReader, WithNulALineEndIsAByteLikeOthers) {
  const std::string bytes("a\nb\0\0\xff", 6);
  expect(Framing::nul, bytes, {"a\nb", "", "\xff"});
  expect(Framing::lines, bytes, {"a", std::string("b\0\0\xff", 4)});
}

TEST(ItemReader, AllOfItIsOneItem) {
  expect(Framing::whole, "a\nb\n", {"a\nb\n"});
  expect(Framing::whole, "", {""});
}

// 60
TEST(ItemReader, AnItemOfTheLimitIsFineAndOneByteMoreEndsIt) {
  expect(Framing::lines, "12345\n12345", {"12345", "12345"});
  expect(Framing::lines, "a\n123456\nb\n", {"a", "#2 6"});
  expect(Framing::lines, "a\n123456789", {"a", "#2 9"});
  expect(Framing::whole, "12345", {"12345"});
  expect(Framing::whole, "12345678", {"#1 8"});
}

TEST(ItemReader, WhatIsTooLargeIsCountedAndNotKept) {
  ItemReader reader(Framing::lines, kLargest);
  for (int i = 0; i < 1000; ++i) {
    reader.feed("123");
    EXPECT_EQ(reader.next(), std::nullopt);
  }
  reader.feed("\n");
  EXPECT_EQ(reader.next(), std::nullopt);
  EXPECT_EQ(reader.oversize()->size, 3000u);
}

}  // namespace item_reader_test
}  // namespace zklock::command
