// SPDX-License-Identifier: Apache-2.0
// Reads items from standard input: a byte for the framing, and one for the size of the pieces in which they come.
#include "command/queue/item_reader.h"

#include "fuzz/fuzz.h"

using namespace zklock;
using command::ItemReader;
using fuzz::check;

namespace {

constexpr size_t kLargest = 32;

struct Result {
  std::vector<std::string> items;
  std::optional<std::pair<int64_t, size_t>> oversize;

  bool operator==(const Result&) const = default;
};

Result read(std::string_view input, std::optional<char> end, size_t piece) {
  ItemReader reader(end, kLargest);
  Result result;
  const auto take = [&] {
    while (const auto item = reader.next()) result.items.push_back(*item);
  };
  for (; !input.empty(); input.remove_prefix(std::min(piece, input.size()))) {
    reader.feed(std::string(input.substr(0, piece)));
    take();
  }
  reader.end();
  take();
  if (reader.oversize() > 0) result.oversize = {reader.count(), reader.oversize()};
  check(reader.is_empty() || reader.oversize() > 0, "all is taken");
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const std::string_view input = fuzz::text_of(data + 2, size - 2);
  const std::optional<char> ends[] = {'\n', '\0', std::nullopt};
  const std::optional<char> end = ends[data[0] % 3];
  const Result whole = read(input, end, std::max<size_t>(1, input.size()));
  check(whole == read(input, end, 1 + data[1] % 16), "items do not depend on how they come", input);
  for (const std::string& item : whole.items) check(item.size() <= kLargest, "none is too large", item);
  return 0;
}
