// SPDX-License-Identifier: Apache-2.0
#include "recipe/group/group.h"

#include "recipe/line.h"
#include "recipe/queue/layout.h"
#include "zk/path.h"

#include <algorithm>
#include <array>
#include <limits>

namespace zklock::recipe {

namespace {

constexpr std::string_view kAnyGroup = "zklock group ";
constexpr std::string_view kAnyQueue = "zklock queue ";
constexpr size_t kNumberDigits = 10;

// Before the number. Kazoo's Party, "__party__", has none.
constexpr std::array<std::string_view, 4> kLockEndings{"__WRIT__", "__READ__", "__lock__", "__rlock__"};

bool has_digits_alone(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

GroupMark group_mark_of(std::string_view data) {
  if (data == kKeptGroup) return GroupMark::kept;
  if (data == kPassingGroup) return GroupMark::passing;
  if (data.starts_with(kAnyGroup)) return GroupMark::newer;
  return data.starts_with(kAnyQueue) ? GroupMark::queue : GroupMark::none;
}

bool is_group(GroupMark mark) {
  switch (mark) {
    case GroupMark::kept:
    case GroupMark::passing:
    case GroupMark::newer:
      return true;
    case GroupMark::none:
    case GroupMark::queue:
      break;
  }
  return false;
}

bool may_be_group(const zk::Stat& stat) {
  const auto length = static_cast<size_t>(stat.data_length);
  return length == kKeptGroup.size() || length == kPassingGroup.size();
}

bool is_lock_name(std::string_view name) {
  if (!parse_contender(name)) return false;
  const std::string_view stem = name.substr(0, name.find_last_not_of("0123456789") + 1);
  // A member may be called "my-lock"; Curator's names, and ours, begin like this.
  if (stem.starts_with("_c_") && (stem.ends_with("-lock-") || stem.ends_with("-lease-"))) return true;
  return std::ranges::any_of(kLockEndings, [&](std::string_view ending) { return stem.ends_with(ending); });
}

std::optional<std::string> other_use(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (name == "leases") return "for slots (zklock run --slots)";
    if (is_lock_name(name)) return "as a lock (zklock run)";
  }
  return std::nullopt;
}

std::optional<std::string> member_name_error(std::string_view group, std::string_view name) {
  if (name.empty()) return "it is empty";
  if (name.find('/') != std::string_view::npos) return "it has a slash";
  if (is_lock_name(name)) return "locks use names of that form";
  return zk::path_error(zk::child_of(group, name));
}

bool is_numbered(std::string_view name, std::string_view stem) {
  if (!name.starts_with(stem)) return false;
  const std::string_view number = name.substr(stem.size());
  return number.size() == kNumberDigits && has_digits_alone(number);
}

// To some servers a container has an owner: this one.
bool is_ephemeral(const zk::Stat& stat) {
  return stat.ephemeral_owner != 0 && stat.ephemeral_owner != std::numeric_limits<int64_t>::min();
}

}  // namespace zklock::recipe
