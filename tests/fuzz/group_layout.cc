// SPDX-License-Identifier: Apache-2.0
// Reads a group's data on the first line, then the names of its members.
#include "fuzz/fuzz.h"
#include "recipe/group/group.h"
#include "recipe/use.h"
#include "zk/path.h"

using namespace zklock;
using fuzz::check;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<std::string> names = fuzz::pieces_of(fuzz::text_of(data, size), '\n');
  const std::string mark = names.front();
  names.erase(names.begin());
  zk::Stat stat;
  stat.data_length = static_cast<int32_t>(mark.size());
  const recipe::PathMark found = recipe::mark_of(mark);
  const bool known = found == recipe::PathMark::kept_group || found == recipe::PathMark::passing_group;
  check(!known || recipe::may_be_group(stat), "a mark's length is one that is looked for", mark);
  for (const std::string& name : names) {
    if (!recipe::member_name_error("/g", name)) {
      const std::string path = zk::child_of("/g", name);
      check(!zk::path_error(path) && fuzz::is_safe_line(name), "a good name makes a good path", name);
      check(zk::name_of(path) == name && zk::parent_of(path) == "/g", "and is found in it", name);
      check(!recipe::other_use({name}) || name == "leases", "and is no lock's", name);
    }
    check(recipe::is_numbered(mark + "0000000007", mark), "a name with a number is numbered", mark);
  }
  recipe::other_use(names);
  return 0;
}
