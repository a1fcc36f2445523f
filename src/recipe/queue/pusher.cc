// SPDX-License-Identifier: Apache-2.0
#include "recipe/queue/pusher.h"

#include "host/trace.h"
#include "zk/path.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace zklock::recipe {

using zk::Answer;
using zk::Code;
using zk::CreateMode;
using zk::Step;

namespace {

constexpr int64_t kMostItems = 500;        // in a batch
constexpr size_t kMostBytes = 512 * 1024;  // in a batch; more only for a single item
constexpr size_t kMostBatches = 8;         // in flight
constexpr size_t kMostBytesInFlight = 4 * kMostBytes;
constexpr size_t kItemOverhead = 128;  // bytes for names and ACL
constexpr size_t kHead = 2;            // the steps before the items
constexpr int kMostVain = 20;          // a server with a smaller jute.maxbuffer drops the connection each time

bool is_doubtful(const zk::Call& call) {
  return call && (!call->done || call->answer.code == Code::unknown || call->answer.code == Code::expired);
}

}  // namespace

Pusher::Pusher(zk::Session& session, const QueueLayout& layout, int priority, const std::string& tried,
               AwaitedPush* awaited)
    : session_(session),
      layout_(layout),
      tried_(tried),
      tail_(session, layout.items(), priority, tried),
      awaited_(awaited),
      marker_{awaited ? awaited->path() : layout.marker(make_token())},
      overtaken_(tried) {}

void Pusher::open() {
  if (awaited_) return open_awaited();
  zk::in_sessions(session_, [this] {
    const FoundQueue queue = look_at_queue_or_site(session_, layout_, {layout_.items()}, tried_);
    if (queue.exists) return tail_.find_in(queue.lists.front());
    session_.ready();
    send_making(queue.site);
  });
}

void Pusher::open_awaited() {
  zk::in_sessions(session_, [this] {
    const FoundQueue queue = make_queue(session_, layout_, {layout_.items(), layout_.awaited()}, tried_);
    awaited_->make(queue);
    tail_.find_in(queue.lists.front());
  });
  marker_.next = marker_.done = 1;
}

// It is sent only once: if it fails, find_tail() sees to the queue.
void Pusher::send_making(const Site& site) {
  std::vector<Step> steps = steps_to_make(layout_);
  std::ranges::move(tail_.begin(), std::back_inserter(steps));
  steps.push_back({Step::Kind::create, marker_.path, "", -1, CreateMode::ephemeral});
  Batch making;
  making.bytes = steps.size() * (layout_.queue.size() + kItemOverhead);
  making.marker = marker_.next++;
  making.segment = tail_.segment();
  host::trace("making", {{"marker", marker_.path}, {"queue", layout_.queue}});
  making.call = recipe::send_making(session_, site, steps);
  in_flight_.push_back(std::move(making));
}

bool Pusher::has_room() const {
  const size_t bytes = std::accumulate(in_flight_.begin(), in_flight_.end(), size_t{0},
                                       [](size_t sum, const Batch& batch) { return sum + batch.bytes; });
  return in_flight_.size() < kMostBatches && bytes < kMostBytesInFlight;
}

void Pusher::add(std::string item) {
  const size_t bytes = item.size() + layout_.queue.size() + kItemOverhead;
  if (filling_.bytes + bytes > kMostBytes) flush();
  if (filling_.items == 0) {
    filling_.first = added_ + 1;
    filling_.steps.reserve(kMostItems + kHead + 2);
    filling_.steps.resize(kHead);
  }
  filling_.steps.push_back({Step::Kind::create, "", std::move(item), -1, CreateMode::persistent_sequential});
  filling_.bytes += bytes;
  ++filling_.items;
  ++added_;
  if (filling_.items == kMostItems) flush();
}

void Pusher::flush() {
  if (filling_.items == 0) return;
  in_flight_.push_back(std::exchange(filling_, Batch()));
  // The batch waits too if earlier ones wait to be sent again.
  const bool in_order = in_flight_.size() == 1 || in_flight_[in_flight_.size() - 2].call;
  if (in_order && session_.connected()) send(in_flight_.back());
}

// A batch that is sent again has the same items, so the number of those that are in stays true.
Step Pusher::marker_step(const Batch& batch) const {
  if (batch.marker == 0) return {Step::Kind::create, marker_.path, "", -1, CreateMode::ephemeral};
  const std::string count = awaited_ ? std::to_string(batch.first + batch.items - 1) : "";
  return {Step::Kind::write, marker_.path, count, batch.marker - 1};
}

void Pusher::send(Batch& batch) {
  batch.segment = tail_.segment();
  batch.marker = marker_.next++;
  batch.steps.resize(kHead + static_cast<size_t>(batch.items));
  batch.steps[0] = {Step::Kind::check, tail_.path(), "", 0};
  batch.steps[1] = marker_step(batch);
  const std::string stem = tail_.stem(awaited_ ? tags_for(awaited_->token()) : "");
  for (size_t i = kHead; i < batch.steps.size(); ++i) batch.steps[i].path = stem;
  tail_.put_seal(batch.items, batch.steps);
  tail_.count(batch.items);
  host::trace("pushing", {{"marker", marker_.path}, {"batch", batch.marker}, {"items", batch.items}});
  batch.call = session_.client().transact(batch.steps);
}

// While an awaited push has no session, its queue may be deleted. So it opens another at once.
void Pusher::settle() {
  if (awaited_ && in_flight_.empty() && session_.expired()) return renew();
  while (!in_flight_.empty()) {
    const Batch& oldest = in_flight_.front();
    if (!oldest.call || (oldest.call->done && oldest.call->answer.code != Code::ok)) return recover();
    if (!oldest.call->done) return;
    take_in(oldest);
    in_flight_.pop_front();
  }
}

void Pusher::take_in(const Batch& batch) {
  host::trace("pushed", {{"marker", marker_.path}, {"batch", batch.marker}, {"last", batch.call->answer.path}});
  in_ += batch.items;
  marker_.done = batch.marker + 1;
  note_progress();
  int64_t underway = 0;
  for (const Batch& other : in_flight_) {
    if (&other != &batch && other.call && other.segment == batch.segment) underway += other.items;
  }
  tail_.note_last(batch.call->answer.path, underway);
}

// A batch that fails makes all later ones fail.
void Pusher::recover() {
  if (is_doubtful(in_flight_.front().call) && ++vain_ > kMostVain) {
    throw Failure(ExitStatus::unavailable,
                  fmt::format("{}: the connection was lost {} times over the same {} bytes; is the "
                              "servers' jute.maxbuffer smaller than that?",
                              tried_, kMostVain, in_flight_.front().bytes));
  }
  try {
    await_all();
    overtaken_.next();
    read_marker();
    find_tail();
  } catch (const zk::SessionOver&) {
    renew();
  }
  send_again();
}

void Pusher::await_all() {
  std::optional<Answer> refused;
  for (const Batch& batch : in_flight_) {
    if (!batch.call) break;
    const Answer answer = session_.await(batch.call);
    if (answer.code == Code::node_exists) tail_.renew_token();
    if (!refused && answer.code != Code::ok && !is_overtaken(answer.code)) refused = answer;
  }
  // Only now, when it is known that no later batch is in.
  if (refused) throw zk::failure_of(tried_, *refused);
}

// Finds out which batches are in. If the queue is still to be made, find_tail() sees to that.
void Pusher::read_marker() {
  // The check is a transaction: our server reads the marker after it, and a session that is over does not pass it.
  const auto [check, marker] =
      session_.ask_both([this](zk::Client& client) { return client.check({layout_.pushing()}); },
                        [this](zk::Client& client) { return client.exists(marker_.path); });
  if (check.code != Code::ok && check.code != Code::no_node) throw zk::failure_of(tried_, check);
  if (check.code == Code::no_node && !is_making()) {
    throw Failure(ExitStatus::bad_data, fmt::format("{}: the queue was deleted meanwhile", tried_));
  }
  const int done = marker.code == Code::ok ? marker.stat.version + 1 : 0;
  host::trace("marker read", {{"marker", marker_.path}, {"batches", done}});
  if (done < marker_.done) throw Failure(ExitStatus::bad_data, fmt::format("{}: {} was deleted", tried_, marker_.path));
  take_in_up_to(done);
}

// Our own transaction has not made the queue if it is still in flight behind read_marker(), or its session is over.
void Pusher::find_tail() {
  if (!is_making()) return tail_.find();
  tail_.find_in(make_queue(session_, layout_, {layout_.items()}, tried_).lists.front());
  in_flight_.pop_front();
}

void Pusher::note_progress() {
  vain_ = 0;
  overtaken_ = Rounds(tried_);
}

void Pusher::take_in_up_to(int done) {
  while (!in_flight_.empty() && in_flight_.front().call && in_flight_.front().marker < done) {
    in_ += in_flight_.front().items;
    note_progress();
    in_flight_.pop_front();
  }
  for (Batch& batch : in_flight_) batch.call.reset();
  marker_.next = marker_.done = done;
}

// The marker is gone with its session, so batches without an answer may be in or not.
void Pusher::renew() {
  if (awaited_) {
    return zk::in_sessions(session_, [this] {
      awaited_->renew();
      read_marker();
      find_tail();
    });
  }
  const ItemSpan doubtful = unanswered();
  host::trace("marker lost", {{"marker", marker_.path}, {"doubtful from", doubtful.first}});
  if (doubtful.first > 0) doubles_.push_back(doubtful);
  for (Batch& batch : in_flight_) batch.call.reset();
  marker_ = {layout_.marker(make_token())};
  zk::in_sessions(session_, [this] { find_tail(); });
}

void Pusher::send_again() {
  for (Batch& batch : in_flight_) {
    if (!session_.connected()) return;
    send(batch);
  }
}

ItemSpan Pusher::unanswered() const {
  ItemSpan span;
  for (const Batch& batch : in_flight_) {
    if (!is_doubtful(batch.call)) continue;
    if (span.first == 0) span.first = batch.first;
    span.last = batch.first + batch.items - 1;
  }
  return span;
}

}  // namespace zklock::recipe
