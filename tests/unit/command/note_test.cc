// SPDX-License-Identifier: Apache-2.0
// command/child/note: what zklock writes on its node, and how it reads anything found on another's.
#include "command/child/note.h"

#include "base/text.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace zklock::command {
namespace note_test {

using namespace std::chrono_literals;
using nlohmann::json;

int64_t ms_ago(std::chrono::milliseconds age) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now - age).count();
}

std::string held_by(const std::string& data) {
  return describe_holder({true, data, 0, 0});
}

TEST(Note, IsAJsonObjectThatSaysWhoAndSinceWhen) {
  const json note = json::parse(to_json(own_note("backup", "nightly")));
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  EXPECT_EQ(note["host"], host);
  EXPECT_EQ(note["pid"], getpid());
  EXPECT_NE(note["user"], "");
  EXPECT_EQ(note["command"], "backup");
  EXPECT_EQ(note["label"], "nightly");
  EXPECT_EQ(note.size(), 6u);
}

TEST(Note, SinceIsRfc3339InUtc) {
  const std::string since = json::parse(to_json(own_note("a", "")))["since"];
  tm parts{};
  const char* end = strptime(since.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  ASSERT_TRUE(end) << since;
  EXPECT_EQ(*end, '\0');
  EXPECT_EQ(since.size(), 20u);
  EXPECT_NEAR(static_cast<double>(timegm(&parts)), static_cast<double>(time(nullptr)), 5);
}

TEST(Note, WithoutALabelThereIsNoKeyForIt) {
  EXPECT_FALSE(json::parse(to_json(own_note("a", ""))).contains("label"));
}

TEST(Note, IsValidWhateverTheCommandIsCalled) {
  for (const char* name : {"", "a \"quoted\" \\ name", "line\nbreak", "\xff\xfe", "grün", "\x1b[2J"}) {
    const std::string note = to_json(own_note(name, name));
    EXPECT_TRUE(json::accept(note)) << note;
    EXPECT_EQ(note.find('\n'), std::string::npos);
  }
}

TEST(Note, DescribesAHolderThatIsZklock) {
  EXPECT_EQ(held_by(R"({"host":"web1","pid":4121})"), "held by web1 (pid 4121)");
  EXPECT_EQ(held_by(R"({"host":"web1","pid":4121,"label":"nightly"})"), "held by web1 (pid 4121, nightly)");
  EXPECT_EQ(
      held_by(to_json(own_note("a", ""))),
      fmt::format("held by {} (pid {})", json::parse(to_json(own_note("a", "")))["host"].get<std::string>(), getpid()));
}

TEST(Holder, WhoWasAskedToLetGoIsSaidInsteadOfTheAsking) {
  EXPECT_EQ(held_by("__REVOKE__"), "held by somebody who was asked to let go");
}

TEST(Note, SaysForHowLong) {
  EXPECT_EQ(describe_holder({true, R"({"host":"web1","pid":4121})", ms_ago(200s), 0}),
            "held by web1 (pid 4121) for 3m");
  EXPECT_EQ(describe_holder({true, "10.0.0.1", ms_ago(125min), 0}), "held by '10.0.0.1' for 2h 5m");
}

TEST(Note, ServersClockAheadOfOursIsNoTimeAtAll) {
  EXPECT_EQ(describe_holder({true, "x", ms_ago(-1h), 0}), "held by 'x' for 0ms");
}

TEST(Note, AMomentThatCannotBeCountedIsAsFarAwayAsCanBe) {
  EXPECT_EQ(describe_holder({true, "x", std::numeric_limits<int64_t>::max(), 0}), "held by 'x' for 0ms");
  EXPECT_EQ(describe_holder({true, "x", std::numeric_limits<int64_t>::min(), 0}), "held by 'x' for 106751d 23h");
}

TEST(Note, ShowsWhatOtherProgramsWrote) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "held by another program"},
      {"192.168.1.4", "held by '192.168.1.4'"},  // Curator
      {"some-identifier", "held by 'some-identifier'"},
      {"42", "held by '42'"},
      {"null", "held by 'null'"},
      {"[]", "held by '[]'"},
      {"{}", "held by '{}'"},
      {R"({"host":7})", R"(held by '{"host":7}')"},
      {R"({"host":"a","pid":"no number","label":[1]})", "held by a (pid 0)"},
      {R"({"host":"a","pid":99999999999999999999})", "held by a (pid 0)"},
      {R"({"host":"a"} trailing)", R"(held by '{"host":"a"} trailing')"},
      {"\xff\x01", "held by '\\xff\\x01'"},
  };
  for (const auto& [data, text] : cases) EXPECT_EQ(held_by(data), text);
}

TEST(Note, NothingThatIsReadCanSteerATerminal) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  const std::string hostile[] = {
      all,
      "two\nlines\rand\x1b[2J",
      "\xc2\x9b"
      "2J",
      R"({"host":"\u001b[2J\u0000\n\u009b","pid":1,"label":"\u0007\r\n\u0085"})",
      std::string("{\"host\":\"\x7f\xc2\x85\"}"),
  };
  for (const std::string& data : hostile) {
    const auto characters = decode_utf8(held_by(data));
    ASSERT_TRUE(characters) << data;
    EXPECT_TRUE(std::none_of(characters->begin(), characters->end(), is_control)) << held_by(data);
  }
}

TEST(Note, HugeOnesAreShortened) {
  const size_t most = 300;
  EXPECT_LT(held_by(std::string(1 << 20, 'x')).size(), most);
  EXPECT_LT(held_by(std::string(1 << 20, '\x01')).size(), most);
  EXPECT_LT(held_by(std::string(1 << 20, '[')).size(), most);
  EXPECT_LT(held_by(json{{"host", std::string(1 << 19, 'h')}, {"label", std::string(1 << 19, 'l')}}.dump()).size(),
            most);
}

TEST(Note, AHolderWhoCouldNotBeReadIsNotMadeUp) {
  EXPECT_EQ(describe_holder({}), "it is busy, and ZooKeeper does not say by whom");
}

}  // namespace note_test
}  // namespace zklock::command
