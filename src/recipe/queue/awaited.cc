// SPDX-License-Identifier: Apache-2.0
#include "recipe/queue/awaited.h"

#include "base/rounds.h"
#include "base/text.h"
#include "zk/path.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace zklock::recipe {

using zk::Answer;
using zk::Code;
using zk::Step;
using Paths = std::vector<std::string>;

namespace {

constexpr size_t kMostPushesSwept = 100;
// A pusher that has lost its session looks like a killed one until it has another.
constexpr int64_t kSweptAfterMs = int64_t{24} * 60 * 60 * 1000;

Paths counters_of(const std::string& push) {
  Paths counters;
  for (const Count count : kCounts) counters.push_back(counter_of(push, count));
  return counters;
}

Tally tally_of(int64_t items, std::span<const Answer> counters) {
  const auto count = [&](size_t i) { return int64_t{counters[i].stat.version}; };
  return {items, count(0), count(1) - count(3), count(2)};
}

std::vector<Step> steps_to_remove(const std::string& push, int version, int back_version) {
  std::vector<Step> steps;
  for (const Count count : kCounts) {
    steps.push_back({Step::Kind::remove, counter_of(push, count), "", count == Count::back ? back_version : -1});
  }
  steps.push_back({Step::Kind::remove, push, "", version});
  return steps;
}

}  // namespace

std::string counter_of(const std::string& push, Count count) {
  switch (count) {
    case Count::done: return push + "/done";
    case Count::dead: return push + "/dead";
    case Count::purged: return push + "/purged";
    case Count::back: return push + "/back";
  }
  return "";
}

void put_count(const QueueLayout& layout, const std::string& item_path, Count count, std::vector<Step>& steps) {
  const std::string push = push_of(item_path);
  if (!push.empty()) steps.push_back({Step::Kind::write, counter_of(layout.awaited_push(push), count)});
}

std::vector<bool> without_counter(zk::Session& session, const QueueLayout& layout, const Paths& item_paths,
                                  Count count) {
  std::vector<bool> gone(item_paths.size());
  Paths counters;
  std::vector<size_t> owners;
  for (size_t i = 0; i < item_paths.size(); ++i) {
    const std::string push = push_of(item_paths[i]);
    if (push.empty()) continue;
    counters.push_back(counter_of(layout.awaited_push(push), count));
    owners.push_back(i);
  }
  const std::vector<Answer> looks = zk::stat_all(session, counters);
  for (size_t i = 0; i < owners.size(); ++i) gone[owners[i]] = looks[i].code == Code::no_node;
  return gone;
}

void AwaitedPush::make(FoundQueue found) {
  for (Rounds rounds(tried_);; rounds.next()) {
    const Answer made = session_.transact(steps_to_make(found));
    if (made.code == Code::ok) return;
    if (!is_overtaken(made.code)) throw zk::failure_of(tried_, made);
    if (is_made()) return renew();
    found = look_at_queue(session_, layout_, {layout_.items(), layout_.awaited()}, tried_);
    if (!found.exists) fail_gone();
  }
}

std::vector<Step> AwaitedPush::steps_to_make(const FoundQueue& found) const {
  std::vector<Step> steps;
  if (found.mark == PathMark::queue) {
    steps.push_back({Step::Kind::write, layout_.queue, std::string(kTaggedQueue), found.version});
  }
  if (found.lists[1].code == Code::no_node) steps.push_back({Step::Kind::create, layout_.awaited()});
  steps.push_back({Step::Kind::create, path(), "0"});
  for (const std::string& counter : counters_of(path())) steps.push_back({Step::Kind::create, counter});
  steps.push_back({Step::Kind::create, layout_.marker(token_), "", -1, zk::CreateMode::ephemeral});
  return steps;
}

// Our transaction may have been carried out, in this session or in an earlier one, and its answer lost.
bool AwaitedPush::is_made() {
  return zk::settled_stat_all(session_, {path()}).front().code == Code::ok;
}

// The server may know the session before this one still.
void AwaitedPush::renew() {
  watches_.clear();
  const std::string ours = layout_.marker(token_);
  const Step alive{Step::Kind::create, ours, "", -1, zk::CreateMode::ephemeral};
  std::vector<Step> steps{{Step::Kind::check, path()}, alive};
  for (Rounds rounds(tried_);; rounds.next()) {
    const Answer answer = session_.transact(steps);
    if (answer.code == Code::ok) return;
    if (!is_overtaken(answer.code)) throw zk::failure_of(tried_, answer);
    const std::vector<Answer> looks = zk::settled_stat_all(session_, {path(), ours});
    if (looks[0].code == Code::no_node) fail_gone();
    look_at_queue(session_, layout_, {}, tried_);  // refuses a queue that is being deleted
    if (looks[1].code == Code::ok && looks[1].stat.ephemeral_owner == session_.id()) return;
    steps = {{Step::Kind::check, path()}, alive};
    if (looks[1].code == Code::ok) steps.insert(steps.begin() + 1, {Step::Kind::remove, ours});
  }
}

Tally AwaitedPush::look(int64_t items) {
  watches_.clear();
  std::vector<zk::Session::Send> reads;
  for (const Count count : kCounts) {
    const zk::Watch watch = count == Count::back ? nullptr : std::make_shared<zk::WatchState>();
    if (watch) watches_.push_back(watch);
    const std::string counter = counter_of(path(), count);
    reads.emplace_back([counter, watch](zk::Client& client) { return client.exists(counter, watch); });
  }
  const std::vector<Answer> counters = zk::ask_together(session_, reads);
  for (const Answer& counter : counters) {
    if (counter.code == Code::no_node) fail_gone();
    if (counter.code != Code::ok) throw zk::failure_of(tried_, counter);
  }
  back_version_ = counters.back().stat.version;
  return tally_of(items, counters);
}

bool AwaitedPush::is_woken() const {
  return watches_.empty() || std::ranges::any_of(watches_, [](const zk::Watch& watch) { return watch->fired; });
}

void AwaitedPush::remove() {
  if (!session_.may_send()) return;
  std::vector<Step> steps = steps_to_remove(path(), -1, back_version_);
  steps.insert(steps.begin(), {Step::Kind::remove, layout_.marker(token_)});
  session_.client().transact(steps);
}

void AwaitedPush::sweep() {
  Paths pushes;
  for (const std::string& name : session_.children(layout_.awaited()).names) {
    if (is_token(name) && name != token_ && pushes.size() < kMostPushesSwept)
      pushes.push_back(layout_.awaited_push(name));
  }
  if (pushes.empty()) return;
  Paths counters;
  for (const std::string& push : pushes) std::ranges::move(counters_of(push), std::back_inserter(counters));
  pushes.push_back(path());
  const std::vector<Answer> nodes = zk::read_all(session_, pushes);
  const std::vector<Answer> counts = zk::stat_all(session_, counters);
  const int64_t day_ago_ms = nodes.back().stat.created_ms - kSweptAfterMs;
  for (size_t i = 0; i + 1 < pushes.size(); ++i) {
    const std::span of_push(counts.begin() + static_cast<ptrdiff_t>(i * kCounts.size()), kCounts.size());
    const auto is_old = [&](const Answer& node) { return node.code == Code::ok && node.stat.modified_ms < day_ago_ms; };
    const auto items = parse_number(nodes[i].data);
    if (!items || !is_old(nodes[i]) || !std::ranges::all_of(of_push, is_old)) continue;
    if (tally_of(*items, of_push).left() == 0)
      send_sweep(pushes[i], nodes[i].stat.version, of_push.back().stat.version);
  }
}

// The create and removal of the pusher's ephemeral node show that the pusher does not live.
void AwaitedPush::send_sweep(const std::string& push, int version, int back_version) {
  const std::string pusher = layout_.marker(zk::name_of(push));
  std::vector<Step> steps{{Step::Kind::create, pusher, "", -1, zk::CreateMode::ephemeral},
                          {Step::Kind::remove, pusher}};
  std::ranges::move(steps_to_remove(push, version, back_version), std::back_inserter(steps));
  session_.ready();
  session_.client().transact(steps);
}

void AwaitedPush::fail_gone() const {
  throw Failure(ExitStatus::bad_data,
                fmt::format("{}: {} was deleted, so it cannot be known how its items end", tried_, path()));
}

}  // namespace zklock::recipe
