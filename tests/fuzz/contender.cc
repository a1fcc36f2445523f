// SPDX-License-Identifier: Apache-2.0
// Reads the names of a lock's children, a line each.
#include "fuzz/fuzz.h"
#include "recipe/line.h"

using namespace zklock;
using fuzz::check;
using recipe::Place;
using recipe::Turn;

namespace {

bool is_in(const std::vector<recipe::Contender>& line, const std::string& name) {
  return std::any_of(line.begin(), line.end(), [&](const auto& contender) { return contender.name == name; });
}

void check_place(const std::vector<recipe::Contender>& line, const std::string& mine, bool with_kazoo) {
  const Place place = find_place(line, mine, with_kazoo);
  check((place.turn == Turn::gone) == !is_in(line, mine), "who stands there has a place", mine);
  const bool named = place.turn == Turn::waiting || place.turn == Turn::strangers;
  check(!named || is_in(line, place.predecessor), "who is waited for stands in line", place.predecessor);
  check(!named || place.predecessor != mine, "nobody waits for himself", mine);
  check(place.before <= line.size(), "no more stand before it than there are", mine);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<std::string> names = fuzz::pieces_of(fuzz::text_of(data, size), '\n');
  for (const std::string& name : names) {
    const auto contender = recipe::parse_contender(name);
    const bool known = contender || recipe::parse_slot(name);
    check(known || !recipe::is_lock_name(name), "what is a lock's is a contender's or a slot's", name);
    check(!contender || !recipe::may_be_foreign(name), "a contender is not foreign", name);
    check(recipe::maker_of(name).empty() || recipe::may_be_foreign(name), "what has a maker is foreign", name);
    if (!contender) continue;
    check(contender->name == name, "a contender keeps its name", name);
    check(name.ends_with(fmt::format("{:010}", contender->number)), "and has its number as the server writes it", name);
  }
  const std::vector<recipe::Contender> line = recipe::line_of(names);
  const auto later = [](const auto& a, const auto& b) { return a.number > b.number; };
  check(std::adjacent_find(line.begin(), line.end(), later) == line.end(), "first come first");
  check(recipe::count_holders(line) <= line.size() && (line.empty() || recipe::count_holders(line) > 0), "holders");
  for (const recipe::Contender& contender : line) {
    for (const bool with_kazoo : {false, true}) check_place(line, contender.name, with_kazoo);
  }
  check_place(line, names.front(), false);
  return 0;
}
