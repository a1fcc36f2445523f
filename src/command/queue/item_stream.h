// SPDX-License-Identifier: Apache-2.0
// The items of `queue pull` on their way to standard output: those that are not written yet, in order, and those that
// are written and not removed from the queue yet. They are written in chunks that a pipe takes as a whole. An item that
// is longer is a chunk of its own. So a reader that goes away is hardly ever left with a part of an item.
#pragma once

#include "recipe/queue/layout.h"

#include <climits>
#include <cstddef>
#include <deque>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zklock::command {

class ItemStream {
 public:
  // `end` is written after each item.
  explicit ItemStream(std::string end) : end_(std::move(end)) {}

  void add(recipe::Item item) { items_.push_back(std::move(item)); }
  // The items that are not written to their end.
  bool empty() const { return items_.empty(); }
  size_t size() const { return items_.size(); }
  std::vector<recipe::Item> items() const { return {items_.begin(), items_.end()}; }
  const recipe::Item& first() const { return items_.front(); }
  // True if only a part of the first item was written.
  bool is_torn() const {
    return !ends_.empty() && chunk_written_ + items_.front().data.size() + end_.size() > ends_.front();
  }
  // How many items were written to their end, ever.
  size_t delivered() const { return delivered_; }

  // Returns the next bytes to write; none if the next items and their ends are empty. Call it only while there are
  // items.
  std::string_view next() {
    if (ends_.empty()) fill();
    return std::string_view(chunk_).substr(chunk_written_);
  }
  // Notes that the first `count` of those bytes were written.
  void note_written(size_t count) {
    chunk_written_ += count;
    for (; !ends_.empty() && ends_.front() <= chunk_written_; ends_.pop_front()) {
      items_.front().data.clear();
      written_.push_back(std::move(items_.front()));
      items_.pop_front();
      ++delivered_;
    }
    if (ends_.empty()) cut(0);
  }

  // Forgets the items that are not among `kept`, which are in the same order. Returns false, and forgets nothing, if
  // one of them is torn.
  bool keep(std::vector<recipe::Item> kept) {
    const bool torn = is_torn();
    if (torn && (kept.empty() || kept.front().path != items_.front().path)) return false;
    if (kept.size() != items_.size()) cut(torn ? ends_.front() : 0);
    items_.assign(std::make_move_iterator(kept.begin()), std::make_move_iterator(kept.end()));
    return true;
  }
  // Forgets all items that are not written to their end.
  void forget() {
    items_.clear();
    cut(0);
  }
  // Hands over the items that were written since the last call.
  std::vector<recipe::Item> take_written() { return std::exchange(written_, {}); }

 private:
  void fill() {
    for (const recipe::Item& item : items_) {
      const size_t size = item.data.size() + end_.size();
      if (!chunk_.empty() && chunk_.size() + size > PIPE_BUF) return;
      chunk_ += item.data;
      chunk_ += end_;
      ends_.push_back(chunk_.size());
    }
  }

  // Cuts the chunk after its first `end` bytes, which hold one item at most.
  void cut(size_t end) {
    chunk_.resize(end);
    ends_.resize(end > 0 ? 1 : 0);
    if (end == 0) chunk_written_ = 0;
  }

  std::string end_;
  std::deque<recipe::Item> items_;
  std::string chunk_;         // the first of items_, whole, with their ends
  std::deque<size_t> ends_;   // offsets in chunk_: the ends of the items that are not wholly written
  size_t chunk_written_ = 0;  // bytes of chunk_
  std::vector<recipe::Item> written_;
  size_t delivered_ = 0;
};

}  // namespace zklock::command
