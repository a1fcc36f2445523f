// SPDX-License-Identifier: Apache-2.0
// Server lists.
#include "zk/server_list.h"

#include "base/failure.h"
#include "fuzz/fuzz.h"
#include "zk/path.h"

using namespace zklock;
using fuzz::check;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input = fuzz::text_of(data, size);
  try {
    const zk::ServerList list = zk::ServerList::parse(input, "a test");
    check(!list.servers.empty(), "there is a server", input);
    check(list.chroot.empty() || !zk::path_error(list.chroot), "the chroot is a path", list.chroot);
    check(zk::ServerList::parse(list.text(), "a test").text() == list.text(), "it is read again as it is written",
          input);
  } catch (const Failure& failure) {
    check(failure.status() == ExitStatus::usage, "what is wrong is usage", input);
    check(fuzz::is_safe_line(failure.text()), "and is said in a safe line", failure.text());
  }
  return 0;
}
