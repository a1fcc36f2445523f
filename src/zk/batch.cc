// SPDX-License-Identifier: Apache-2.0
#include "zk/batch.h"

#include <deque>

namespace zklock::zk {

namespace {

constexpr size_t kMostUnanswered = 100;

struct Question {
  size_t index;
  Call call;
};

template <typename Ask>
std::vector<Answer> ask_all(Session& session, const std::vector<std::string>& paths, Deadline until, Ask ask) {
  std::vector<Answer> answers(paths.size());
  std::deque<Question> asked;
  size_t next = 0;
  while (next < paths.size() || !asked.empty()) {
    session.ready(until);
    for (; next < paths.size() && asked.size() < kMostUnanswered; ++next) {
      asked.push_back({next, ask(session.client(), paths[next])});
    }
    const size_t index = asked.front().index;
    answers[index] = session.await(asked.front().call, until);
    asked.pop_front();
    if (answers[index].code != Code::unknown) continue;
    session.ready(until);
    asked.push_back({index, ask(session.client(), paths[index])});
  }
  return answers;
}

}  // namespace

std::vector<Answer> read_all(Session& session, const std::vector<std::string>& paths, Deadline until) {
  return ask_all(session, paths, until, [](Client& client, const std::string& path) { return client.read(path); });
}

std::vector<Answer> stat_all(Session& session, const std::vector<std::string>& paths, Deadline until) {
  return ask_all(session, paths, until, [](Client& client, const std::string& path) { return client.exists(path); });
}

std::vector<Answer> synced_stat_all(Session& session, const std::vector<std::string>& paths, Deadline until) {
  if (paths.empty()) return {};
  for (;;) {
    session.ready(until);
    const uint64_t connections = session.client().connections();
    const Call barrier = session.client().barrier();
    std::vector<Answer> answers = stat_all(session, paths, until);
    const Code passed = session.await(barrier, until).code;
    // Some may have been answered by another server.
    if (session.expired() || (passed != Code::unknown && connections == session.client().connections())) return answers;
  }
}

std::vector<Answer> children_all(Session& session, const std::vector<std::string>& paths, Deadline until) {
  return ask_all(session, paths, until, [](Client& client, const std::string& path) { return client.children(path); });
}

std::vector<Answer> watch_children_all(Session& session, const std::map<std::string, Watch>& watches, Deadline until) {
  std::vector<std::string> paths;
  for (const auto& [path, watch] : watches) paths.push_back(path);
  const auto ask = [&](Client& client, const std::string& path) { return client.children(path, watches.at(path)); };
  return ask_all(session, paths, until, ask);
}

std::vector<Answer> remove_all(Session& session, const std::vector<std::string>& paths, Deadline until) {
  return ask_all(session, paths, until, [](Client& client, const std::string& path) { return client.remove(path); });
}

}  // namespace zklock::zk
