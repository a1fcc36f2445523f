// SPDX-License-Identifier: Apache-2.0
#include "recipe/lock/last_success.h"

#include "host/trace.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace zklock::recipe {

using zk::Answer;
using zk::Code;
using zk::Step;

namespace {

using namespace std::chrono_literals;

void trace_success(const char* event, const Held& held) {
  host::trace(event, {{"node", held.node}, {"lock", held.path}});
}

// We know the server's time only of the creation of our node; from there on our own clock counts. The creation lies
// between two moments of our clock, and the server counts whole milliseconds, so the age lies between two values. A
// success is in the future only if its greatest age is negative, and recent if its smallest age is. A success that was
// written after our node is younger than the node, whatever the servers' clocks say. When an outer zklock's node was
// made by our clock we do not know, so this host's time of day counts then, if it is later than that creation.
Duration age_of_success(const zk::Stat& last, const Held& held, bool ours) {
  const Duration age = span_between(last.modified_ms, held.created_ms);
  if (!ours) return std::max({age, span_between(last.modified_ms, now_ms()), Duration::zero()});
  const Deadline now = BootClock::now();
  const Duration least = age + (now - held.seen);
  if (last.modified > held.token) return std::clamp(least, Duration::zero(), now - held.asked);
  const Duration most = age + (now - held.asked) + 1ms;
  return most < Duration::zero() ? most : std::max(least, Duration::zero());
}

}  // namespace

zk::Session::Send read_of_success(const std::string& lock) {
  return [node = lock + std::string(kLastSuccess)](zk::Client& client) { return client.read(node); };
}

LastSuccess::LastSuccess(zk::Session& session, const std::vector<Held>& held, std::string data,
                         bool (*is_record)(const std::string& data))
    : session_(session), data_(std::move(data)), is_record_(is_record) {
  for (const Held& one : held) successes_.push_back({one, one.path + std::string(kLastSuccess)});
}

// A server's clock that was ahead may have been set right since, so a success in the future does not show when it was.
std::optional<Duration> LastSuccess::age() {
  std::optional<Duration> youngest;
  ahead_ = Duration::zero();
  for (Success& success : successes_) {
    const zk::Call early = std::exchange(success.held.beside, nullptr);
    const Answer last = answer_to(session_, early, read_of_success(success.held.path));
    success.exists = last.code == Code::ok;
    if (last.code == Code::no_node) continue;
    if (last.code != Code::ok) throw zk::failure_of(fmt::format("cannot read {}", success.node), last);
    if (!is_record_(last.data)) {
      throw Failure(ExitStatus::bad_data, fmt::format("cannot use --once-per with {}: {} is not zklock's record of a "
                                                      "success; choose another path",
                                                      success.held.path, success.node));
    }
    const Duration age = age_of_success(last.stat, success.held, success.held.owner == session_.id());
    ahead_ = std::max(ahead_, -age);
    host::trace("asked", {{"lock", success.held.path}, {"age", age.count()}});
    if (age >= Duration::zero()) youngest = std::min(youngest.value_or(age), age);
  }
  return youngest;
}

std::vector<Step> LastSuccess::steps() const {
  std::vector<Step> steps;
  for (const Success& success : successes_) {
    steps.push_back({success.exists ? Step::Kind::write : Step::Kind::create, success.node, data_});
    // The lock of an outer zklock is not ours to release.
    const bool ours = success.held.owner == session_.id();
    steps.push_back({ours ? Step::Kind::remove : Step::Kind::check, success.held.node, ""});
  }
  return steps;
}

bool LastSuccess::record(Duration budget) {
  const Deadline until = std::min(BootClock::now(), session_.unconnected_since()) + budget;
  while (!recorded_ && session_.settle_connection(until)) {
    for (const Success& success : successes_) trace_success("recording", success.held);
    const zk::Call recording = session_.client().transact(steps());
    if (!session_.settle(recording, until)) break;
    const Code code = recording->answer.code;
    recorded_ = code == Code::ok;
    for (const Success& success : successes_) trace_success(recorded_ ? "recorded" : "record unknown", success.held);
    if (recorded_ || code == Code::expired) break;
    if (code != Code::unknown && code != Code::no_node && code != Code::node_exists) {
      throw zk::failure_of("cannot record the success", recording->answer);
    }
    if (!look_again(until)) break;
  }
  return recorded_;
}

// Returns whether another try makes sense. The transaction was done whole or not at all, so one node shows what became
// of it. If that has our text, the transaction was done before its answer was lost.
bool LastSuccess::look_again(Deadline until) {
  for (Success& success : successes_) {
    if (!session_.settle_connection(until)) return false;
    const zk::Call barrier = session_.client().barrier();
    const zk::Call last = session_.client().read(success.node);
    const zk::Call own = session_.client().read(success.held.node);
    if (!session_.settle(own, until)) return false;
    if (session_.expired()) return false;
    if (barrier->answer.code == Code::unknown || own->answer.code == Code::unknown) return true;
    recorded_ = last->answer.code == Code::ok && last->answer.data == data_;
    trace_success(recorded_ ? "recorded" : "not recorded", success.held);
    if (recorded_ || own->answer.code == Code::no_node) return false;
    // Another program has made the node meanwhile.
    if (last->answer.code == Code::ok && !is_record_(last->answer.data)) return false;
    success.exists = last->answer.code == Code::ok;
  }
  return true;
}

}  // namespace zklock::recipe
