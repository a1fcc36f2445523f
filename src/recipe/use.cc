// SPDX-License-Identifier: Apache-2.0
#include "recipe/use.h"

#include "base/contains.h"
#include "base/text.h"
#include "recipe/line.h"
#include "zk/path.h"
#include "zk/session.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

namespace zklock::recipe {

namespace {

using zk::Answer;
using zk::Code;
using Paths = std::vector<std::string>;

// Marks of all versions begin like this.
constexpr std::string_view kAnyQueue = "zklock queue ";
constexpr std::string_view kAnyGroup = "zklock group ";

constexpr std::array<std::string_view, 5> kFoldersOfQueue{"items", "dead", "pushing", "waiting", "awaited"};

std::string_view words_of(PathUse use) {
  switch (use) {
    case PathUse::lock: return "as a lock";
    case PathUse::slots: return "for slots";
    case PathUse::queue: return "as a queue";
    case PathUse::group: return "as a group";
  }
  return "";
}

// Returns the message for each misuse.
Failure in_use(std::string_view tried, std::string_view how, PathUse wanted,
               std::string_view advice = "choose another") {
  return {ExitStatus::bad_data,
          fmt::format("{}: the path is in use {}, not {}; {}", tried, how, words_of(wanted), advice)};
}

// Leftovers neither hold nor wait.
bool is_used(zk::Session& session, const std::string& path, const std::vector<Contender>& line) {
  return !line.empty() && leftovers_in(session, path, line).size() < line.size();
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

Site site_in(zk::Session& session, const Paths& paths, const std::vector<Answer>& nodes) {
  size_t there = paths.size();
  while (there > 0 && nodes[there - 1].code != Code::ok && nodes[there - 1].code != Code::no_auth) --there;
  if (there == 0) return {};
  Site site{paths[there - 1], nodes[there - 1].stat, Paths(paths.begin() + static_cast<ptrdiff_t>(there), paths.end())};
  if (nodes[there - 1].code == Code::ok) return site;
  const Answer anchor = session.exists(site.anchor);
  site.stat = anchor.stat;
  return anchor.code == Code::ok ? site : Site();
}

}  // namespace

PathMark mark_of(std::string_view data) {
  if (data == kQueueFormat) return PathMark::queue;
  if (data == kTaggedQueue) return PathMark::tagged_queue;
  if (data == kLeavingQueue) return PathMark::leaving_queue;
  if (data.starts_with(kAnyQueue)) return PathMark::newer_queue;
  if (data == kKeptGroup) return PathMark::kept_group;
  if (data == kPassingGroup) return PathMark::passing_group;
  return data.starts_with(kAnyGroup) ? PathMark::newer_group : PathMark::none;
}

bool is_queue(PathMark mark) {
  return mark == PathMark::queue || mark == PathMark::tagged_queue || mark == PathMark::leaving_queue ||
         mark == PathMark::newer_queue;
}

// Some servers give containers this owner.
bool is_ephemeral(const zk::Stat& stat) {
  return stat.ephemeral_owner != 0 && stat.ephemeral_owner != std::numeric_limits<int64_t>::min();
}

bool is_leftover(const Contender& contender, const zk::Stat& stat) {
  return contender.family != Family::kazoo && !is_ephemeral(stat);
}

std::set<std::string> leftovers_in(zk::Session& session, const std::string& path, const std::vector<Contender>& line) {
  Paths nodes;
  for (const Contender& contender : line) nodes.push_back(zk::child_of(path, contender.name));
  const std::vector<Answer> stats = zk::stat_all(session, nodes);
  std::set<std::string> leftovers;
  for (size_t i = 0; i < line.size(); ++i) {
    if (stats[i].code == Code::ok && is_leftover(line[i], stats[i].stat)) leftovers.insert(line[i].name);
  }
  return leftovers;
}

void check_no_foreign(zk::Session& session, const std::string& path, const Paths& names,
                      std::set<std::string>& harmless, std::string_view tried) {
  Paths nodes;
  for (const std::string& name : names) {
    if (may_be_foreign(name) && !harmless.contains(name)) nodes.push_back(zk::child_of(path, name));
  }
  const std::vector<Answer> stats = zk::stat_all(session, nodes);
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (stats[i].code != Code::ok) continue;
    if (is_ephemeral(stats[i].stat)) throw Failure(ExitStatus::bad_data, foreign_text(tried, nodes[i]));
    harmless.insert(zk::name_of(nodes[i]));
  }
}

std::string foreign_text(std::string_view tried, const std::string& node) {
  const std::string name = zk::name_of(node);
  const std::string_view maker = maker_of(name);
  return fmt::format("{}: '{}' belongs to {}; choose another path", tried, printable(name),
                     maker.empty() ? "a program that zklock does not know, and which may not wait for us"
                                   : fmt::format("{}, which would not wait for us", maker));
}

bool may_be_group(const zk::Stat& stat) {
  const auto length = static_cast<size_t>(stat.data_length);
  return length == kKeptGroup.size() || length == kPassingGroup.size();
}

std::optional<std::string> other_use(const Paths& names) {
  for (const std::string& name : names) {
    if (name == "leases") return "for slots (zklock run --slots)";
    if (is_lock_name(name)) return "as a lock (zklock run)";
  }
  return std::nullopt;
}

// Other programs may have a child called "items", too. A node that may not be read may be a queue.
bool may_have_mark(const Answer& list) {
  const bool may_be_leaving = static_cast<size_t>(list.stat.data_length) == kLeavingQueue.size();
  return contains(list.names, "items") || may_be_leaving || may_be_group(list.stat);
}

PathUse use_of(const Answer& list, const Answer& read) {
  const PathMark mark = mark_of(read.data);
  if (mark == PathMark::leaving_queue) return PathUse::queue;
  if (contains(list.names, "items") && (read.code == Code::no_auth || is_queue(mark))) return PathUse::queue;
  const bool is_group = mark != PathMark::none && !is_queue(mark);
  return is_group && may_be_group(list.stat) ? PathUse::group : PathUse::lock;
}

std::vector<PathUse> uses_of(zk::Session& session, const Paths& paths, const std::vector<Answer>& lists) {
  Paths likely;
  for (size_t i = 0; i < paths.size(); ++i) {
    if (may_have_mark(lists[i])) likely.push_back(paths[i]);
  }
  const std::vector<Answer> marks = zk::read_all(session, likely);
  std::vector<PathUse> uses;
  auto mark = marks.begin();
  for (const Answer& list : lists) uses.push_back(may_have_mark(list) ? use_of(list, *mark++) : PathUse::lock);
  return uses;
}

// A path for slots keeps the folder `leases` when no slot is taken, so the slots are listed too.
void check_use(zk::Session& session, const std::string& path, const Answer& list, PathUse wanted,
               std::string_view tried) {
  const PathUse use = may_have_mark(list) ? use_of(list, session.read(path)) : PathUse::lock;
  if (use != PathUse::lock) throw in_use(tried, words_of(use), wanted);
  if (wanted == PathUse::slots && is_used(session, path, line_of(list.names))) {
    throw in_use(tried, "as a lock of one", wanted, "leave out --slots or choose another");
  }
  if (wanted != PathUse::lock || !contains(list.names, "leases")) return;
  const std::string slots = zk::child_of(path, "leases");
  const Answer held = session.children(slots);
  if (held.code == Code::no_auth) throw zk::failure_of(fmt::format("{}: cannot list {}", tried, slots), held);
  if (is_used(session, slots, slots_of(held.names))) {
    throw in_use(tried, "for slots", wanted, "use --slots or another path");
  }
}

void check_mark(PathMark mark, PathUse wanted, std::string_view tried) {
  const bool queue = wanted == PathUse::queue;
  if (mark == (queue ? PathMark::newer_queue : PathMark::newer_group)) {
    throw Failure(ExitStatus::bad_data,
                  fmt::format("{}: the {} was made by another version of zklock, which keeps it differently", tried,
                              queue ? "queue" : "group"));
  }
  if (!queue && is_queue(mark)) throw in_use(tried, "as a queue (zklock queue)", wanted);
  if (queue && mark == PathMark::leaving_queue) {
    throw Failure(
        ExitStatus::bad_data,
        fmt::format("{}: the queue is being deleted; if that was interrupted, zklock queue delete goes on", tried));
  }
  if (queue && mark != PathMark::queue && mark != PathMark::tagged_queue) {
    throw Failure(
        ExitStatus::bad_data,
        fmt::format("{}: the path is in use, but not as a queue; choose another, or delete it if nobody needs it",
                    tried));
  }
}

void check_names_of_group(const Paths& names, std::string_view tried) {
  if (const auto use = other_use(names)) throw in_use(tried, *use, PathUse::group);
}

// The list begins with the root, because that of a chroot may be a queue too.
Paths nodes_above(const std::string& path) {
  Paths paths;
  for (std::string parent = zk::parent_of(path); !parent.empty(); parent = zk::parent_of(parent)) {
    paths.push_back(parent);
  }
  paths.emplace_back("/");
  std::ranges::reverse(paths);
  return paths;
}

Site check_site(zk::Session& session, const std::string& path, std::string_view tried) {
  return check_site(session, path, zk::read_all(session, nodes_above(path)), tried);
}

Site check_site(zk::Session& session, const std::string& path, const std::vector<Answer>& above,
                std::string_view tried) {
  check_contenders(path, tried);
  const Paths paths = nodes_above(path);
  for (size_t i = 0; i < paths.size(); ++i) {
    if (above[i].code != Code::ok || !is_queue(mark_of(above[i].data))) continue;
    throw Failure(
        ExitStatus::bad_data,
        fmt::format("{}: {} is a queue (zklock queue), and what lies below it is its own; choose another path", tried,
                    printable(paths[i])));
  }
  return site_in(session, paths, above);
}

void check_site_by_name(zk::Session& session, const std::string& path, std::string_view tried) {
  check_contenders(path, tried);
  const auto of_queue = [](std::string_view part) { return contains(kFoldersOfQueue, part); };
  if (std::ranges::any_of(split(path, '/'), of_queue)) check_site(session, path, tried);
}

}  // namespace zklock::recipe
