// SPDX-License-Identifier: Apache-2.0
// command/lock/show and command/cli/table: what is shown of a lock's contenders.
#include "base/text.h"
#include "command/cli/table.h"
#include "command/lock/locks.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace zklock::command {
namespace report_test {

using nlohmann::json;
using recipe::Participant;
using recipe::PathUse;
using recipe::Survey;

constexpr const char* kNote =
    R"({"host":"web1","pid":4121,"user":"job","command":"backup","label":"nightly run","since":"2026-11-20T08:30:00Z"})";

// Returns a contender of the session 0x10000cb9c1b0002, made in 2026 by the server's clock.
Participant holder(const std::string& data) {
  Participant holder{*recipe::parse_contender("x-1-0000000007"), "/l/x-1-0000000007", data, {}, true};
  holder.stat.created = 1;
  holder.stat.created_ms = 1'795'206'600'000;
  holder.stat.ephemeral_owner = 0x10000cb9c1b0002;
  return holder;
}

Survey held_by(const std::string& data) {
  return {"/l", PathUse::lock, {holder(data)}, 0};
}

json parsed(const Survey& survey) {
  const std::string line = json_of(survey);
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  return json::parse(line);
}

// Returns the cells of the last line.
std::vector<std::string> cells(const std::string& table, size_t columns) {
  std::string line = table.substr(table.rfind('\n', table.size() - 2) + 1);
  line.pop_back();
  std::vector<std::string> cells;
  while (cells.size() + 1 < columns) {
    const size_t end = line.find("  ");
    cells.push_back(line.substr(0, end));
    line.erase(0, line.find_first_not_of(' ', end));
  }
  cells.push_back(line);
  return cells;
}

using Cells = std::vector<std::string>;

TEST(Table, ColumnsAreAlignedByCharactersAndNoCellIsEmpty) {
  Table table({"A", "BB", "C"});
  table.add({"grün", "", "last"});
  table.add({"x", "long", ""});
  EXPECT_EQ(table.text(),
            "A     BB    C\n"
            "grün  -     last\n"
            "x     long  -\n");
}

TEST(Table, WhatWasReadCannotMakeALine) {
  Table table({"A", "B"});
  table.add({"a\nb", "\x1b[2J"});
  EXPECT_EQ(table.text(), "A       B\na\\x0ab  \\x1b[2J\n");
}

TEST(Report, TakesANoteOfZklockApart) {
  EXPECT_EQ(cells(table_of({held_by(kNote)}), 11),
            (Cells{"/l", "1", "holding", "exclusive", "2026-11-20T08:30:00Z", "web1", "4121", "job", "backup",
                   "0x10000cb9c1b0002", "nightly run"}));
  EXPECT_EQ(parsed(held_by(kNote)), json::parse(R"({"path":"/l","state":"held","contenders":[
      {"position":1,"state":"holding","kind":"exclusive","since":"2026-11-20T08:30:00Z","host":"web1","pid":4121,
       "user":"job","command":"backup","label":"nightly run","session":"0x10000cb9c1b0002",
       "node":"/l/x-1-0000000007"}]})"));
}

TEST(Report, ShowsTheTextOfOtherProgramsAndWhenTheirNodesWereMade) {
  EXPECT_EQ(cells(table_of({held_by("10.0.0.1")}), 11),
            (Cells{"/l", "1", "holding", "exclusive", "2026-11-20T20:30:00Z", "-", "-", "-", "-", "0x10000cb9c1b0002",
                   "10.0.0.1"}));
  const json contender = parsed(held_by("10.0.0.1"))["contenders"][0];
  EXPECT_EQ(contender["text"], "10.0.0.1");
  EXPECT_EQ(contender["since"], "2026-11-20T20:30:00Z");
  for (const char* unknown : {"host", "pid", "user", "command", "label"}) EXPECT_FALSE(contender.contains(unknown));
}

TEST(Report, SaysWhoWasAskedToLetGo) {
  EXPECT_EQ(cells(table_of({held_by("__REVOKE__")}), 11).back(), "asked to let go");
  EXPECT_EQ(parsed(held_by("__REVOKE__"))["contenders"][0]["text"], "__REVOKE__");
}

TEST(Table, APaintedColumnIsAsWideAsWithout) {
  Table table({"STATE", "B"});
  table.add({"holding", "x"});
  table.add({"free", "y"});
  table.paint("STATE",
              [](const std::string& cell) { return cell == "free" ? host::Colour::none : host::Colour::green; });
  EXPECT_EQ(table.text(),
            "STATE    B\n"
            "\033[1m\033[32mholding\033[0m  x\n"
            "free     y\n");
}

TEST(Table, WhereThereIsNoRoomColumnsAreLeftOutInTheirOrder) {
  const Table::Yielding yielding{{"D", "absent", "B"}, {}};
  const auto fitted = [&](size_t columns) {
    Table table({"A", "B", "C", "D"});
    table.add({"one", "two", "three", "four"});
    table.paint("C", [](const std::string&) { return host::Colour::none; });
    table.fit(columns, yielding);
    return table.text();
  };
  EXPECT_EQ(fitted(21), "A    B    C      D\none  two  three  four\n");
  EXPECT_EQ(fitted(20), "A    B    C\none  two  three\n");
  EXPECT_EQ(fitted(15), "A    B    C\none  two  three\n");
  EXPECT_EQ(fitted(14), "A    C\none  three\n");
  EXPECT_EQ(fitted(1), "A    C\none  three\n");
}

TEST(Table, WhereThereIsNoRoomTheLongestCellsAreCutBetweenCharacters) {
  Table table({"NAME", "KIND", "LABEL"});
  table.add({"/l", "exclusively", "grüne Äpfel für alle Leute"});
  table.add({"/m", "shared", "short"});
  table.fit(31, {{}, {"LABEL"}});
  EXPECT_EQ(table.text(),
            "NAME  KIND         LABEL\n"
            "/l    exclusively  grüne Äpfel…\n"
            "/m    shared       short\n");
  table.fit(20, {{}, {"LABEL"}});
  EXPECT_NE(table.text().find("exclusively  grüne Äpfel…"), std::string::npos) << "it says nothing when it is shorter";
}

TEST(Report, FitsATerminal) {
  constexpr const char* kLong =
      R"({"host":"a-host-with-a-long-name.example.org","pid":4194304,"user":"somebody","command":"a-long-program",
          "label":"a label that goes on and on and on and on","since":"2026-11-20T08:30:00Z"})";
  Survey survey = held_by(kLong);
  survey.path = "/production/locks/with/a/long/path/nightly";
  for (const size_t columns : {80u, 100u, 132u}) {
    const std::string table = table_of({survey, held_by(kNote)}, {.columns = columns});
    for (const auto line : split(table, '\n')) {
      const auto characters = decode_utf8(line);
      ASSERT_TRUE(characters) << line;
      EXPECT_LE(characters->size(), columns) << line;
    }
    for (const char* head : {"LOCK", "STATE", "SINCE", "HOST", "LABEL"}) {
      EXPECT_NE(table.find(head), std::string::npos) << table;
    }
  }
  EXPECT_EQ(table_of({survey}, {.columns = 1000}), table_of({survey}));
}

TEST(Report, AFreeLockIsOneLine) {
  EXPECT_EQ(table_of({{"/l", PathUse::lock, {}, 0}}),
            "LOCK  POS  STATE  KIND  SINCE  HOST  PID  USER  COMMAND  SESSION  LABEL\n"
            "/l    -    free   -     -      -     -    -     -        -        -\n");
  EXPECT_EQ(parsed({"/l", PathUse::lock, {}, 0}), json::parse(R"({"path":"/l","state":"free","contenders":[]})"));
}

TEST(Report, NoLockIsNothing) {
  EXPECT_EQ(table_of({}), "");
}

TEST(Report, LastSuccessHasAColumnWhereThereIsOne) {
  const Survey kept{"/k", PathUse::lock, {}, 1'795'206'600'000};
  const std::string table = table_of({kept, held_by("x")});
  EXPECT_NE(table.find("LAST-SUCCESS"), std::string::npos);
  EXPECT_NE(table.find("2026-11-20T20:30:00Z"), std::string::npos);
  const Cells last = cells(table, 12);
  EXPECT_EQ(last[10], "-");
  EXPECT_EQ(last[11], "x");
  EXPECT_EQ(parsed(kept)["last_success"], "2026-11-20T20:30:00Z");
}

TEST(Report, SlotsAreSaidAsFarAsTheyAreKnown) {
  const Survey ours{"/s", PathUse::slots, {holder(R"({"host":"a","slots":3})")}, 0};
  EXPECT_EQ(parsed(ours)["slots"], 3);
  EXPECT_EQ(parsed(ours)["contenders"][0]["kind"], "slot");
  EXPECT_FALSE(parsed({"/s", PathUse::slots, {holder("10.0.0.1")}, 0}).contains("slots"));
}

TEST(Report, ALockThatNobodyHoldsYetIsFree) {
  Survey survey = held_by("x");
  survey.participants[0].holding = false;
  EXPECT_EQ(parsed(survey)["state"], "free");
  EXPECT_EQ(parsed(survey)["contenders"][0]["state"], "waiting");
}

TEST(Report, NothingThatIsReadCanSteerATerminal) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  const std::string hostile[] = {all, R"({"host":"\u001b[2J","user":"\u009b","command":"\n","since":"\r\u0007"})",
                                 "\xc2\x9b[2J", std::string(1 << 20, '\x1b')};
  for (const std::string& data : hostile) {
    for (const std::string& text :
         {table_of({held_by(data)}), json_of(held_by(data)), table_of_holders({holder(data)})}) {
      const auto characters = decode_utf8(text);
      ASSERT_TRUE(characters);
      EXPECT_FALSE(
          std::any_of(characters->begin(), characters->end(), [](char32_t c) { return is_control(c) && c != '\n'; }));
    }
    const std::string table = table_of({held_by(data)});
    EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 2);
    EXPECT_LT(table.size(), 1000u);
  }
}

}  // namespace report_test
}  // namespace zklock::command
