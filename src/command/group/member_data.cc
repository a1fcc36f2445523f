// SPDX-License-Identifier: Apache-2.0
#include "command/group/member_data.h"

#include "base/text.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include <fmt/format.h>

namespace zklock::command {

namespace {

constexpr size_t kMostData = 983040;  // the rest of what the server takes in a request is for the path

std::string too_much() {
  return fmt::format("cannot use the data: it is longer than the {} bytes that a member may have", kMostData);
}

}  // namespace

MemberData::MemberData(const Value& text, Value file) : file_(std::move(file)), bytes_(text.value_or("")) {
  if (text && file_) throw usage_error("give either --data or --data-file, not both");
  if (bytes_.size() > kMostData) throw Failure(ExitStatus::bad_data, too_much());
  const auto trouble = file_ ? read() : std::nullopt;
  if (trouble) throw Failure(*trouble == too_much() ? ExitStatus::bad_data : ExitStatus::usage, *trouble);
}

bool MemberData::can_change() const {
  std::error_code error;
  return file_ && std::filesystem::is_regular_file(*file_, error);
}

std::optional<std::string> MemberData::read_again() {
  std::error_code error;
  const bool replaced = std::filesystem::exists(*file_, error) && !can_change();
  return replaced ? fmt::format("the data file '{}' is no file any more", printable(*file_)) : read();
}

std::optional<std::string> MemberData::read() {
  errno = 0;
  std::ifstream stream(*file_ == "-" ? "/dev/stdin" : *file_, std::ios::binary);
  std::string bytes(kMostData + 1, '\0');
  if (stream.is_open()) stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!stream.is_open() || stream.bad()) {
    return fmt::format("cannot read the data file '{}': {}", printable(*file_), std::strerror(errno));
  }
  bytes.resize(static_cast<size_t>(stream.gcount()));
  if (bytes.size() > kMostData) return too_much();
  bytes_ = std::move(bytes);
  return std::nullopt;
}

}  // namespace zklock::command
