// SPDX-License-Identifier: Apache-2.0
#include "command/group/member_data.h"

#include "base/text.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

namespace zklock::command {

namespace {

constexpr size_t kLargest = 983040;  // of what the server takes in a request; the rest is for the path

std::string too_much() {
  return fmt::format("cannot use the data: it is longer than the {} bytes that a member may have", kLargest);
}

// At most one byte more than is good; nothing if it cannot be read.
std::optional<std::string> content_of(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  std::string bytes(kLargest + 1, '\0');
  if (file.is_open()) file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.is_open() || file.bad()) return std::nullopt;
  bytes.resize(static_cast<size_t>(file.gcount()));
  return bytes;
}

}  // namespace

MemberData::MemberData(const Value& text, const Value& file) : file_(file), bytes_(text.value_or("")) {
  if (text && file) throw usage_error("give either --data or --data-file, not both");
  if (bytes_.size() > kLargest) throw Failure(ExitStatus::bad_data, too_much());
  if (!file_) return;
  const auto trouble = read_again();
  if (!trouble) return;
  throw Failure(*trouble == too_much() ? ExitStatus::bad_data : ExitStatus::usage, *trouble);
}

bool MemberData::can_change() const {
  std::error_code error;
  return file_ && std::filesystem::is_regular_file(*file_, error);
}

std::optional<std::string> MemberData::read_again() {
  errno = 0;
  auto bytes = content_of(*file_);
  if (!bytes) return fmt::format("cannot read the data file '{}': {}", printable(*file_), std::strerror(errno));
  if (bytes->size() > kLargest) return too_much();
  bytes_ = std::move(*bytes);
  return std::nullopt;
}

}  // namespace zklock::command
