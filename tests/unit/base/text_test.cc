// SPDX-License-Identifier: Apache-2.0
// base/text: UTF-8, safe display, numbers, the nearest word.
#include "base/text.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace zklock {
namespace text_test {

using namespace std::string_literals;

TEST(Text, AcceptsEveryShortestFormOfUtf8) {
  const std::string good[] = {"",
                              "plain",
                              "\0"s,
                              "\x7f",
                              "\xc2\x80",
                              "\xdf\xbf",
                              "\xe0\xa0\x80",
                              "\xed\x9f\xbf",
                              "\xee\x80\x80",
                              "\xef\xbf\xbf",
                              "grün",
                              "日本",
                              "😀",
                              "\xf0\x90\x80\x80",
                              "\xf4\x8f\xbf\xbf"};
  for (const std::string& text : good) EXPECT_TRUE(is_utf8(text)) << printable(text);
}

TEST(Text, RefusesWhatIsNotUtf8) {
  const std::string bad[] = {
      "\x80",  // a continuation byte alone
      "\xbf",
      "\xc0\x80",  // overlong
      "\xc1\xbf",
      "\xe0\x80\x80",
      "\xe0\x9f\xbf",
      "\xf0\x80\x80\x80",
      "\xf0\x8f\xbf\xbf",
      "\xed\xa0\x80",  // surrogates
      "\xed\xbf\xbf",
      "\xf4\x90\x80\x80",  // above U+10FFFF
      "\xf5\x80\x80\x80",
      "\xf8\x88\x80\x80\x80",
      "\xfe",
      "\xff",
      "\xc3",  // cut short
      "\xe2\x82",
      "\xf0\x9f\x98",
      "a\xc3",
      "\xc3(",  // no continuation
      "\xe2\x28\xa1",
      "\xf0\x9f\x98z",
      "good\xff",
  };
  for (const std::string& text : bad) EXPECT_FALSE(is_utf8(text)) << printable(text);
}

TEST(Text, DecodesCharactersOfEveryLength) {
  EXPECT_EQ(decode_utf8("aß€😀"), U"a\u00df\u20ac\U0001f600");
  EXPECT_EQ(decode_utf8("a\0b"s), std::u32string(U"a\0b", 3));
  EXPECT_EQ(decode_utf8(""), U"");
  EXPECT_EQ(decode_utf8("a\xff"), std::nullopt);
}

TEST(Text, KnowsControlCharactersFromOthers) {
  for (const char32_t c : {U'\0', U'\t', U'\n', U'\x1b', U'\x1f', U'\x7f', U'\x80', U'\x9f'}) {
    EXPECT_TRUE(is_control(c)) << static_cast<uint32_t>(c);
  }
  for (const char32_t c : {U' ', U'a', U'~', U'\xa0', U'\u20ac', U'\U0001f600'}) {
    EXPECT_FALSE(is_control(c)) << static_cast<uint32_t>(c);
  }
}

TEST(Text, PrintsOnlyWhatCannotSteerATerminal) {
  const std::pair<std::string, std::string> cases[] = {
      {"", ""},
      {"plain text", "plain text"},
      {"grün 😀", "grün 😀"},
      {"a\nb", "a\\x0ab"},
      {"\t\r\x1b[2J\x7f", "\\x09\\x0d\\x1b[2J\\x7f"},
      {"\0"s, "\\x00"},
      {"\xc2\x85", "\\xc2\\x85"},  // NEL, a C1 control
      {"\xc2\xa0", "\xc2\xa0"},    // a no-break space is no control character
      {"\xff\xfe", "\\xff\\xfe"},
      {"\xe2\x82", "\\xe2\\x82"},    // cut short
      {"\xe2\x82x", "\\xe2\\x82x"},  // goes on with the next good character
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
  };
  for (const auto& [text, shown] : cases) EXPECT_EQ(printable(text), shown);
}

// Such characters make a text look like another one.
TEST(Text, CharactersThatAreNotSeenAreEscaped) {
  EXPECT_EQ(printable("a\u202eb"), "a\\xe2\\x80\\xaeb");  // the rest is written from right to left
  EXPECT_EQ(printable("a\u200bb"), "a\\xe2\\x80\\x8bb");  // no width
  EXPECT_EQ(printable("\ufeffa"), "\\xef\\xbb\\xbfa");
  for (const char* text : {"\u00ad", "\u061c", "\u200f", "\u2028", "\u2066", "\u2060", "\U000e0041"}) {
    EXPECT_TRUE(printable(text).starts_with("\\x")) << printable(text);
  }
  EXPECT_EQ(printable("ünï\u00a0\u2010\u05d0\U0001f600"), "ünï\u00a0\u2010\u05d0\U0001f600");
}

TEST(Text, PrintableIsAlwaysUtf8WithoutControlCharacters) {
  std::string all;
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) all += {static_cast<char>(first), static_cast<char>(second)};
  }
  const auto characters = decode_utf8(printable(all));
  ASSERT_TRUE(characters);
  EXPECT_EQ(std::count_if(characters->begin(), characters->end(), is_control), 0);
}

TEST(Text, ShortensBetweenCharacters) {
  EXPECT_EQ(shorten("short", 5), "short");
  EXPECT_EQ(shorten("", 0), "");
  EXPECT_EQ(shorten("longer", 5), "longe…");
  EXPECT_EQ(shorten("héllo", 2), "h…");
  EXPECT_EQ(shorten("héllo", 3), "hé…");
  EXPECT_EQ(shorten("😀😀", 7), "😀…");
  EXPECT_EQ(shorten("😀", 3), "…");
  EXPECT_EQ(shorten("x", 0), "…");
}

TEST(Text, ShortenedUtf8IsUtf8WhereverItIsCut) {
  const std::string text = "aß€😀zß€😀";
  for (size_t most = 0; most <= text.size(); ++most) {
    const std::string cut = shorten(text, most);
    EXPECT_TRUE(is_utf8(cut)) << most;
    EXPECT_LE(cut.size(), most + std::string("…").size());
  }
}

TEST(Text, ParsesWholeNumbersThatFit) {
  EXPECT_EQ(parse_number("0"), 0);
  EXPECT_EQ(parse_number("007"), 7);
  EXPECT_EQ(parse_number("9223372036854775807"), INT64_MAX);
}

TEST(Text, RefusesWhatIsNoWholeNumber) {
  for (const char* text :
       {"", "-1", "+1", " 1", "1 ", "1.0", "0x10", "1e3", "ten", "9223372036854775808", "99999999999999999999999"}) {
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
  }
}

TEST(Text, ParsesDecimals) {
  const std::pair<const char*, double> cases[] = {{"5", 5}, {"0.5", 0.5}, {".5", 0.5}, {"5.", 5}, {"007.250", 7.25}};
  for (const auto& [text, number] : cases) EXPECT_EQ(parse_decimal(text), number) << text;
}

TEST(Text, RefusesWhatIsNoDecimal) {
  for (const char* text : {"", ".", "1..2", "1.2.3", "-1", "+1", "1e9", "inf", "nan", "0x1", "1,5", " 1", "1 "}) {
    EXPECT_EQ(parse_decimal(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_decimal(std::string(400, '9')), std::nullopt);
}

TEST(Text, SplitsAtEverySeparator) {
  using Parts = std::vector<std::string_view>;
  EXPECT_EQ(split("a,b", ','), (Parts{"a", "b"}));
  EXPECT_EQ(split("a", ','), Parts{"a"});
  EXPECT_EQ(split("", ','), Parts{""});
  EXPECT_EQ(split(",a,,b,", ','), (Parts{"", "a", "", "b", ""}));
}

TEST(Text, FindsTheWordThatWasMeant) {
  const std::vector<std::string> words = {"run", "show", "break", "queue", "--nonblock", "--timeout", "--label"};
  const std::pair<const char*, const char*> cases[] = {{"rnu", "run"},
                                                       {"run", "run"},
                                                       {"runn", "run"},
                                                       {"sohw", "show"},
                                                       {"queu", "queue"},
                                                       {"--nonblok", "--nonblock"},
                                                       {"--timout", "--timeout"},
                                                       {"--lable", "--label"}};
  for (const auto& [slip, word] : cases) EXPECT_EQ(nearest(slip, words), word) << slip;
}

TEST(Text, SuggestsNothingFarAway) {
  EXPECT_EQ(nearest("frobnicate", {"run", "show"}), "");
  EXPECT_EQ(nearest("--xyzzy", {"--nonblock", "--timeout"}), "");
  EXPECT_EQ(nearest("run", {}), "");
  const std::vector<std::string> words = {"run", "4lw", "queue", "stat", "--help", "--wait-all"};
  for (const char* word : {"", "ls", "ru", "/l", "/run", "-", "--", "-h", "--he", "4l", "\xff\xff\xff"}) {
    EXPECT_EQ(nearest(word, words), "") << word;
  }
  EXPECT_EQ(nearest("got", words), "");
  EXPECT_EQ(nearest(std::string(65, 'a'), {std::string(65, 'a')}), "");
}

TEST(Text, WhatIsCountedIsPluralUnlessItIsOne) {
  EXPECT_EQ(counted(0, "item"), "0 items");
  EXPECT_EQ(counted(1, "item"), "1 item");
  EXPECT_EQ(counted(2, "server"), "2 servers");
}

// RFC 4648, section 10.
TEST(Base64, HasThePublishedExamples) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64(std::string("\xff\xfe\0", 3)), "//4A");
}

}  // namespace text_test
}  // namespace zklock
