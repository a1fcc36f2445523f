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
  if (name.size() < kNumberDigits + 2 || name[name.size() - kNumberDigits - 1] != '-') return std::nullopt;
  const auto number = parse_number(name.substr(name.size() - kNumberDigits));
  if (!number) return std::nullopt;
  return ItemName{std::string(name), *number};
}

std::vector<ItemName> items_of(const std::vector<std::string>& names) {
  std::vector<ItemName> items;
  for (const std::string& name : names) {
    if (auto item = parse_item(name)) items.push_back(*std::move(item));
  }
  // The server gives each number in a segment only once, so only a node that is not zklock's can have the number of
  // another.
  std::ranges::sort(items, [](const ItemName& a, const ItemName& b) {
    return a.number != b.number ? a.number < b.number : a.name < b.name;
  });
  return items;
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

std::string item_path(const std::string& folder, const Segment& segment, const std::string& name) {
  return segment_path(folder, segment) + "/" + name;
}

std::string claim_of(const std::string& item_path) {
  return item_path + "/claim";
}

std::string why_of(const std::string& dead_path) {
  return dead_path + "/why";
}

Segment segment_of(const std::string& item_path) {
  return parse_segment(zk::name_of(zk::parent_of(item_path))).value_or(Segment());
}

std::vector<std::string> paths_of(const std::vector<Item>& items) {
  std::vector<std::string> paths;
  for (const Item& item : items) paths.push_back(item.path);
  return paths;
}

std::vector<Step> steps_to_make(const QueueLayout& layout) {
  std::vector<Step> steps = {{Step::Kind::create, layout.queue, std::string(kQueueFormat)}};
  for (const std::string& folder : {layout.items(), layout.dead(), layout.pushing(), layout.waiting()}) {
    steps.push_back({Step::Kind::create, folder});
  }
  return steps;
}

std::vector<Step> steps_to_seal(const std::string& folder, const Segment& segment) {
  return {{Step::Kind::write, segment_path(folder, segment), "", 0},
          {Step::Kind::create, segment_path(folder, segment.next())}};
}

}  // namespace zklock::recipe
