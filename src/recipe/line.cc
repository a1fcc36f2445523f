// SPDX-License-Identifier: Apache-2.0
#include "recipe/line.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace zklock::recipe {

namespace {

// Nodes made by hand may have the same number. Every contender must see the same order, so the name decides then.
std::vector<Contender> in_order(const std::vector<std::string>& names,
                                std::optional<Contender> (*parse)(std::string_view)) {
  std::vector<Contender> line;
  for (const std::string& name : names) {
    if (auto contender = parse(name)) line.push_back(std::move(*contender));
  }
  std::sort(line.begin(), line.end(), [](const Contender& a, const Contender& b) {
    return std::tie(a.number, a.name) < std::tie(b.number, b.name);
  });
  return line;
}

}  // namespace

std::vector<Contender> line_of(const std::vector<std::string>& names) {
  return in_order(names, parse_contender);
}

std::vector<Contender> slots_of(const std::vector<std::string>& names) {
  return in_order(names, parse_slot);
}

size_t count_holders(const std::vector<Contender>& line) {
  const auto exclusive = std::ranges::find(line, LockMode::exclusive, &Contender::mode);
  const auto shared = static_cast<size_t>(exclusive - line.begin());
  return shared == 0 && !line.empty() ? 1 : shared;
}

bool is_used_up(int64_t number) {
  return number < 0 || number >= std::numeric_limits<int32_t>::max();
}

Place find_place(const std::vector<Contender>& line, std::string_view mine, bool with_kazoo) {
  const auto me = std::ranges::find(line, mine, &Contender::name);
  if (me == line.end()) return {Turn::gone, {}, {}, 0};
  for (const Contender& other : line) {
    const bool welcome = other.family == me->family || (with_kazoo && other.family == Family::kazoo);
    if (!welcome) return {Turn::strangers, other.name, {}, 0};
  }
  const auto before = static_cast<size_t>(me - line.begin());
  for (auto other = me; other != line.begin();) {
    --other;
    const bool excludes = me->mode == LockMode::exclusive || other->mode == LockMode::exclusive;
    if (excludes) return {Turn::waiting, other->name, line.front().name, before};
  }
  return {Turn::mine, {}, {}, before};
}

}  // namespace zklock::recipe
