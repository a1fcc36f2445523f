// SPDX-License-Identifier: Apache-2.0
// Cuts a stream of bytes into items. Holds what is not taken yet and at most one item that is not complete.
#pragma once

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

  void feed(const std::string& bytes);
  void end() { ended_ = true; }

  // The next item that is complete. None any more from one that is too large on.
  std::optional<std::string> next();

  // All was taken that can be had without more bytes, and their end was told.
  bool is_empty() const;

  // The first item that is too large, once its end was seen; counted from 1.
  struct Oversize {
    int64_t number;
    size_t size;
  };
  const std::optional<Oversize>& oversize() const { return oversize_; }

 private:
  std::optional<size_t> find_end();
  std::optional<std::string> cut(size_t end);

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
