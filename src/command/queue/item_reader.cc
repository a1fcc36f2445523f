// SPDX-License-Identifier: Apache-2.0
#include "command/queue/item_reader.h"

#include <algorithm>

namespace zklock::command {

void ItemReader::feed(const std::string& bytes) {
  bytes_.erase(0, at_);
  scanned_ -= at_;
  at_ = 0;
  bytes_ += bytes;
}

std::optional<std::string> ItemReader::next() {
  if (oversize_) return std::nullopt;
  if (const auto end = find_end()) return cut(*end);
  if (!ended_) {
    if (bytes_.size() - at_ + dropped_ > largest_) {
      dropped_ += bytes_.size() - at_;
      bytes_.clear();
      at_ = scanned_ = 0;
    }
    return std::nullopt;
  }
  return is_empty() ? std::nullopt : cut(bytes_.size());
}

// Of no input --whole makes one empty item; a line that has not even begun is none.
bool ItemReader::is_empty() const {
  return ended_ && at_ == bytes_.size() && dropped_ == 0 && (framing_ != Framing::whole || count_ > 0);
}

std::optional<size_t> ItemReader::find_end() {
  if (framing_ == Framing::whole) return std::nullopt;
  const size_t end = bytes_.find(framing_ == Framing::nul ? '\0' : '\n', scanned_);
  scanned_ = bytes_.size();
  return end == std::string::npos ? std::nullopt : std::optional(end);
}

std::optional<std::string> ItemReader::cut(size_t end) {
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

}  // namespace zklock::command
