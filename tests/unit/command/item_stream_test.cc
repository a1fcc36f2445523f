// SPDX-License-Identifier: Apache-2.0
// command/queue/item_stream and claim_pace: need no server.
#include "command/queue/item_stream.h"

#include "command/queue/claim_pace.h"

#include <climits>

#include <gtest/gtest.h>

namespace zklock::command {
namespace item_stream_test {

using recipe::Item;
using Texts = std::vector<std::string>;

// Returns items whose paths are their texts.
std::vector<Item> items(const Texts& texts) {
  std::vector<Item> all;
  for (const std::string& text : texts) {
    Item item;
    item.path = "/" + text;
    item.data = text;
    all.push_back(item);
  }
  return all;
}

Texts paths(const std::vector<Item>& items) {
  Texts all;
  for (const Item& item : items) all.push_back(item.path);
  return all;
}

ItemStream stream_of(const Texts& texts, const std::string& end = "\n") {
  ItemStream stream(end);
  for (Item& item : items(texts)) stream.add(std::move(item));
  return stream;
}

TEST(ItemStreamTest, WritesItemsInOrderAndHandsThemOverOnceTheyAreWritten) {
  ItemStream stream = stream_of({"one", "two", "three"});
  EXPECT_EQ(stream.next(), "one\ntwo\nthree\n");
  stream.note_written(4);
  EXPECT_FALSE(stream.is_torn());
  EXPECT_EQ(paths(stream.take_written()), (Texts{"/one"}));
  stream.note_written(2);
  EXPECT_TRUE(stream.is_torn());
  EXPECT_EQ(stream.next(), "o\nthree\n");
  EXPECT_TRUE(stream.take_written().empty());
  stream.note_written(8);
  EXPECT_TRUE(stream.empty());
  EXPECT_EQ(paths(stream.take_written()), (Texts{"/two", "/three"}));
  EXPECT_EQ(stream.delivered(), 3u);
}

TEST(ItemStreamTest, AChunkIsWhatAPipeTakesWholeOrOneLongerItem) {
  const std::string half(PIPE_BUF / 2, 'x');
  const std::string longer(2 * PIPE_BUF, 'y');
  ItemStream stream = stream_of({half, half, longer, "z"}, "");
  for (const std::string& chunk : {half + half, longer, std::string("z")}) {
    EXPECT_EQ(stream.next(), chunk);
    stream.note_written(chunk.size());
  }
  EXPECT_TRUE(stream.empty());
}

TEST(ItemStreamTest, ItemsWithoutAByteAreWritten) {
  ItemStream stream = stream_of({"", "a", ""}, "");
  EXPECT_EQ(stream.next(), "a");
  stream.note_written(0);
  EXPECT_EQ(stream.size(), 2u);
  stream.note_written(1);
  EXPECT_TRUE(stream.empty());
  EXPECT_EQ(stream.delivered(), 3u);
}

TEST(ItemStreamTest, ItemsThatAreNotKeptAreNotWritten) {
  ItemStream stream = stream_of({"one", "two", "three"});
  EXPECT_EQ(stream.next(), "one\ntwo\nthree\n");
  EXPECT_TRUE(stream.keep(items({"one", "three"})));
  EXPECT_EQ(stream.next(), "one\nthree\n");
  // A torn item is written to its end.
  stream.note_written(1);
  EXPECT_TRUE(stream.keep(items({"one"})));
  EXPECT_EQ(stream.next(), "ne\n");
  stream.note_written(3);
  EXPECT_TRUE(stream.empty());
}

TEST(ItemStreamTest, ATornItemThatIsNotKeptIsReportedAndNothingIsForgotten) {
  for (const Texts& kept : {Texts{}, Texts{"two"}}) {
    ItemStream stream = stream_of({"one", "two"});
    stream.note_written(stream.next().size() - 7);
    ASSERT_TRUE(stream.is_torn());
    EXPECT_FALSE(stream.keep(items(kept)));
    EXPECT_EQ(paths(stream.items()), (Texts{"/one", "/two"}));
  }
}

TEST(ItemStreamTest, WhatIsForgottenIsNotWritten) {
  ItemStream stream = stream_of({"one", "two"});
  EXPECT_EQ(stream.next(), "one\ntwo\n");
  stream.note_written(5);
  stream.forget();
  EXPECT_TRUE(stream.empty());
  EXPECT_FALSE(stream.is_torn());
  EXPECT_EQ(paths(stream.take_written()), (Texts{"/one"}));
  for (Item& item : items({"three"})) stream.add(std::move(item));
  EXPECT_EQ(stream.next(), "three\n");
}

TEST(ClaimPaceTest, SmallItemsAreClaimedInLargerBatchesAndLargeOnesInSmaller) {
  constexpr auto kRoundTrip = std::chrono::hours(1);  // so nothing is known of the reader
  ClaimPace pace;
  const size_t first = pace.batch();
  pace.note(items({"small"}), 0, kRoundTrip);
  EXPECT_EQ(pace.batch(), 2 * first);
  for (int i = 0; i < 10; ++i) pace.note(items({"small"}), 0, kRoundTrip);
  const size_t most = pace.batch();
  EXPECT_EQ(most, 128u);
  pace.note(items({std::string(2 << 20, 'x')}), 0, kRoundTrip);
  EXPECT_EQ(pace.batch(), most / 2);
  pace.slow_down();
  EXPECT_EQ(pace.batch(), most / 8);
  for (int i = 0; i < 10; ++i) pace.slow_down();
  EXPECT_EQ(pace.batch(), 1u);
}

}  // namespace item_stream_test
}  // namespace zklock::command
