// SPDX-License-Identifier: Apache-2.0
// queue pull without a command: items are taken under claims, written to standard output, and removed once written. A
// reader that is slow or gone never holds up the session. Items that were not written go back, and their attempts do
// not count.
#include "command/queue/pull.h"
#include "host/loop.h"
#include "host/process/survivor.h"
#include "host/signals.h"
#include "host/streams.h"
#include "zk/timing.h"

#include <algorithm>
#include <climits>
#include <deque>

namespace zklock::command {

namespace {

using recipe::IdleEnd;
using recipe::Item;

constexpr size_t kFewBatches = 2;              // claimed ahead, while other clients take items, too
constexpr size_t kMostBatches = 8;             // claimed ahead
constexpr size_t kMostAheadSize = 16 << 20;    // bytes, about
constexpr size_t kFirstBatch = 16;             // items, at first
constexpr size_t kLargestBatch = 128;          // items
constexpr size_t kLargestBatchSize = 1 << 20;  // bytes, about

// How many items the reader takes in a round trip.
class ReaderRate {
 public:
  // Notes that `delivered` items were written by now, ever. Only the shortest round trip counts, because longer ones
  // include the wait behind our own requests.
  void note(size_t delivered, Duration round_trip) {
    round_trip_ = std::min(round_trip_, std::max<Duration>(round_trip, std::chrono::milliseconds(1)));
    const Duration passed = BootClock::now() - since_;
    if (passed < round_trip_) return;
    const double seconds = std::chrono::duration<double>(passed).count();
    per_second_ = static_cast<double>(delivered - delivered_) / seconds;
    since_ = BootClock::now();
    delivered_ = delivered;
  }
  // Returns 0 before it is known.
  size_t in_round_trip() const {
    return static_cast<size_t>(per_second_ * std::chrono::duration<double>(round_trip_).count());
  }

 private:
  double per_second_ = 0;
  Duration round_trip_ = std::chrono::hours(1);  // until it is known
  Deadline since_ = BootClock::now();
  size_t delivered_ = 0;
};

class ItemPrinter {
 public:
  // Forks the survivor. To be called before there is a ZooKeeper handle.
  ItemPrinter(zk::SessionOptions session, PullOptions options)
      : options_(std::move(options)), source_(loop_, std::move(session), options_, "written") {}

  void run();

 private:
  void pull();
  bool pull_some();
  void claim_ahead();
  void collect();
  void write_items();
  void check_claims();
  bool is_torn() const;
  [[noreturn]] void fail_torn() const;
  void fill_chunk();
  void cut_chunk();
  void write_chunk();
  void wait_for_reader();
  void remove_written();
  bool wait_for_items();
  void start_again();
  size_t wanted() const;
  bool may_claim() const;

  PullOptions options_;
  host::Loop loop_;
  host::Signals signals_;
  host::EndOnSignal end_on_signal_{signals_};
  host::StandardOutput outlet_;
  host::Attached receiving_{loop_, signals_};
  host::Attached ending_{loop_, end_on_signal_};
  host::Attached writing_{loop_, outlet_};
  ConsumerSession source_;
  zk::Session& session_{source_.session()};
  host::Survivor survivor_{session_.closer()};
  recipe::Consumer& consumer_{source_.consumer()};
  recipe::Acks& acks_{source_.acks()};
  std::deque<Item> items_;      // ours, not written yet
  std::string chunk_;           // the first of items_, whole, with their ends
  std::deque<size_t> ends_;     // where each item that is not written to its end ends in chunk_
  size_t chunk_written_ = 0;    // bytes of chunk_
  std::vector<Item> written_;   // items that are not removed yet
  size_t delivered_ = 0;        // items written, ever
  size_t batch_ = kFirstBatch;  // how many to claim at once
  size_t largest_ = 0;          // of the items so far, bytes
  ReaderRate rate_;
};

void ItemPrinter::run() {
  try {
    pull();
    session_.close();
  } catch (...) {
    // An item of which only a part was written goes back too, because no reader has its rest.
    source_.clean_up(written_, {items_.begin(), items_.end()});
    source_.rethrow();
  }
}

void ItemPrinter::pull() {
  source_.open();
  for (bool more = true; more;) {
    try {
      more = pull_some();
    } catch (const zk::SessionOver&) {
      start_again();
    }
  }
  source_.check_lost();
}

// Returns false if all is done: there is nothing to wait for, or the wait is over.
bool ItemPrinter::pull_some() {
  claim_ahead();
  if (consumer_.batches() > 0) {
    collect();
  } else if (items_.empty() && (wanted() == 0 || !wait_for_items())) {
    acks_.finish();
    return false;
  }
  write_items();
  return true;
}

// Returns how many more items to claim, besides those that are ours or on their way.
size_t ItemPrinter::wanted() const {
  if (!options_.most) return SIZE_MAX;
  return *options_.most - delivered_ - items_.size() - consumer_.underway();
}

void ItemPrinter::claim_ahead() {
  while (wanted() > 0 && may_claim()) {
    if (!consumer_.begin(std::min(batch_, wanted()))) return;
  }
}

// Returns true if another batch may be claimed ahead: up to twice what the reader takes in a round trip, so that the
// number can grow with a fast reader. A slow reader holds no more than it uses soon, because other consumers may have
// time for the rest.
bool ItemPrinter::may_claim() const {
  if (consumer_.batches() < kFewBatches) return true;
  if (consumer_.batches() >= kMostBatches || !consumer_.is_alone()) return false;
  const size_t ahead = items_.size() + consumer_.underway();
  return ahead < kFewBatches * (batch_ + rate_.in_round_trip()) && ahead * largest_ < kMostAheadSize;
}

void ItemPrinter::collect() {
  size_t size = 0;
  for (Item& item : consumer_.collect()) {
    size += item.data.size();
    largest_ = std::max(largest_, item.data.size());
    items_.push_back(std::move(item));
  }
  if (!items_.empty()) source_.note_items();
  rate_.note(delivered_, session_.round_trip());
  if (size > kLargestBatchSize) batch_ = std::max<size_t>(1, batch_ / 2);
  if (size < kLargestBatchSize / 2) batch_ = std::min(kLargestBatch, batch_ * 2);
}

void ItemPrinter::write_items() {
  while (!items_.empty()) {
    session_.check_alive();
    check_claims();
    if (items_.empty()) break;
    if (ends_.empty()) fill_chunk();
    write_chunk();
    acks_.take_answers();
  }
  remove_written();
}

// After a pause of zklock's, or of its reader's, the claims may be gone and the items another consumer's. The next
// pause may come while we wait for the answer, so this repeats until an answer is recent enough.
void ItemPrinter::check_claims() {
  while (!items_.empty() && BootClock::now() >= items_.front().proved + zk::fence_of(session_.timeout()) / 2) {
    const std::string first = items_.front().path;
    const std::vector<Item> confirmed = consumer_.confirm({items_.begin(), items_.end()});
    if (is_torn() && (confirmed.empty() || confirmed.front().path != first)) fail_torn();
    if (confirmed.size() != items_.size()) cut_chunk();
    items_.assign(confirmed.begin(), confirmed.end());
  }
}

// True if only a part of the first item was written.
bool ItemPrinter::is_torn() const {
  return !ends_.empty() && chunk_written_ + items_.front().data.size() + options_.end.size() > ends_.front();
}

void ItemPrinter::fail_torn() const {
  throw Failure(ExitStatus::lost,
                source_.tried() +
                    ": the claim was lost while an item was written; the rest of it was not, and all of it "
                    "will come again");
}

// Cuts the chunk to the item of which a part was written, if any.
void ItemPrinter::cut_chunk() {
  const size_t end = is_torn() ? ends_.front() : 0;
  chunk_.resize(end);
  ends_.resize(end > 0 ? 1 : 0);
  if (end == 0) chunk_written_ = 0;
}

// Fills the chunk with what a pipe takes in one piece, or one item that is longer.
void ItemPrinter::fill_chunk() {
  for (const Item& item : items_) {
    const size_t size = item.data.size() + options_.end.size();
    if (!chunk_.empty() && chunk_.size() + size > PIPE_BUF) return;
    chunk_ += item.data;
    chunk_ += options_.end;
    ends_.push_back(chunk_.size());
  }
}

// Writes as much as the reader takes at once.
void ItemPrinter::write_chunk() {
  const std::string_view rest = std::string_view(chunk_).substr(chunk_written_);
  const size_t taken = rest.empty() ? 0 : outlet_.write(rest);  // an empty item, --whole
  chunk_written_ += taken;
  for (; !ends_.empty() && ends_.front() <= chunk_written_; ends_.pop_front()) {
    items_.front().data.clear();
    written_.push_back(std::move(items_.front()));
    items_.pop_front();
    ++delivered_;
  }
  if (ends_.empty()) {
    chunk_.clear();
    chunk_written_ = 0;
  } else if (taken == 0) {
    wait_for_reader();
  }
}

// A slow reader must not get more items from us than it can use, because other consumers may have time for them.
void ItemPrinter::wait_for_reader() {
  remove_written();
  batch_ = std::max<size_t>(1, batch_ / 4);
  outlet_.want(true);
  session_.turn(kNever);
  outlet_.want(false);
}

void ItemPrinter::remove_written() {
  acks_.remove(std::exchange(written_, {}));
}

// Returns false if there is nothing to wait for, or the wait is over.
bool ItemPrinter::wait_for_items() {
  acks_.finish();
  if (options_.all && !consumer_.some_in_work()) return false;
  const Deadline until = source_.idle_until();
  if (options_.waits() && left_until(until) > Duration::zero()) {
    const IdleEnd end = source_.wait_in_line({true, until}, options_.all);
    if (end == IdleEnd::taken) {
      for (Item& item : source_.take_items()) items_.push_back(std::move(item));
    }
    if (end == IdleEnd::nothing) return false;
    if (end != IdleEnd::timeout) return true;
  }
  source_.check_lack(delivered_);
  return false;
}

// Items that were not written may be another consumer's now. Items that were written may be removed already.
void ItemPrinter::start_again() {
  const bool torn = is_torn();
  items_.clear();
  chunk_.clear();
  ends_.clear();
  chunk_written_ = 0;
  source_.open_again(std::exchange(written_, {}));
  if (torn) fail_torn();
}

}  // namespace

void print_items(zk::SessionOptions session, PullOptions options) {
  ItemPrinter(std::move(session), std::move(options)).run();
}

}  // namespace zklock::command
