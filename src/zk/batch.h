// SPDX-License-Identifier: Apache-2.0
// The same question about many nodes: sent together, so that it costs no round trip each, but with a limited number
// unanswered, so that the answers do not pile up. Answers in the order of the paths. What is lost with the connection
// is sent again; an answer is never Code::unknown. Throws what the session throws.
#pragma once

#include "zk/session.h"

#include <map>
#include <string>
#include <vector>

namespace zklock::zk {

std::vector<Answer> read_all(Session& session, const std::vector<std::string>& paths, Deadline until);
std::vector<Answer> stat_all(Session& session, const std::vector<std::string>& paths, Deadline until);
// Behind a barrier (Client::barrier): nothing committed before is missing from the answers, whichever server we are on.
std::vector<Answer> synced_stat_all(Session& session, const std::vector<std::string>& paths, Deadline until);
std::vector<Answer> children_all(Session& session, const std::vector<std::string>& paths, Deadline until);
// With a watch on each; in the order of the map.
std::vector<Answer> watch_children_all(Session& session, const std::map<std::string, Watch>& watches, Deadline until);
// A delete that was done before its answer was lost shows as Code::no_node.
std::vector<Answer> remove_all(Session& session, const std::vector<std::string>& paths, Deadline until);

}  // namespace zklock::zk
