// SPDX-License-Identifier: Apache-2.0
#include "recipe/lock/revocation.h"

#include "recipe/line.h"

#include <algorithm>

#include <fmt/format.h>

namespace zklock::recipe {

namespace {

using zk::Answer;
using zk::Code;

// Returns once there is a connection; opens a new session if the old one has expired.
void be_ready(zk::Session& session) {
  for (;;) {
    try {
      if (session.expired()) session.open();
      return session.ready();
    } catch (const zk::SessionOver&) {
    }
  }
}

// Returns the answer, or Code::unknown if the session has expired: what it was about goes on in another session.
Answer answer_to(zk::Session& session, const zk::Call& call) {
  try {
    return session.await(call);
  } catch (const zk::SessionOver&) {
    Answer unknown;
    unknown.code = Code::unknown;
    return unknown;
  }
}

// Returns what became of a request about a node: it was done, there is no node, or it is unknown.
Code effect_of(const Answer& answer, const std::string& tried) {
  if (answer.code == Code::ok || answer.code == Code::no_node || answer.code == Code::unknown) return answer.code;
  if (answer.code == Code::not_empty) {
    throw Failure(ExitStatus::bad_data, fmt::format("{}: there are nodes below it; delete them first", tried));
  }
  throw zk::failure_of(tried, answer);
}

// The answer to the write was lost. Without the barrier, a server that we have moved to may not know of the write yet.
Code look_for_request(zk::Session& session, const std::string& node) {
  be_ready(session);
  const zk::Call barrier = session.client().barrier();
  const zk::Call read = session.client().read(node);
  const Code passed = answer_to(session, barrier).code;
  const Answer answer = answer_to(session, read);
  if (answer.code == Code::no_node) return Code::no_node;
  if (passed == Code::unknown || answer.code != Code::ok) return Code::unknown;
  return answer.data == kRevoked ? Code::ok : Code::unknown;
}

struct WatchedHolder {
  std::string node;
  zk::Watch watch;   // nullptr: to be set
  zk::Call setting;  // the request that sets it, if under way
  bool gone = false;
};

void watch(zk::Session& session, WatchedHolder& holder) {
  if (!session.connected() || BootClock::now() < session.client().again_at()) return;
  if (holder.setting || (holder.watch && !holder.watch->fired)) return;
  holder.watch = std::make_shared<zk::WatchState>();
  holder.setting = session.client().exists(holder.node, holder.watch);
}

void take_answer(WatchedHolder& holder) {
  if (!holder.setting || !holder.setting->done) return;
  const Code code = holder.setting->answer.code;
  holder.gone = code == Code::no_node;
  if (code != Code::ok) holder.watch.reset();
  holder.setting.reset();
}

}  // namespace

Nodes ask_to_let_go(zk::Session& session, const Nodes& nodes) {
  Nodes asked;
  for (Nodes open = nodes; !open.empty();) {
    be_ready(session);
    std::vector<zk::Call> writes;
    for (const std::string& node : open) writes.push_back(session.client().write(node, std::string(kRevoked)));
    std::vector<Answer> answers;  // all of this session, before another one is opened
    for (const zk::Call& write : writes) answers.push_back(answer_to(session, write));
    Nodes again;
    for (size_t i = 0; i < open.size(); ++i) {
      Code effect = effect_of(answers[i], fmt::format("cannot write {}", open[i]));
      if (effect == Code::unknown) effect = look_for_request(session, open[i]);
      if (effect == Code::ok) asked.push_back(open[i]);
      if (effect == Code::unknown) again.push_back(open[i]);
    }
    open = std::move(again);
  }
  return asked;
}

Nodes wait_until_gone(zk::Session& session, const Nodes& nodes, Deadline until) {
  const zk::Within within(session, until);
  std::vector<WatchedHolder> left;
  for (const std::string& node : nodes) left.push_back({node, nullptr, nullptr, false});
  while (!left.empty() && left_until(until) > Duration::zero()) {
    if (session.expired()) {
      for (WatchedHolder& holder : left) holder = {holder.node, nullptr, nullptr, false};
      session.open();
    }
    for (WatchedHolder& holder : left) watch(session, holder);
    session.turn(until);
    for (WatchedHolder& holder : left) take_answer(holder);
    std::erase_if(left, [](const WatchedHolder& holder) { return holder.gone; });
  }
  Nodes names;
  for (const WatchedHolder& holder : left) names.push_back(holder.node);
  return names;
}

Nodes take_away(zk::Session& session, const Nodes& nodes) {
  Nodes taken;
  for (const std::string& node : nodes) {
    Code effect = Code::unknown;
    bool perhaps = false;  // an earlier attempt may have deleted it
    while (effect == Code::unknown) {
      be_ready(session);
      const Answer answer = answer_to(session, session.client().remove(node));
      effect = effect_of(answer, fmt::format("cannot delete {}", node));
      perhaps |= effect == Code::unknown;
    }
    if (effect == Code::ok || perhaps) taken.push_back(node);
  }
  return taken;
}

}  // namespace zklock::recipe
