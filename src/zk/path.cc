// SPDX-License-Identifier: Apache-2.0
#include "zk/path.h"

#include "base/failure.h"
#include "base/text.h"

#include <algorithm>

#include <fmt/format.h>

namespace zklock::zk {

namespace {

// The command gets the path in its environment, where the kernel limits a string to 128 KiB.
constexpr size_t kLongestPath = 16384;

bool is_refused_by_server(char32_t character) {
  const bool private_use = character >= 0xe000 && character <= 0xf8ff;
  // This includes all characters beyond U+FFFF: to Java they are surrogates.
  return private_use || character >= 0xfff0;
}

std::optional<std::string> form_error(std::string_view path) {
  if (path.empty()) return "the path is empty; write an absolute one like /locks/job";
  if (path[0] != '/') return "a path begins with /, as in /locks/job";
  if (path.find("//") != std::string_view::npos) return "a name is empty (//)";
  if (path.size() > kLongestPath) return fmt::format("it is longer than {} bytes", kLongestPath);
  if (path.back() == '/') return "a path does not end with /";
  const auto characters = decode_utf8(path);
  if (!characters) return "it is not UTF-8";
  if (std::ranges::any_of(*characters, is_control)) return "it has a control character";
  if (std::ranges::any_of(*characters, is_refused_by_server)) {
    return "it has a character that ZooKeeper refuses";
  }
  for (const std::string_view name : split(path.substr(1), '/')) {
    if (name == "." || name == "..") return fmt::format("relative names ({}) are not allowed", name);
  }
  return std::nullopt;
}

void check(std::string_view path, const std::optional<std::string>& error) {
  if (error) throw Failure(ExitStatus::usage, fmt::format("bad path '{}': {}", printable(path), *error));
}

}  // namespace

std::optional<std::string> path_error(std::string_view path) {
  if (path == "/") return "the root cannot be used; write a path like /locks/job";
  if (path == "/zookeeper" || path.starts_with("/zookeeper/")) return "/zookeeper belongs to the server";
  return form_error(path);
}

void check_path(std::string_view path) {
  check(path, path_error(path));
}

void check_path_to_read(std::string_view path) {
  check(path, path == "/" ? std::nullopt : form_error(path));
}

std::string parent_of(std::string_view path) {
  return std::string(path.substr(0, path.rfind('/')));
}

std::string name_of(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

std::string child_of(std::string_view path, std::string_view name) {
  return fmt::format("{}/{}", path == "/" ? "" : path, name);
}

std::vector<std::string> paths_below(std::string_view path, const std::vector<std::string>& names) {
  std::vector<std::string> paths;
  for (const std::string& name : names) paths.push_back(child_of(path, name));
  return paths;
}

}  // namespace zklock::zk
