// SPDX-License-Identifier: Apache-2.0
// Cuts a stream of bytes into items. It keeps the bytes that were not taken yet, and at most one incomplete item.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

namespace zklock::command {

class ItemReader {
 public:
  // Each item ends with `end`, which the last one may lack; nothing: all bytes are one item.
  ItemReader(std::optional<char> end, size_t largest) : end_(end), largest_(largest) {}

  void feed(const std::string& bytes) {
    bytes_.erase(0, at_);
    scanned_ -= at_;
    at_ = 0;
    bytes_ += bytes;
  }
  void end() { ended_ = true; }

  // Returns the next complete item; nothing: none is complete yet. After an item that is too large, it returns nothing
  // any more.
  std::optional<std::string> next() {
    if (oversize_ > 0) return std::nullopt;
    if (const auto end = find_end()) return cut(*end);
    if (ended_) return is_empty() ? std::nullopt : cut(bytes_.size());
    if (bytes_.size() - at_ + dropped_ > largest_) {
      dropped_ += bytes_.size() - at_;
      bytes_.clear();
      at_ = scanned_ = 0;
    }
    return std::nullopt;
  }

  // True if end() was called and all items were taken. Without an end of items, empty input makes one empty item.
  // Otherwise, an item has at least one byte, its end included.
  bool is_empty() const { return ended_ && at_ == bytes_.size() && dropped_ == 0 && (end_ || count_ > 0); }

  // How many items have ended, the first one that is too large included.
  int64_t count() const { return count_; }
  // The size of that one in bytes; 0: its end was not seen yet, or no item is too large.
  size_t oversize() const { return oversize_; }

 private:
  std::optional<size_t> find_end() {
    if (!end_) return std::nullopt;
    const size_t end = bytes_.find(*end_, scanned_);
    scanned_ = bytes_.size();
    return end == std::string::npos ? std::nullopt : std::optional(end);
  }

  std::optional<std::string> cut(size_t end) {
    const size_t size = dropped_ + end - at_;
    ++count_;
    if (size > largest_) {
      oversize_ = size;
      return std::nullopt;
    }
    std::string item = bytes_.substr(at_, size);
    at_ = scanned_ = std::min(end + 1, bytes_.size());
    return item;
  }

  std::optional<char> end_;
  size_t largest_;
  std::string bytes_;
  size_t at_ = 0;       // where the next item begins
  size_t scanned_ = 0;  // the next item has no end before this
  size_t dropped_ = 0;  // bytes of the next item that were not kept because it is too large
  bool ended_ = false;
  int64_t count_ = 0;
  size_t oversize_ = 0;
};

}  // namespace zklock::command
