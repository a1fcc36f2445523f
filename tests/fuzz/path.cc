// SPDX-License-Identifier: Apache-2.0
// Reads paths, and text that is shown.
#include "zk/path.h"

#include "base/failure.h"
#include "fuzz/fuzz.h"

#include <nlohmann/json.hpp>

using namespace zklock;
using fuzz::check;

namespace {

// Checks by the decoder of the JSON library.
bool is_utf8_to_others(std::string_view text) {
  try {
    (void)nlohmann::json(std::string(text)).dump();
    return true;
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input = fuzz::text_of(data, size);
  if (zk::path_error(input)) {
    try {
      zk::check_path(input);
      check(false, "a bad path is thrown out", input);
    } catch (const Failure& failure) {
      check(fuzz::is_safe_line(failure.text()), "in a safe line", failure.text());
    }
  } else {
    check(fuzz::is_safe_line(input) && input.starts_with('/') && !input.ends_with('/'), "a good path is safe", input);
    const std::string parent = zk::parent_of(input);
    check(zk::child_of(parent.empty() ? "/" : parent, zk::name_of(input)) == input, "it is the sum of its parts",
          input);
    check(parent.empty() || parent == "/zookeeper" || !zk::path_error(parent), "what is above it is good too", input);
  }
  const std::string shown = printable(input);
  check(fuzz::is_safe_line(shown), "what is shown is safe", input);
  check(is_utf8(input) == is_utf8_to_others(input), "UTF-8 is what it is to others", input);
  for (const size_t most : {0u, 1u, 7u, 80u}) {
    check(fuzz::is_safe_line(shorten(shown, most)), "also when it is cut", input);
  }
  nearest(input.substr(0, 64), {"run", "show", "queue", "group", "health"});
  return 0;
}
