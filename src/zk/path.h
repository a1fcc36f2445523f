// SPDX-License-Identifier: Apache-2.0
// Paths of znodes. Every path is checked before anything is sent: the C library aborts on some that the server would
// merely refuse.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace zklock::zk {

// What is wrong with `path` as the path of a znode below the root, in words and with what would be right; nothing if
// it is good. The rules are those of the server's PathUtils, and its own tree (/zookeeper) is nobody else's.
std::optional<std::string> path_error(std::string_view path);

// Throws a Failure (64) for a bad path.
void check_path(std::string_view path);

// The same where nothing is written: the root and the server's own tree are good too.
void check_path_to_read(std::string_view path);

// "/a/b" of "/a/b/c", "" of "/a".
std::string parent_of(std::string_view path);

// "c" of "/a/b/c".
std::string name_of(std::string_view path);

// "/a/b" of "/a" and "b", "/b" of "/" and "b".
std::string child_of(std::string_view path, std::string_view name);

}  // namespace zklock::zk
