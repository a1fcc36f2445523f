// SPDX-License-Identifier: Apache-2.0
// Cuts a stream of bytes into items. It keeps the bytes that were not taken yet, and at most one incomplete item.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

namespace zklock::command {

enum class Framing {
  lines,  // each item ends with a newline, which the last one may lack
  nul,    // each item ends with a NUL byte, which the last one may lack
  whole,  // all bytes are one item
};

class ItemReader {
 public:
  ItemReader(Framing framing, size_t largest) : framing_(framing), largest_(largest) {}

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
    if (oversize_) return std::nullopt;
    if (const auto end = find_end()) return cut(*end);
    if (ended_) return is_empty() ? std::nullopt : cut(bytes_.size());
    if (bytes_.size() - at_ + dropped_ > largest_) {
      dropped_ += bytes_.size() - at_;
      bytes_.clear();
      at_ = scanned_ = 0;
    }
    return std::nullopt;
  }

  // True if end() was called and all items were taken. With Framing::whole, empty input makes one empty item. In the
  // other framings, an item has at least one byte, its end included.
  bool is_empty() const {
    return ended_ && at_ == bytes_.size() && dropped_ == 0 && (framing_ != Framing::whole || count_ > 0);
  }

  // The first item that is too large. It is known once the end of that item was seen.
  struct Oversize {
    int64_t number;  // counted from 1
    size_t size;     // bytes
  };
  const std::optional<Oversize>& oversize() const { return oversize_; }

 private:
  std::optional<size_t> find_end() {
    if (framing_ == Framing::whole) return std::nullopt;
    const size_t end = bytes_.find(framing_ == Framing::nul ? '\0' : '\n', scanned_);
    scanned_ = bytes_.size();
    return end == std::string::npos ? std::nullopt : std::optional(end);
  }

  std::optional<std::string> cut(size_t end) {
    const size_t size = dropped_ + end - at_;
    ++count_;
    if (size > largest_) {
      oversize_ = {count_, size};
      return std::nullopt;
    }
    std::string item = bytes_.substr(at_, size);
    at_ = scanned_ = std::min(end + 1, bytes_.size());
    return item;
  }

  Framing framing_;
  size_t largest_;
  std::string bytes_;
  size_t at_ = 0;       // where the next item begins
  size_t scanned_ = 0;  // the next item has no end before this
  size_t dropped_ = 0;  // bytes of the next item that were not kept because it is too large
  bool ended_ = false;
  int64_t count_ = 0;
  std::optional<Oversize> oversize_;
};

}  // namespace zklock::command
