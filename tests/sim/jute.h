// SPDX-License-Identifier: Apache-2.0
// ZooKeeper's records as bytes (jute): numbers are big-endian, a text has its length in 4 bytes before it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace zklock::sim {

class RecordWriter {
 public:
  std::string out;
  RecordWriter& i32(int32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(static_cast<uint32_t>(value) >> shift);
    return *this;
  }
  RecordWriter& i64(int64_t value) {
    i32(static_cast<int32_t>(value >> 32));
    return i32(static_cast<int32_t>(value));
  }
  RecordWriter& text(std::string_view value) {
    i32(static_cast<int32_t>(value.size()));
    out += value;
    return *this;
  }
  RecordWriter& boolean(bool value) {
    out += static_cast<char>(value);
    return *this;
  }
};

// Reads zeros and empty texts once there is too little; good() is false then.
class RecordReader {
 public:
  explicit RecordReader(std::string_view bytes) : rest_(bytes) {}
  bool good() const { return good_; }
  std::string_view rest() const { return rest_; }
  std::string_view take(size_t size) {
    good_ = good_ && size <= rest_.size();
    const std::string_view taken = rest_.substr(0, good_ ? size : 0);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  int32_t i32() {
    uint32_t value = 0;
    for (const char byte : take(4)) value = value << 8 | static_cast<unsigned char>(byte);
    return static_cast<int32_t>(value);
  }
  int64_t i64() {
    const auto high = static_cast<uint64_t>(static_cast<uint32_t>(i32()));
    return static_cast<int64_t>(high << 32 | static_cast<uint32_t>(i32()));
  }
  std::string text() {
    const int32_t size = i32();
    return size <= 0 ? "" : std::string(take(static_cast<size_t>(size)));
  }
  bool boolean() { return take(1) == std::string_view("\1", 1); }

 private:
  std::string_view rest_;
  bool good_ = true;
};

}  // namespace zklock::sim
