// SPDX-License-Identifier: Apache-2.0
#include "recipe/value/value.h"

namespace zklock::recipe {

NodeValue read_value(zk::Session& session, const std::string& path, const std::string& tried, Deadline until) {
  const zk::Answer answer = session.synced_read(path, until);
  if (answer.code == zk::Code::no_node) return {};
  if (answer.code == zk::Code::expired) throw zk::expired(tried);
  if (answer.code != zk::Code::ok) throw zk::failure_of(tried, answer);
  return {true, answer.data, answer.stat};
}

}  // namespace zklock::recipe
