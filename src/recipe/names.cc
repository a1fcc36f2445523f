// SPDX-License-Identifier: Apache-2.0
#include "recipe/names.h"

#include "base/text.h"

#include <algorithm>
#include <array>
#include <span>

namespace zklock::recipe {

namespace {

constexpr size_t kSequenceDigits = 10;  // the server's "%010d"
constexpr size_t kHexId = 32;           // 16 bytes

bool is_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

bool is_hex_id(std::string_view text) {
  return text.size() == kHexId && is_hex(text);
}

// Curator and zklock write hyphens into the id, go-zookeeper does not.
bool is_protection(std::string_view id) {
  std::string hex(id);
  if (std::erase(hex, '-') > 0 && id.size() != kHexId + 4) return false;
  return is_hex_id(hex);
}

// The Java recipe writes the session id in decimal, and it may be negative. The C recipe writes 16 hexadecimal digits.
bool is_session(std::string_view id) {
  if (id.size() == 16 && is_hex(id)) return true;
  if (id.starts_with('-')) id.remove_prefix(1);
  return !id.empty() && id.size() <= 19 && id.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_anything(std::string_view id) {
  return !id.empty();
}

bool is_nothing(std::string_view id) {
  return id.empty();
}

// The form of a name, up to its number.
struct Form {
  std::string_view beginning;
  bool (*is_id)(std::string_view);  // for what is between the two
  std::string_view ending;
};

bool fits(std::string_view stem, const Form& form) {
  if (stem.size() < form.beginning.size() + form.ending.size()) return false;
  if (!stem.starts_with(form.beginning) || !stem.ends_with(form.ending)) return false;
  stem.remove_prefix(form.beginning.size());
  stem.remove_suffix(form.ending.size());
  return form.is_id(stem);
}

struct ContenderForm {
  Form form;
  Family family;
  LockMode mode;
};

// Curator reads only what follows the last "lock-", "__WRIT__" or "__READ__", and Kazoo only what is before the number.
// WriteLock and the C recipe read the number after the last "-". go-zookeeper reads that after "lock-" or "__". The
// exclusive locker of zk-ruby waits for every child with a lower number.
constexpr std::array<ContenderForm, 8> kContenders{{
    {{"_c_", is_protection, "-lock-"}, Family::standard, LockMode::exclusive},
    {{"_c_", is_protection, "-shared-lock-"}, Family::standard, LockMode::shared},
    {{"x-", is_session, "-"}, Family::standard, LockMode::exclusive},
    {{"ex", is_nothing, ""}, Family::standard, LockMode::exclusive},
    {{"_c_", is_protection, "-__WRIT__"}, Family::curator_rw, LockMode::exclusive},
    {{"_c_", is_protection, "-__READ__"}, Family::curator_rw, LockMode::shared},
    {{"", is_hex_id, "__lock__"}, Family::kazoo, LockMode::exclusive},
    {{"", is_hex_id, "__rlock__"}, Family::kazoo, LockMode::shared},
}};

constexpr Form kSlot{"_c_", is_protection, "-lease-"};

struct Maker {
  Form form;
  std::string_view name;
};

constexpr std::array<Maker, 7> kMakers{{
    {{"_c_", is_protection, "-latch-"}, "Curator's LeaderLatch"},
    {kSlot, "Curator's InterProcessSemaphoreV2"},
    {{"latch-", is_anything, "-"}, "the LeaderLatch of Rust's zookeeper crate"},
    {{"n_", is_nothing, ""}, "ZooKeeper's LeaderElectionSupport"},
    {{"sh", is_nothing, ""}, "zk-ruby's SharedLocker"},
    {{"sem", is_nothing, ""}, "zk-ruby's Semaphore"},
    {{"ballot", is_nothing, ""}, "zk-ruby's Election"},
}};

// The names of these nodes have no number.
constexpr std::array<Maker, 2> kMakersWithoutNumber{{
    {{"", is_hex_id, ""}, "Kazoo's Semaphore"},
    {{"", is_hex_id, "__party__"}, "Kazoo's Party"},
}};

// The index is the family. The names do not show whether Kazoo was given the extra patterns.
constexpr std::array<std::string_view, 3> kPeersToUse{
    "leave out --peer", "use --peer curator-rw",
    "use --peer kazoo, or --peer kazoo-extra if it has extra_lock_patterns=[\"-lock-\"]"};

size_t digits_of(std::string_view name) {
  return name.size() - (name.find_last_not_of("0123456789") + 1);
}

// For a negative number, "%010d" gives a minus sign and at least nine digits, and ten digits from -1000000000 on.
bool is_negative(std::string_view stem, size_t digits, int64_t number) {
  const bool sign = stem.ends_with("--") || stem.ends_with("__-");
  return sign && number > 0 && (digits == kSequenceDigits - 1 || number >= 1'000'000'000);
}

// Cuts the sequence number off `name` and returns it.
std::optional<int64_t> take_number(std::string_view& name) {
  const size_t digits = digits_of(name);
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

// True if the name may end in a number that the server gave, whatever stands before it.
bool may_have_number(std::string_view name) {
  const size_t digits = digits_of(name);
  const bool sign = digits < name.size() && name[name.size() - digits - 1] == '-';
  return digits >= kSequenceDigits || (digits == kSequenceDigits - 1 && sign);
}

std::string_view find_maker(std::span<const Maker> makers, std::string_view stem) {
  const auto known = std::ranges::find_if(makers, [&](const Maker& maker) { return fits(stem, maker.form); });
  return known == makers.end() ? std::string_view() : known->name;
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

std::string peer_to_use(Family family) {
  return std::string(kPeersToUse[static_cast<size_t>(family)]);
}

std::optional<Contender> parse_contender(std::string_view name) {
  std::string_view stem = name;
  const auto number = take_number(stem);
  if (!number) return std::nullopt;
  for (const ContenderForm& known : kContenders) {
    if (fits(stem, known.form)) return Contender{std::string(name), known.family, known.mode, *number};
  }
  return std::nullopt;
}

std::optional<Contender> parse_slot(std::string_view name) {
  const auto number = number_in(name);
  if (!number) return std::nullopt;
  return Contender{std::string(name), Family::standard, LockMode::exclusive, *number};
}

std::optional<int64_t> number_in(std::string_view name) {
  std::string_view stem = name;
  const auto number = take_number(stem);
  return number && (stem.ends_with('-') || stem.ends_with("__")) ? number : std::nullopt;
}

bool may_be_foreign(std::string_view name) {
  return !parse_contender(name) && (may_have_number(name) || !maker_of(name).empty());
}

std::string_view maker_of(std::string_view name) {
  const std::string_view maker = find_maker(kMakersWithoutNumber, name);
  if (!maker.empty() || !may_have_number(name)) return maker;
  return find_maker(kMakers, name.substr(0, name.size() - std::min(digits_of(name), kSequenceDigits)));
}

bool is_lock_name(std::string_view name) {
  std::string_view stem = name;
  const auto number = take_number(stem);
  if (!number || *number < 0) return false;
  const auto contender = parse_contender(name);
  return fits(stem, kSlot) || (contender && (contender->family != Family::standard || stem.starts_with("_c_")));
}

}  // namespace zklock::recipe
