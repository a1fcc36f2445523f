// SPDX-License-Identifier: Apache-2.0
// Reads the names of a queue's nodes, a line each.
#include "fuzz/fuzz.h"
#include "recipe/queue/layout.h"
#include "zk/path.h"

using namespace zklock;
using fuzz::check;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<std::string> names = fuzz::pieces_of(fuzz::text_of(data, size), '\n');
  const recipe::QueueLayout layout{"/q"};
  for (const std::string& name : names) {
    const auto segment = recipe::parse_segment(name);
    if (segment) {
      check(segment->name() == name, "a segment is written as it was read", name);
      check(recipe::segment_of(recipe::segment_path(layout.items(), *segment) + "/i") == *segment, "and found again",
            name);
    }
    if (const auto item = recipe::parse_item(name)) {
      check(name.ends_with(fmt::format("{:010}", item->number)), "an item's number", name);
      const bool plain = item->push.empty() && name.find('/') == std::string::npos;
      check(!plain || recipe::id_of(name) == name, "only a tag makes its ID differ from its name", name);
      const std::string path = recipe::segment_path(layout.items(), segment.value_or(recipe::Segment())) + "/" + name;
      check(layout.dead_of(path).starts_with("/q/dead/"), "it has a place among the dead", path);
      check(name.find('/') != std::string::npos || zk::name_of(path) == name, "it keeps its name", path);
    }
  }
  const auto segments = recipe::segments_of(names);
  check(std::is_sorted(segments.begin(), segments.end()), "segments are in their order");
  const auto items = recipe::item_paths("", names);
  const auto number = [](const std::string& path) { return recipe::parse_item(path.substr(1))->number; };
  const auto later = [&](const auto& a, const auto& b) { return number(a) > number(b); };
  check(std::adjacent_find(items.begin(), items.end(), later) == items.end(), "items are in their order");
  return 0;
}
