// SPDX-License-Identifier: Apache-2.0
// Cuts a stream of bytes into items. Holds what is not taken yet and at most one item that is not complete.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

namespace zklock::command {

enum class Framing {
  lines,  // each ends with a newline, the last may lack it
  nul,    // likewise with a NUL byte
  whole,  // all of it is one item
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

  // The next item that is complete. None any more from one that is too large on.
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

  // All was taken that can be had without more bytes, and their end was told. Of no input --whole makes one empty item;
  // a line that has not even begun is none.
  bool is_empty() const {
    return ended_ && at_ == bytes_.size() && dropped_ == 0 && (framing_ != Framing::whole || count_ > 0);
  }

  // The first item that is too large, once its end was seen; counted from 1.
  struct Oversize {
    int64_t number;
    size_t size;
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
  size_t scanned_ = 0;  // how far there is no end of it
  size_t dropped_ = 0;  // bytes of it, too large already, that are not kept
  bool ended_ = false;
  int64_t count_ = 0;
  std::optional<Oversize> oversize_;
};

}  // namespace zklock::command
