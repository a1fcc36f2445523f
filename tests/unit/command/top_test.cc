// SPDX-License-Identifier: Apache-2.0
// command/top, without servers: in which order rows come, and which of them a screen shows.
#include "base/text.h"
#include "command/top/page.h"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace zklock::command {
namespace top_test {

using host::Colour;
using recipe::OverviewFigures;
using Lines = std::vector<std::string>;

constexpr int64_t kNow = 1'800'000'000'000;
constexpr int64_t kMinute = 60'000;

recipe::LockFigures lock(const std::string& path, size_t waiters, int64_t waited_min, int64_t held_min = 500) {
  return {path, 1, waiters, "me", kNow - held_min * kMinute, waiters == 0 ? 0 : kNow - waited_min * kMinute};
}

recipe::QueueFigures queue(const std::string& path, int64_t items, int64_t dead, double in = 0, double out = 0) {
  recipe::QueueFigures figures;
  figures.path = path;
  figures.items = items;
  figures.dead = dead;
  figures.in = in;
  figures.out = out;
  return figures;
}

Lines paths_of(const TopSection& section) {
  Lines paths;
  for (const TopRow& row : section.rows) paths.push_back(row.path);
  return paths;
}

TopView sorted(TopSort sort) {
  TopView view;
  view.sort = sort;
  return view;
}

TopSection only_section(const OverviewFigures& figures, const TopView& view = {}) {
  const auto sections = sections_of(figures, view, kNow);
  EXPECT_EQ(sections.size(), 1u);
  return sections.empty() ? TopSection{} : sections.front();
}

TEST(TopSections, LongWaitsComeFirstAndThenOldHolds) {
  OverviewFigures figures;
  figures.locks = {lock("/a", 0, 0, 10), lock("/b", 1, 2), lock("/c", 3, 90), lock("/d", 0, 0, 20), lock("/e", 9, 0)};
  const TopSection section = only_section(figures);
  EXPECT_EQ(paths_of(section), (Lines{"/c", "/b", "/e", "/d", "/a"}));
  EXPECT_EQ(section.rows[0].colour, Colour::red);
  EXPECT_EQ(section.rows[1].colour, Colour::yellow);
  EXPECT_EQ(section.rows[2].colour, Colour::none);
}

TEST(TopSections, DeadLettersComeFirstAndThenQueuesThatGrow) {
  OverviewFigures figures;
  figures.queues = {queue("/a", 900, 0), queue("/b", 5, 0, 2, 1), queue("/c", 1, 1), queue("/d", 0, 7)};
  EXPECT_EQ(paths_of(only_section(figures)), (Lines{"/d", "/c", "/b", "/a"}));
}

TEST(TopSections, EmptyGroupsComeFirstAndThenThoseThatHaveChanged) {
  OverviewFigures figures;
  figures.groups = {{"/a", 5, kNow - 9 * kMinute}, {"/b", 5, kNow - 1000}, {"/c", 0, 0}, {"/d", 5, 0}};
  const Lines paths = paths_of(only_section(figures));
  EXPECT_EQ(paths[0], "/c");
  EXPECT_EQ(paths[1], "/b");
}

TEST(TopSections, AreSortedAsAsked) {
  OverviewFigures figures;
  figures.locks = {lock("/b", 0, 0, 10), lock("/a", 5, 1, 5), lock("/c", 1, 1, 20)};
  EXPECT_EQ(paths_of(only_section(figures, sorted(TopSort::name))), (Lines{"/a", "/b", "/c"}));
  EXPECT_EQ(paths_of(only_section(figures, sorted(TopSort::size))), (Lines{"/a", "/c", "/b"}));
  EXPECT_EQ(paths_of(only_section(figures, sorted(TopSort::age))), (Lines{"/c", "/b", "/a"}));
  EXPECT_EQ(next(next(next(next(TopSort::attention)))), TopSort::attention);
}

TEST(TopSections, AFilterLeavesOutRowsAndSections) {
  OverviewFigures figures;
  figures.locks = {lock("/web/a", 0, 0), lock("/db/a", 0, 0)};
  figures.queues = {queue("/q", 1, 0)};
  EXPECT_EQ(paths_of(only_section(figures, {TopSort::attention, "db"})), (Lines{"/db/a"}));
  EXPECT_TRUE(sections_of(figures, {TopSort::attention, "nothing"}, kNow).empty());
}

TEST(TopSections, FitTheScreenAndKeepTheEndOfPaths) {
  OverviewFigures figures;
  figures.locks = {lock("/a/very/long/path/of/many/parts/to/a/lock/that/is/called/nightly", 12, 3)};
  figures.locks.front().holder = R"({"host":"a-host-with-a-long-name.example.org","pid":1234567})";
  for (const size_t columns : {20u, 30u, 40u, 80u, 200u}) {
    const TopSection section = only_section(figures, {TopSort::attention, "", columns});
    const auto width = decode_utf8(section.rows.front().text);
    ASSERT_TRUE(width);
    EXPECT_LE(width->size(), columns);
  }
  const std::string narrow = only_section(figures, {TopSort::attention, "", 20}).rows.front().text;
  EXPECT_TRUE(narrow.find("nightly") != std::string::npos && narrow.find("12") != std::string::npos) << narrow;
}

TEST(TopSections, WhatIsReadCannotSteerATerminal) {
  OverviewFigures figures;
  figures.locks = {lock("/\033[2J", 0, 0)};
  figures.locks.front().holder = "\033]0;x\007\n";
  const TopSection section = only_section(figures);
  for (const char character : section.rows.front().text)
    EXPECT_FALSE(is_control(static_cast<unsigned char>(character)) && static_cast<unsigned char>(character) < 0x80);
}

TEST(TopSections, AHolderIsItsHostAndItsCommand) {
  OverviewFigures figures;
  figures.locks = {lock("/a", 0, 0)};
  figures.locks.front().holder = R"({"host":"web1","pid":7,"command":"nightly","label":"by hand"})";
  figures.locks.front().holders = 3;
  EXPECT_NE(only_section(figures).rows.front().text.find("web1 nightly 'by hand' and 2 more"), std::string::npos);
}

TEST(TopSections, SumsSayHowMany) {
  OverviewFigures figures;
  figures.locks = {lock("/a", 2, 1), lock("/b", 0, 0)};
  figures.queues = {queue("/q", 1, 3)};
  figures.groups = {{"/g", 2, 0}};
  EXPECT_EQ(sums_of(figures), "2 locks (2 held, 1 waited for), 1 queue (1 item, 3 dead), 1 group (2 members)");
  figures.queues.front().estimated = true;
  EXPECT_NE(sums_of(figures).find("(~1 item"), std::string::npos);
}

// --- the page

std::vector<TopSection> some(size_t locks, size_t queues, size_t groups) {
  std::vector<TopSection> sections;
  const auto add = [&](TopKind kind, const char* name, size_t count) {
    if (count == 0) return;
    sections.push_back({kind, name, {}});
    for (size_t i = 0; i < count; ++i)
      sections.back().rows.push_back({fmt::format("{}{}", name, i), fmt::format("{}{}", name, i)});
  };
  add(TopKind::lock, "l", locks);
  add(TopKind::queue, "q", queues);
  add(TopKind::group, "g", groups);
  return sections;
}

std::string chosen_in(const std::vector<host::ScreenLine>& lines) {
  std::string chosen;
  for (const host::ScreenLine& line : lines) chosen += line.chosen ? line.text + ";" : "";
  return chosen;
}

TEST(TopPage, ShowsTheCursorOnceWhateverTheSizeAndWhereverItIs) {
  for (const auto& sections : {some(300, 50, 10), some(3, 0, 0), some(0, 40, 1), some(1, 1, 1)}) {
    for (size_t rows = 2; rows < 60; ++rows) {
      TopPage page;
      page.set(sections);
      for (int step = 0; step < 370; step += 7) {
        const auto lines = page.lines(rows);
        ASSERT_LE(lines.size(), rows);
        ASSERT_EQ(chosen_in(lines), page.chosen()->path + ";") << rows;
        page.move(7);
      }
      page.move(-TopPage::kAll);
      EXPECT_EQ(chosen_in(page.lines(rows)), page.chosen()->path + ";");
      page.move(TopPage::kAll);
      EXPECT_EQ(chosen_in(page.lines(rows)), page.chosen()->path + ";");
    }
  }
}

TEST(TopPage, EachSectionHasItsPart) {
  TopPage page;
  page.set(some(300, 50, 2));
  size_t locks = 0, queues = 0, groups = 0;
  for (const host::ScreenLine& line : page.lines(21)) {
    if (line.text.size() > 1 && line.text[0] == 'l') ++locks;
    if (line.text.size() > 1 && line.text[0] == 'q') ++queues;
    if (line.text.size() > 1 && line.text[0] == 'g') ++groups;
  }
  EXPECT_EQ(groups, 2u);
  EXPECT_GE(locks, 6u);
  EXPECT_GE(queues, 6u);
  EXPECT_EQ(locks + queues + groups, 15u);
}

TEST(TopPage, TheCursorStaysWithItsRowOnceItWasMoved) {
  TopPage page;
  page.set(some(3, 2, 0));
  auto reversed = some(3, 2, 0);
  std::reverse(reversed[0].rows.begin(), reversed[0].rows.end());
  page.set(reversed);
  EXPECT_EQ(page.chosen()->path, "l2");
  page.move(1);
  EXPECT_EQ(page.chosen()->path, "l1");
  page.move(1);
  EXPECT_EQ(page.chosen()->path, "l0");
  page.set(some(3, 2, 0));
  EXPECT_EQ(page.chosen()->path, "l0");
  page.move_to_next_section();
  EXPECT_EQ(page.chosen()->path, "q0");
  page.move_to_next_section();
  EXPECT_EQ(page.chosen()->path, "l0");
}

TEST(TopPage, TheCursorStaysWithTheRowThatTabHasPutItOn) {
  TopPage page;
  page.set(some(3, 2, 0));
  page.move_to_next_section();
  page.set(some(4, 2, 0));
  EXPECT_EQ(page.chosen()->path, "q0");
}

TEST(TopPage, WhatIsGoneLeavesTheCursorOnARow) {
  TopPage page;
  page.set(some(3, 2, 1));
  page.move(TopPage::kAll);
  page.set(some(2, 0, 0));
  EXPECT_EQ(page.chosen()->path, "l1");
  page.set({});
  EXPECT_FALSE(page.chosen());
  EXPECT_TRUE(page.lines(10).empty());
  page.move(5);
  page.move_to_next_section();
  page.set(some(1, 0, 0));
  EXPECT_EQ(page.chosen()->path, "l0");
}

}  // namespace top_test
}  // namespace zklock::command
