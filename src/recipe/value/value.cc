// SPDX-License-Identifier: Apache-2.0
#include "recipe/value/value.h"

#include "base/text.h"
#include "recipe/use.h"

#include <fmt/format.h>

namespace zklock::recipe {

using zk::Answer;
using zk::Code;

NodeValue read_value(zk::Session& session, const std::string& path, const std::string& tried) {
  const Answer answer = session.synced_read(path);
  if (answer.code == Code::no_node) return {};
  if (answer.code != Code::ok) throw zk::failure_of(tried, answer);
  return {true, answer.data, answer.stat};
}

void check_is_value(const std::string& path, const zk::Stat& stat, std::string_view data, const std::string& tried) {
  if (is_ephemeral(stat)) {
    throw Failure(ExitStatus::bad_data, fmt::format("{}: {} is ephemeral: it belongs to session {} and goes with it",
                                                    tried, printable(path), zk::session_name(stat.ephemeral_owner)));
  }
  const PathMark mark = mark_of(data);
  if (mark == PathMark::none) return;
  throw Failure(ExitStatus::bad_data,
                fmt::format("{}: {} is a {} (zklock {} delete removes it)", tried, printable(path),
                            is_queue(mark) ? "queue" : "group", is_queue(mark) ? "queue" : "group"));
}

}  // namespace zklock::recipe
