// SPDX-License-Identifier: Apache-2.0
#include "recipe/line.h"

#include "base/text.h"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

namespace zklock::recipe {

namespace {

constexpr size_t kSequenceDigits = 10;  // the server's "%010d"

struct NameForm {
  std::string_view ending;  // of the name before its number
  Family family;
  LockMode mode;
};

// The first that fits. "__" and "-" alone are anybody's.
constexpr std::array<NameForm, 7> kForms{{{"-shared-lock-", Family::standard, LockMode::shared},
                                          {"__WRIT__", Family::curator_rw, LockMode::exclusive},
                                          {"__READ__", Family::curator_rw, LockMode::shared},
                                          {"__lock__", Family::kazoo, LockMode::exclusive},
                                          {"__rlock__", Family::kazoo, LockMode::shared},
                                          {"-", Family::standard, LockMode::exclusive},
                                          {"__", Family::standard, LockMode::exclusive}}};

struct Peer {
  std::string_view name;
  std::string_view to_use;
};

// By the family. From its names alone, a Kazoo that was given the patterns cannot be told from one that was not.
constexpr std::array<Peer, 3> kPeers{
    {{"standard", "leave out --peer"},
     {"curator-rw", "use --peer curator-rw"},
     {"kazoo", "use --peer kazoo, or --peer kazoo-extra if it has extra_lock_patterns=[\"-lock-\"]"}}};

// "%010d" of a negative number is a minus sign and at least nine digits, ten of them from -1000000000 on.
bool is_negative(std::string_view stem, size_t digits, int64_t number) {
  const bool sign = stem.ends_with("--") || stem.ends_with("__-");
  return sign && number > 0 && (digits == kSequenceDigits - 1 || number >= 1'000'000'000);
}

// Cuts the sequence number off `name`.
std::optional<int64_t> take_number(std::string_view& name) {
  const size_t digits = name.size() - (name.find_last_not_of("0123456789") + 1);
  const std::string_view stem = name.substr(0, name.size() - digits);
  const auto number = parse_number(name.substr(stem.size()));
  if (!number || digits > kSequenceDigits) return std::nullopt;
  if (is_negative(stem, digits, *number)) {
    name = stem.substr(0, stem.size() - 1);
    return -*number;
  }
  if (digits != kSequenceDigits) return std::nullopt;
  name = stem;
  return number;
}

}  // namespace

std::string name_of_contender(Family family, LockMode mode, const std::string& uuid) {
  const bool exclusive = mode == LockMode::exclusive;
  switch (family) {
    case Family::standard: return "_c_" + uuid + (exclusive ? "-lock-" : "-shared-lock-");
    case Family::curator_rw: return "_c_" + uuid + (exclusive ? "-__WRIT__" : "-__READ__");
    case Family::kazoo: {
      std::string hex = uuid;
      std::erase(hex, '-');
      return hex + (exclusive ? "__lock__" : "__rlock__");
    }
  }
  return uuid;
}

std::string_view peer_name(Family family) {
  return kPeers[static_cast<size_t>(family)].name;
}

std::string peer_to_use(Family family) {
  return std::string(kPeers[static_cast<size_t>(family)].to_use);
}

std::optional<Contender> parse_contender(std::string_view name) {
  std::string_view stem = name;
  const auto number = take_number(stem);
  if (!number) return std::nullopt;
  for (const NameForm& form : kForms) {
    if (stem.ends_with(form.ending)) return Contender{std::string(name), form.family, form.mode, *number};
  }
  return std::nullopt;
}

bool is_lock_name(std::string_view name) {
  const auto contender = parse_contender(name);
  if (!contender || contender->number < 0) return false;
  const std::string_view stem = name.substr(0, name.size() - kSequenceDigits);
  // A member may be called "my-lock"; Curator's names, and ours, begin like this.
  const bool protected_name = stem.starts_with("_c_") && (stem.ends_with("-lock-") || stem.ends_with("-lease-"));
  return protected_name || contender->family != Family::standard;
}

std::vector<Contender> line_of(const std::vector<std::string>& names) {
  std::vector<Contender> line;
  for (const std::string& name : names) {
    if (auto contender = parse_contender(name)) line.push_back(std::move(*contender));
  }
  // Nodes made by hand may have the same number: everybody must see the same order.
  std::sort(line.begin(), line.end(), [](const Contender& a, const Contender& b) {
    return std::tie(a.number, a.name) < std::tie(b.number, b.name);
  });
  return line;
}

size_t count_holders(const std::vector<Contender>& line) {
  const auto exclusive =
      std::find_if(line.begin(), line.end(), [](const Contender& c) { return c.mode == LockMode::exclusive; });
  const auto shared = static_cast<size_t>(exclusive - line.begin());
  return shared == 0 && !line.empty() ? 1 : shared;
}

bool is_used_up(const Contender& contender) {
  return contender.number < 0 || contender.number >= std::numeric_limits<int32_t>::max();
}

Place find_place(const std::vector<Contender>& line, std::string_view mine, bool with_kazoo) {
  const auto me = std::find_if(line.begin(), line.end(), [&](const Contender& c) { return c.name == mine; });
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
