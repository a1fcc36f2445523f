// SPDX-License-Identifier: Apache-2.0
// Reads server lists.
#include "base/failure.h"
#include "fuzz/fuzz.h"
#include "zk/ensemble.h"
#include "zk/path.h"

using namespace zklock;
using fuzz::check;

namespace {

std::optional<zk::ServerList> parse(std::string_view input) {
  try {
    return zk::ServerList::parse(input, "a test");
  } catch (const Failure& failure) {
    check(failure.status() == ExitStatus::usage, "what is wrong is usage", input);
    check(fuzz::is_safe_line(failure.text()), "and is said in a safe line", failure.text());
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input = fuzz::text_of(data, size);
  const auto list = parse(input);
  if (!list) return 0;
  check(!list->servers.empty(), "there is a server", input);
  check(list->chroot.empty() || !zk::path_error(list->chroot), "the chroot is a path", list->chroot);
  const auto again = parse(list->text());
  check(again && again->text() == list->text() && again->chroot == list->chroot, "it is read again as it is written",
        input);
  return 0;
}
