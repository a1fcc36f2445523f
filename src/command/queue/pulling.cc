// SPDX-License-Identifier: Apache-2.0
#include "command/queue/pulling.h"

#include "zk/timing.h"

#include <algorithm>
#include <limits.h>

namespace zklock::command {

using recipe::IdleEnd;
using recipe::IdleLine;
using recipe::Item;

namespace {

constexpr size_t kLots = 2;                  // claimed ahead
constexpr size_t kLargestLot = 128;          // items
constexpr size_t kLargestLotSize = 1 << 20;  // bytes, about

}  // namespace

Pulling::Pulling(zk::SessionOptions session, PullOptions options)
    : options_(std::move(options)), intake_(loop_, std::move(session), options_, "written") {}

void Pulling::run() {
  try {
    pull();
    session_.close();
  } catch (...) {
    clean_up();
    intake_.rethrow();
  }
}

void Pulling::pull() {
  intake_.open();
  for (;;) {
    if (session_.expired()) start_again();
    claim_ahead();
    if (consumer_.batches() > 0) {
      collect();
    } else if (items_.empty() && (wanted() == 0 || (!session_.expired() && !wait_for_items()))) {
      break;
    }
    write_items();
  }
  acks_.finish(kNever);
  if (session_.expired()) start_again();
  intake_.check_lost();
}

// How many more, those that are ours already left out.
size_t Pulling::wanted() const {
  if (!options_.most) return SIZE_MAX;
  return *options_.most - delivered_ - items_.size() - consumer_.underway();
}

void Pulling::claim_ahead() {
  while (consumer_.batches() < kLots && wanted() > 0) {
    if (!consumer_.begin(std::min(lot_, wanted()), kNever)) return;
  }
}

void Pulling::collect() {
  size_t size = 0;
  for (Item& item : consumer_.collect(kNever)) {
    size += item.data.size();
    items_.push_back(std::move(item));
  }
  if (!items_.empty()) intake_.note_items();
  if (size > kLargestLotSize) lot_ = std::max<size_t>(1, lot_ / 2);
  if (size < kLargestLotSize / 2) lot_ = std::min(kLargestLot, lot_ * 2);
}

void Pulling::write_items() {
  while (!items_.empty() && !session_.expired()) {
    check_claims();
    if (items_.empty()) break;
    if (ends_.empty()) fill_chunk();
    write_chunk();
    acks_.take_answers(kNever);
  }
  remove_written();
}

// After a pause of ours, or of our reader's, the claims may be gone and the items somebody else's. Until an answer is
// as young as we want it: the next pause may come while we wait for it.
void Pulling::check_claims() {
  while (!items_.empty() && BootClock::now() >= items_.front().proved + zk::fence_of(session_.timeout()) / 2) {
    const std::string first = items_.front().path;
    const std::vector<Item> confirmed = consumer_.confirm({items_.begin(), items_.end()}, kNever);
    if (is_torn() && (confirmed.empty() || confirmed.front().path != first)) fail_torn();
    if (confirmed.size() != items_.size()) cut_chunk();
    items_.assign(confirmed.begin(), confirmed.end());
  }
}

// A part of the first item was written, and its rest was not.
bool Pulling::is_torn() const {
  return !ends_.empty() && chunk_written_ + items_.front().data.size() + options_.end.size() > ends_.front();
}

void Pulling::fail_torn() const {
  throw Failure(ExitStatus::lost,
                intake_.tried() +
                    ": the claim was lost while an item was written; the rest of it was not, and all of it "
                    "will come again");
}

// To what was begun.
void Pulling::cut_chunk() {
  const size_t end = is_torn() ? ends_.front() : 0;
  chunk_.resize(end);
  ends_.resize(end > 0 ? 1 : 0);
  if (end == 0) chunk_written_ = 0;
}

// What a pipe takes in one piece, or one item that is longer.
void Pulling::fill_chunk() {
  for (const Item& item : items_) {
    const size_t size = item.data.size() + options_.end.size();
    if (!chunk_.empty() && chunk_.size() + size > PIPE_BUF) return;
    chunk_ += item.data + options_.end;
    ends_.push_back(chunk_.size());
  }
}

// As much as the reader takes at once.
void Pulling::write_chunk() {
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

// He shall not have more from us than he can use: others may have time for it.
void Pulling::wait_for_reader() {
  remove_written();
  lot_ = std::max<size_t>(1, lot_ / 4);
  outlet_.want(true);
  session_.turn(kNever);
  outlet_.want(false);
}

void Pulling::remove_written() {
  acks_.remove(written_, kNever);
  written_.clear();
}

// False where there is nothing to wait for, or not any longer.
bool Pulling::wait_for_items() {
  acks_.finish(kNever);
  if (session_.expired()) return true;
  if (options_.all && !consumer_.some_in_work()) return false;
  if (options_.waits() && left_until(intake_.idle_until()) > Duration::zero()) {
    IdleLine& line = intake_.idle_line();
    switch (line.wait({true, intake_.idle_until()}, options_.all)) {
      case IdleEnd::taken:
        intake_.note_items();
        for (Item& item : line.items()) items_.push_back(std::move(item));
        return true;
      case IdleEnd::expired:
      case IdleEnd::disturbed:
        return true;
      case IdleEnd::nothing:
        return false;
      case IdleEnd::removed:
        throw Failure(ExitStatus::busy, intake_.tried() + ": our place in line was removed");
      case IdleEnd::timeout:
        break;
    }
  }
  intake_.check_lack(delivered_);
  return false;
}

// What was not written is somebody else's now; what was written may be removed already.
void Pulling::start_again() {
  acks_.finish(kNever);
  const bool torn = is_torn();
  items_.clear();
  chunk_.clear();
  ends_.clear();
  chunk_written_ = 0;
  intake_.open_again();
  if (torn) fail_torn();
}

// An item of which a part was written goes back too: nobody else has the rest.
void Pulling::clean_up() {
  intake_.clean_up(written_, {items_.begin(), items_.end()});
}

}  // namespace zklock::command
