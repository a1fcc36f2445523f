// SPDX-License-Identifier: Apache-2.0
// Paths of znodes. Every path is checked before anything is sent, because the C library aborts on some paths that the
// server would merely refuse.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::zk {

// Returns what is wrong with `path` for a znode below the root, and what would be right; no value if it is good. The
// rules are those of the server's PathUtils, a limit on its length, and that /zookeeper belongs to the server.
std::optional<std::string> path_error(std::string_view path);

// Throws a Failure (64) for a bad path.
void check_path(std::string_view path);

// The same for a path that is only read: the root and the server's own tree are good too.
void check_path_to_read(std::string_view path);

// Returns "/a/b" for "/a/b/c", "" for "/a".
std::string parent_of(std::string_view path);

// Returns "c" for "/a/b/c".
std::string name_of(std::string_view path);

// Returns "/a/b" for "/a" and "b", "/b" for "/" and "b".
std::string child_of(std::string_view path, std::string_view name);

// Returns child_of() for each of the names.
std::vector<std::string> paths_below(std::string_view path, const std::vector<std::string>& names);

}  // namespace zklock::zk
