// SPDX-License-Identifier: Apache-2.0
#include "recipe/lock/revocation.h"

#include "recipe/line.h"

#include <algorithm>

#include <fmt/format.h>

namespace zklock::recipe {

namespace {

using zk::Answer;
using zk::Code;

// A connection under a session that lives.
void be_ready(zk::Session& session, Deadline until) {
  session.ready(until);
  if (session.expired()) session.open(until);
}

enum class Fate { done, gone, unknown };

Fate fate_of(const Answer& answer, const std::string& tried) {
  switch (answer.code) {
    case Code::ok:
      return Fate::done;
    case Code::no_node:
      return Fate::gone;
    case Code::unknown:
    case Code::expired:
      return Fate::unknown;
    case Code::node_exists:
    case Code::not_empty:
    case Code::bad_version:
    case Code::childless:
    case Code::no_auth:
    case Code::unsupported:
    case Code::other:
      break;
  }
  throw zk::failure_of(tried, answer);
}

// The write's answer was lost. Without the barrier, a server that we have moved to may not know of it yet.
Fate look_for_request(zk::Session& session, const std::string& node, Deadline until) {
  be_ready(session, until);
  const zk::Call barrier = session.client().barrier();
  const zk::Call read = session.client().read(node);
  const Code passed = session.await(barrier, until).code;
  const Answer answer = session.await(read, until);
  if (answer.code == Code::no_node) return Fate::gone;
  if (passed == Code::unknown || passed == Code::expired || answer.code != Code::ok) return Fate::unknown;
  return answer.data == kRevoked ? Fate::done : Fate::unknown;
}

struct Watched {
  std::string node;
  zk::Watch watch;   // nothing: to be set
  zk::Call setting;  // under way
  bool gone = false;
};

void watch(zk::Session& session, Watched& watched) {
  if (!session.connected() || watched.setting || (watched.watch && !watched.watch->fired)) return;
  watched.watch = std::make_shared<zk::WatchState>();
  watched.setting = session.client().exists(watched.node, watched.watch);
}

void take_answer(Watched& watched) {
  if (!watched.setting || !watched.setting->done) return;
  const Code code = watched.setting->answer.code;
  watched.gone = code == Code::no_node;
  if (code != Code::ok) watched.watch.reset();
  watched.setting.reset();
}

}  // namespace

Nodes ask_to_let_go(zk::Session& session, const Nodes& nodes, Deadline until) {
  Nodes asked;
  for (Nodes open = nodes; !open.empty();) {
    be_ready(session, until);
    std::vector<zk::Call> writes;
    for (const std::string& node : open) writes.push_back(session.client().write(node, std::string(kRevoked)));
    Nodes again;
    for (size_t i = 0; i < open.size(); ++i) {
      Fate fate = fate_of(session.await(writes[i], until), fmt::format("cannot write {}", open[i]));
      if (fate == Fate::unknown) fate = look_for_request(session, open[i], until);
      if (fate == Fate::done) asked.push_back(open[i]);
      if (fate == Fate::unknown) again.push_back(open[i]);
    }
    open = std::move(again);
  }
  return asked;
}

Nodes wait_until_gone(zk::Session& session, const Nodes& nodes, Deadline until) {
  std::vector<Watched> left;
  for (const std::string& node : nodes) left.push_back({node, nullptr, nullptr, false});
  while (!left.empty() && left_until(until) > Duration::zero()) {
    if (session.expired()) {
      for (Watched& watched : left) watched = {watched.node, nullptr, nullptr, false};
      session.open(until);
    }
    for (Watched& watched : left) watch(session, watched);
    session.turn(until);
    for (Watched& watched : left) take_answer(watched);
    std::erase_if(left, [](const Watched& watched) { return watched.gone; });
  }
  Nodes names;
  for (const Watched& watched : left) names.push_back(watched.node);
  return names;
}

Nodes take_away(zk::Session& session, const Nodes& nodes, Deadline until) {
  Nodes taken;
  for (const std::string& node : nodes) {
    Fate fate = Fate::unknown;
    bool perhaps = false;  // an earlier try may have done it
    while (fate == Fate::unknown) {
      be_ready(session, until);
      const Answer answer = session.await(session.client().remove(node), until);
      fate = fate_of(answer, fmt::format("cannot delete {}", node));
      perhaps |= fate == Fate::unknown;
    }
    if (fate == Fate::done || perhaps) taken.push_back(node);
  }
  return taken;
}

}  // namespace zklock::recipe
