// SPDX-License-Identifier: Apache-2.0
#include "recipe/queue/layout.h"

#include "base/text.h"
#include "recipe/lock/protected_node.h"
#include "zk/path.h"

#include <algorithm>

#include <fmt/format.h>

namespace zklock::recipe {

using zk::Step;

namespace {

constexpr size_t kPriorityDigits = 3;
constexpr size_t kNumberDigits = 10;
constexpr size_t kTokenLetters = 12;
constexpr std::string_view kPushTag = ".p";

}  // namespace

std::string Segment::name() const {
  return fmt::format("{:03}-{:010}", priority, number);
}

std::optional<Segment> parse_segment(std::string_view name) {
  if (name.size() != kPriorityDigits + 1 + kNumberDigits || name[kPriorityDigits] != '-') return std::nullopt;
  const auto priority = parse_number(name.substr(0, kPriorityDigits));
  const auto number = parse_number(name.substr(kPriorityDigits + 1));
  if (!priority || !number) return std::nullopt;
  return Segment{static_cast<int>(*priority), *number};
}

std::vector<Segment> segments_of(const std::vector<std::string>& names) {
  std::vector<Segment> segments;
  for (const std::string& name : names) {
    if (const auto segment = parse_segment(name)) segments.push_back(*segment);
  }
  std::ranges::sort(segments);
  return segments;
}

std::optional<ItemName> parse_item(std::string_view name) {
  if (name.size() < kNumberDigits + 2) return std::nullopt;
  const size_t end = name.size() - kNumberDigits - 1;
  const auto number = parse_number(name.substr(end + 1));
  if (!number) return std::nullopt;
  if (name[end] == '-') return ItemName{name.substr(0, end), {}, *number};
  if (name[end] != '.' || end != 2 * kTokenLetters + 2) return std::nullopt;
  const std::string_view token = name.substr(0, kTokenLetters);
  const std::string_view push = name.substr(kTokenLetters + 2, kTokenLetters);
  if (!is_token(token) || !is_token(push) || name.substr(kTokenLetters, 2) != kPushTag) return std::nullopt;
  return ItemName{token, push, *number};
}

std::string id_of(const std::string& item_path) {
  const std::string name = zk::name_of(item_path);
  const auto item = parse_item(name);
  return item ? fmt::format("{}-{}", item->token, name.substr(name.size() - kNumberDigits)) : name;
}

std::string push_of(const std::string& item_path) {
  const std::string name = zk::name_of(item_path);
  const auto item = parse_item(name);
  return item ? std::string(item->push) : "";
}

std::string tags_for(const std::string& push) {
  return push.empty() ? "" : fmt::format("{}{}", kPushTag, push);
}

// The server gives each number in a segment only once, so only a node that is not zklock's can have the number of
// another.
std::vector<std::string> item_paths(const std::string& segment, const std::vector<std::string>& names) {
  std::vector<std::pair<int64_t, std::string>> items;
  for (const std::string& name : names) {
    if (const auto item = parse_item(name)) items.emplace_back(item->number, segment + "/" + name);
  }
  std::ranges::sort(items);
  std::vector<std::string> paths;
  for (auto& [number, path] : items) paths.push_back(std::move(path));
  return paths;
}

std::string make_token() {
  std::string token = make_uuid();
  std::erase(token, '-');
  // The last 12 digits of a UUID are random.
  return token.substr(token.size() - kTokenLetters);
}

bool is_token(std::string_view name) {
  return name.size() == kTokenLetters && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string segment_path(const std::string& folder, const Segment& segment) {
  return folder + "/" + segment.name();
}

std::string claim_of(const std::string& item_path) {
  return item_path + "/claim";
}

std::vector<std::string> claims_of(const std::vector<std::string>& item_paths) {
  std::vector<std::string> claims;
  for (const std::string& path : item_paths) claims.push_back(claim_of(path));
  return claims;
}

std::string why_of(const std::string& dead_path) {
  return dead_path + "/why";
}

Segment segment_of(const std::string& item_path) {
  return parse_segment(zk::name_of(zk::parent_of(item_path))).value_or(Segment());
}

std::vector<Step> steps_to_make(const QueueLayout& layout) {
  std::vector<Step> steps = {{Step::Kind::create, layout.queue, std::string(kQueueFormat)}};
  for (const std::string& folder : layout.folders()) steps.push_back({Step::Kind::create, folder});
  return steps;
}

std::vector<Step> steps_to_open(const std::string& folder, int folder_version, const Segment& segment) {
  return {{Step::Kind::write, folder, "", folder_version}, {Step::Kind::create, segment_path(folder, segment)}};
}

std::vector<Step> steps_to_seal(const std::string& folder, const Segment& segment) {
  return {{Step::Kind::write, segment_path(folder, segment), "", 0},
          {Step::Kind::create, segment_path(folder, segment.next())}};
}

}  // namespace zklock::recipe
