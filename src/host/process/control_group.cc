// SPDX-License-Identifier: Apache-2.0
#include "host/process/control_group.h"

#include "base/text.h"
#include "base/time.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <linux/magic.h>
#include <optional>
#include <poll.h>
#include <string_view>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

namespace zklock::host {

namespace {

constexpr std::string_view kName = "zklock-";
constexpr int kMostRounds = 50;    // of removing, because living members may fork
constexpr int kBetweenRounds = 2;  // ms; a member that was reaped may stay in the group for a moment

// Returns the path of the caller's group, from the root of the hierarchy as the caller's namespace sees it.
std::string own_path() {
  const std::string groups = content_of(open_to_read("/proc/self/cgroup"));
  for (const std::string_view line : split(groups, '\n')) {
    if (line.starts_with("0::/")) return std::string(line.substr(3));
  }
  return "";
}

// Returns the folder of `path` in a mount, a line ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [FIELD…] - TYPE …. Returns
// nothing if the mount is of another type, does not contain `path`, or has a blank in its name.
std::optional<std::string> folder_in(std::string_view mount, std::string_view path) {
  if (mount.find(" - cgroup2 ") == std::string_view::npos) return std::nullopt;
  const auto fields = split(mount, ' ');
  std::string_view root = fields[3];
  if (root == "/") root = "";
  const bool has_it = path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/');
  if (!has_it || fields[4].find('\\') != std::string_view::npos) return std::nullopt;
  path.remove_prefix(root.size());
  return fmt::format("{}{}", fields[4], path == "/" ? "" : path);
}

bool is_control_group(const std::string& folder) {
  struct statfs about {};
  return statfs(folder.c_str(), &about) == 0 && about.f_type == CGROUP2_SUPER_MAGIC;
}

std::string folder_above(const std::string& folder) {
  return folder.substr(0, folder.rfind('/'));
}

bool is_ours(const std::string& folder) {
  return std::string_view(folder).substr(folder.rfind('/') + 1).starts_with(kName);
}

// Returns false if the group itself had no members.
bool move_members_up(const std::string& folder) {
  const Fd above(open((folder_above(folder) + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
  const std::string members = content_of(open_to_read(folder + "/cgroup.procs"));
  for (const std::string_view pid : split(members, '\n')) {
    if (above && !pid.empty()) static_cast<void>(!write(above.get(), pid.data(), pid.size()));
  }
  return !members.empty();
}

bool has_groups_below(const std::string& folder) {
  struct stat about {};
  return stat(folder.c_str(), &about) == 0 && about.st_nlink > 2;
}

// Returns the kernel's number of our PID namespace, in which a maker's pid counts.
std::string own_namespace() {
  struct stat about {};
  return stat("/proc/self/ns/pid", &about) == 0 ? fmt::format("-{:x}", about.st_ino) : "";
}

// Removes groups left by a guard that was killed together with its zklock. A group that has members stays. So does one
// whose maker we cannot see, because it is in another PID namespace.
void remove_stale(const std::string& above) {
  const std::string known = own_namespace();
  for (const std::string& name : names_in(opendir(above.c_str())).value_or(std::vector<std::string>())) {
    const bool visible = name.starts_with(kName) && !known.empty() && name.ends_with(known);
    const pid_t maker = visible ? std::atoi(name.c_str() + kName.size()) : 0;
    if (maker <= 0 || ::kill(maker, 0) == 0 || errno != ESRCH) continue;
    const std::string stale = fmt::format("{}/{}", above, name);
    remove_stale(stale);
    rmdir(stale.c_str());
  }
}

}  // namespace

std::string ControlGroup::new_folder() {
  const std::string path = own_path();
  if (path.empty()) return "";
  const std::string mounts = content_of(open_to_read("/proc/self/mountinfo"));
  for (const std::string_view mount : split(mounts, '\n')) {
    const auto folder = folder_in(mount, path);
    if (!folder || !is_control_group(*folder)) continue;
    return fmt::format("{}/{}{}-{:x}{}", *folder, kName, getpid(), BootClock::now().time_since_epoch().count(),
                       own_namespace());
  }
  return "";
}

bool ControlGroup::make() {
  if (folder_.empty() || mkdir(folder_.c_str(), 0755) != 0) {
    folder_.clear();
    return false;
  }
  opened_ = Fd(open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened_) kill_ = Fd(openat(opened_.get(), "cgroup.kill", O_WRONLY | O_CLOEXEC));
  if (!kill_) remove();
  if (kill_) remove_stale(folder_above(folder_));
  return static_cast<bool>(kill_);
}

void ControlGroup::kill() {
  if (folder_.empty()) return;
  if (!kill_) kill_ = Fd(open((folder_ + "/cgroup.kill").c_str(), O_WRONLY | O_CLOEXEC));
  if (kill_) static_cast<void>(!write(kill_.get(), "1", 1));
  close_for_spawning();
}

void ControlGroup::remove() {
  opened_ = Fd();
  kill_ = Fd();
  if (folder_.empty()) return;
  for (int round = 0; rmdir(folder_.c_str()) != 0 && errno == EBUSY && round < kMostRounds; ++round) {
    if (round > 0) ::poll(nullptr, 0, kBetweenRounds);
    if (!move_members_up(folder_) && has_groups_below(folder_)) break;
  }
  // The group above may be an ended zklock's that ran us, which could not remove it because of ours.
  const std::string above = folder_above(folder_);
  if (is_ours(above)) rmdir(above.c_str());
  folder_.clear();
}

}  // namespace zklock::host
