// SPDX-License-Identifier: Apache-2.0
#include "command/queue/item_stream.h"

#include <climits>
#include <iterator>

namespace zklock::command {

using recipe::Item;

bool ItemStream::is_torn() const {
  return !ends_.empty() && chunk_written_ + items_.front().data.size() + end_.size() > ends_.front();
}

std::string_view ItemStream::next() {
  if (ends_.empty()) fill();
  return std::string_view(chunk_).substr(chunk_written_);
}

void ItemStream::fill() {
  for (const Item& item : items_) {
    const size_t size = item.data.size() + end_.size();
    if (!chunk_.empty() && chunk_.size() + size > PIPE_BUF) return;
    chunk_ += item.data;
    chunk_ += end_;
    ends_.push_back(chunk_.size());
  }
}

void ItemStream::note_written(size_t count) {
  chunk_written_ += count;
  for (; !ends_.empty() && ends_.front() <= chunk_written_; ends_.pop_front()) {
    items_.front().data.clear();
    written_.push_back(std::move(items_.front()));
    items_.pop_front();
    ++delivered_;
  }
  if (ends_.empty()) cut(0);
}

// Cuts the chunk after its first `end` bytes, which hold one item at most.
void ItemStream::cut(size_t end) {
  chunk_.resize(end);
  ends_.resize(end > 0 ? 1 : 0);
  if (end == 0) chunk_written_ = 0;
}

bool ItemStream::keep(std::vector<Item> kept) {
  const bool torn = is_torn();
  if (torn && (kept.empty() || kept.front().path != items_.front().path)) return false;
  if (kept.size() != items_.size()) cut(torn ? ends_.front() : 0);
  items_.assign(std::make_move_iterator(kept.begin()), std::make_move_iterator(kept.end()));
  return true;
}

void ItemStream::forget() {
  items_.clear();
  cut(0);
}

}  // namespace zklock::command
