// SPDX-License-Identifier: Apache-2.0
#include "recipe/use.h"

#include "base/text.h"
#include "recipe/group/group.h"
#include "recipe/queue/layout.h"
#include "zk/batch.h"
#include "zk/path.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace zklock::recipe {

namespace {

// The root first: of a chroot, that may be a queue too.
std::vector<std::string> above(const std::string& path) {
  std::vector<std::string> paths;
  for (std::string parent = zk::parent_of(path); !parent.empty(); parent = zk::parent_of(parent)) {
    paths.push_back(parent);
  }
  paths.emplace_back("/");
  std::reverse(paths.begin(), paths.end());
  return paths;
}

void check_contenders(const std::string& path, std::string_view tried) {
  for (std::string node = path; !node.empty(); node = zk::parent_of(node)) {
    const std::string name = zk::name_of(node);
    if (!is_lock_name(name)) continue;
    throw Failure(
        ExitStatus::bad_data,
        fmt::format("{}: '{}' is the name of a contender for a lock; choose another path", tried, printable(name)));
  }
}

}  // namespace

void check_site(zk::Session& session, const std::string& path, std::string_view tried, Deadline until) {
  check_contenders(path, tried);
  const std::vector<std::string> paths = above(path);
  const std::vector<zk::Answer> nodes = zk::read_all(session, paths, until);
  for (size_t i = 0; i < paths.size(); ++i) {
    if (nodes[i].code != zk::Code::ok || !nodes[i].data.starts_with(kAnyQueueFormat)) continue;
    throw Failure(
        ExitStatus::bad_data,
        fmt::format("{}: {} is a queue (zklock queue), and what lies below it is its own; choose another path", tried,
                    printable(paths[i])));
  }
}

void check_names(zk::Session& session, const std::string& path, std::string_view tried, Deadline until) {
  check_contenders(path, tried);
  const auto parts = split(path, '/');
  const bool like_queue = std::any_of(parts.begin(), parts.end(), [](std::string_view part) {
    const QueueLayout root;
    const std::string name = fmt::format("/{}", part);
    return name == root.items() || name == root.dead() || name == root.pushing() || name == root.waiting();
  });
  if (like_queue) check_site(session, path, tried, until);
}

}  // namespace zklock::recipe
