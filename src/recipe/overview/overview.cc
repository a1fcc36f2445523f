// SPDX-License-Identifier: Apache-2.0
// The tree: which nodes there are, and what their children's names say.
#include "recipe/overview/overview.h"

#include "base/text.h"
#include "zk/path.h"

#include <algorithm>
#include <ctime>

namespace zklock::recipe {

namespace {

using zk::Answer;
using zk::Code;
using Names = std::vector<std::string>;

// For the queues, whatever goes on in the rest of the tree.
constexpr size_t kKeptForQueues = 300;

// Of Curator's semaphore: the folder of the slots, and the lock before it.
constexpr const char* kSlots = "leases";
constexpr const char* kGate = "locks";

int64_t now_ms() {
  return static_cast<int64_t>(std::time(nullptr)) * 1000;
}

// All below it begin with that.
std::string prefix_of(const std::string& path) {
  return path == "/" ? path : path + "/";
}

// "a" of "/x/a/b" below "/x/".
std::string child_in(std::string_view path, std::string_view prefix) {
  path.remove_prefix(prefix.size());
  return std::string(path.substr(0, path.find('/')));
}

// The one that came last, as far as names tell.
std::string newest_of(const Names& names) {
  const auto number = [](const std::string& name) {
    const size_t dash = name.rfind('-');
    return dash == std::string::npos ? -1 : parse_number(name.substr(dash + 1)).value_or(-1);
  };
  const auto found = std::ranges::max_element(names, {}, number);
  return found == names.end() ? "" : *found;
}

}  // namespace

bool Overview::look(Deadline until) {
  begin();
  left_ = kRequestsPerLook;
  listed_.clear();
  while (list_some(until)) {
  }
  read_contenders(until);
  if (session_.expired()) return false;
  std::vector<std::string> queues;
  for (const auto& [path, node] : nodes_) {
    if (node.use == PathUse::queue) queues.push_back(path);
  }
  figures_.behind |= !surveyor_.look(queues, left_, until);
  if (session_.expired()) return false;
  draw_up();
  return true;
}

// Watches do not outlive their session.
void Overview::begin() {
  figures_.behind = false;
  if (session_id_ == session_.id()) return;
  session_id_ = session_.id();
  nodes_[root_];
  for (auto& [path, node] : nodes_) {
    node.watch = nullptr;
    node.refused = false;
  }
}

// --- lists

// False when there is nothing left to list, or nothing to do it with.
bool Overview::list_some(Deadline until) {
  const std::map<std::string, zk::Watch> watches = take_stale();
  if (watches.empty()) return false;
  const std::vector<Answer> lists = zk::watch_children_all(session_, watches, until);
  Names paths;
  for (const auto& [path, watch] : watches) paths.push_back(path);
  const std::vector<PathUse> uses = uses_of(session_, paths, lists, until);
  if (session_.expired()) return false;
  for (size_t i = 0; i < paths.size(); ++i) take_in(paths[i], lists[i], uses[i]);
  return true;
}

// Each once in a look, and from where the look before came to an end, so that what changes all the time does not keep
// us from the rest.
std::map<std::string, zk::Watch> Overview::take_stale() {
  std::map<std::string, zk::Watch> watches;
  const auto take = [&](Nodes::iterator begin, Nodes::iterator end) {
    for (auto at = begin; at != end; ++at) {
      auto& [path, node] = *at;
      if (!node.is_stale() || listed_.contains(path)) continue;
      // A list, and the data of what may be a queue or a group.
      if (left_ < kKeptForQueues + 2) {
        figures_.behind = true;
        return;
      }
      left_ -= 2;
      node.watch = std::make_shared<zk::WatchState>();
      watches[path] = node.watch;
      listed_.insert(path);
      last_listed_ = path;
    }
  };
  const auto middle = nodes_.upper_bound(last_listed_);
  take(middle, nodes_.end());
  take(nodes_.begin(), middle);
  return watches;
}

void Overview::take_in(const std::string& path, const Answer& list, PathUse use) {
  const auto found = nodes_.find(path);
  if (found == nodes_.end()) return;  // what it lay in is gone
  Node& node = found->second;
  if (path == root_) figures_.exists = list.code != Code::no_node;
  if (path == root_) figures_.refused = list.code == Code::no_auth;
  if (list.code == Code::no_node) {
    erase_below(path);
    if (path != root_) nodes_.erase(found);
    // No watch was left. The root is asked for at each look.
    if (path == root_) node = Node();
    return;
  }
  node.refused = list.code != Code::ok;
  const bool first = node.use != PathUse::group || !node.listed;
  node.use = use;
  if (use == PathUse::group) take_in_members(node, list.names, first);
  take_in_line(path, node, use == PathUse::lock ? list.names : Names());
  node.listed = true;
  std::set<std::string> below;
  if (use == PathUse::lock && !is_part(path, node)) {
    for (const std::string& name : list.names) {
      const bool counted = !parse_contender(name) || node.strangers.contains(name);
      if (counted && zk::child_of(path, name) != "/zookeeper") below.insert(name);
    }
  }
  keep_below(path, below);
}

void Overview::take_in_line(const std::string& path, Node& node, const Names& names) {
  node.line = line_of(names);
  std::erase_if(node.strangers, [&](const std::string& name) { return std::ranges::find(names, name) == names.end(); });
  std::erase_if(node.line, [&](const Contender& contender) { return node.strangers.contains(contender.name); });
  const std::string holder = node.line.empty() ? "" : zk::child_of(path, node.line.front().name);
  if (holder == node.holder) return;
  // At the first look we do not know since when.
  node.took_over_ms = node.listed ? now_ms() : 0;
  node.holder = holder;
}

void Overview::take_in_members(Node& node, const Names& names, bool first) {
  Names members = names;
  std::erase_if(members, is_lock_name);
  const std::string newest = newest_of(members);
  if (!first && (members.size() != node.members || newest != node.newest)) node.changed_ms = now_ms();
  node.members = members.size();
  node.newest = newest;
}

// Of the nodes directly below `path`: those of other names go, those of these names come.
void Overview::keep_below(const std::string& path, const std::set<std::string>& names) {
  const std::string prefix = prefix_of(path);
  for (auto at = nodes_.lower_bound(prefix); at != nodes_.end() && at->first.starts_with(prefix);) {
    const bool kept = at->first.size() == prefix.size() || names.contains(child_in(at->first, prefix));
    at = kept ? std::next(at) : nodes_.erase(at);
  }
  for (const std::string& name : names) {
    if (nodes_.size() >= kMostNodes && !nodes_.contains(prefix + name)) {
      figures_.too_large = true;
      return;
    }
    nodes_[prefix + name];
  }
}

void Overview::erase_below(const std::string& path) {
  keep_below(path, {});
}

// --- slots

const Overview::Node* Overview::part_of(const std::string& path, const char* name) const {
  const auto found = nodes_.find(zk::child_of(path, name));
  return found == nodes_.end() || !found->second.watch ? nullptr : &found->second;
}

// Of a semaphore. A folder that is merely called so has no line in it.
bool Overview::is_part(const std::string& path, const Node& node) const {
  const std::string name = zk::name_of(path);
  return path != root_ && (name == kSlots || name == kGate) && !node.line.empty();
}

// --- contenders

// Reads those that have not been read.
void Overview::read_contenders(Deadline until) {
  const std::set<std::string> all = wanted();
  std::erase_if(contenders_, [&](const auto& one) { return !all.contains(one.first); });
  Names missing;
  for (const std::string& path : all) {
    if (contenders_.contains(path)) continue;
    if (missing.size() + kKeptForQueues >= left_) {
      figures_.behind = true;
      break;
    }
    missing.push_back(path);
  }
  left_ -= missing.size();
  const std::vector<Answer> answers = zk::read_all(session_, missing, until);
  if (session_.expired()) return;
  for (size_t i = 0; i < missing.size(); ++i) {
    // One that is gone: its parent's watch has fired.
    if (answers[i].code == Code::no_node) continue;
    contenders_[missing[i]] = answers[i];
    const auto contender = parse_contender(zk::name_of(missing[i]));
    // Nobody waits for it, and it never lets go; see Lock.
    const bool stranger = contender && answers[i].code == Code::ok && answers[i].stat.ephemeral_owner == 0;
    if (stranger && contender->family != Family::kazoo) note_stranger(missing[i]);
  }
}

// The first holder, and the first who waits; of slots also the last, which may be one that waits.
std::set<std::string> Overview::wanted() const {
  std::set<std::string> all;
  for (const auto& [path, node] : nodes_) {
    const auto want = [&all, &path = path](const Contender& one) { all.insert(zk::child_of(path, one.name)); };
    if (node.use == PathUse::group && !node.newest.empty()) all.insert(zk::child_of(path, node.newest));
    if (node.line.empty()) continue;
    const size_t holders = count_holders(node.line);
    want(node.line.front());
    if (zk::name_of(path) == kSlots) {
      want(node.line.back());
    } else if (holders < node.line.size()) {
      want(node.line[holders]);
    }
  }
  return all;
}

const Answer& Overview::known(const std::string& path) const {
  static const Answer nothing;
  const auto found = contenders_.find(path);
  return found == contenders_.end() ? nothing : found->second;
}

// From now on a folder like others; the next look has its line without it.
void Overview::note_stranger(const std::string& path) {
  const std::string parent = zk::parent_of(path).empty() ? "/" : zk::parent_of(path);
  Node& node = nodes_[parent];
  node.strangers.insert(zk::name_of(path));
  node.watch = nullptr;
  figures_.behind = true;
}

// --- figures

void Overview::draw_up() {
  figures_.locks.clear();
  figures_.groups.clear();
  figures_.queues = surveyor_.figures();
  for (auto& [path, node] : nodes_) {
    if (node.use == PathUse::group) {
      const int64_t came = node.newest.empty() ? 0 : known(zk::child_of(path, node.newest)).stat.created_ms;
      figures_.groups.push_back({path, node.members, std::max(came, node.changed_ms)});
    } else if (node.use == PathUse::lock) {
      draw_up_slots(path, node);
      draw_up_line(path, node);
    }
  }
}

void Overview::draw_up_line(const std::string& path, Node& node) {
  const std::string name = zk::name_of(path);
  const bool part = is_part(path, node);
  if (node.line.empty() || part) return;
  LockFigures figures;
  figures.path = path;
  figures.holders = count_holders(node.line);
  figures.waiters = node.line.size() - figures.holders;
  const Answer& holder = known(zk::child_of(path, node.line.front().name));
  figures.holder = holder.data;
  figures.held_ms = std::max(holder.stat.created_ms, node.took_over_ms);
  if (figures.waiters > 0) {
    figures.waited_ms = known(zk::child_of(path, node.line[figures.holders].name)).stat.created_ms;
  }
  figures_.locks.push_back(std::move(figures));
}

// Who stands first at the gate has a slot's node already while it waits for its slot; see line_up_for_slots().
void Overview::draw_up_slots(const std::string& path, Node& node) {
  const Node* slots = part_of(path, kSlots);
  const Node* gate = part_of(path, kGate);
  const bool used = (slots && !slots->line.empty()) || (gate && !gate->line.empty());
  if (!used || !node.line.empty()) return;
  LockFigures figures;
  figures.path = path;
  figures.slots = true;
  figures.holders = slots ? slots->line.size() : 0;
  figures.waiters = gate ? gate->line.size() : 0;
  const std::string slots_path = zk::child_of(path, kSlots);
  if (figures.holders > 0) {
    const Answer& holder = known(zk::child_of(slots_path, slots->line.front().name));
    figures.holder = holder.data;
    figures.held_ms = holder.stat.created_ms;
  }
  if (figures.waiters > 0) {
    const zk::Stat& first = known(zk::child_of(zk::child_of(path, kGate), gate->line.front().name)).stat;
    figures.waited_ms = first.created_ms;
    if (figures.holders > 0) {
      const zk::Stat& last = known(zk::child_of(slots_path, slots->line.back().name)).stat;
      const bool pending = last.ephemeral_owner == first.ephemeral_owner && last.created > first.created;
      if (pending) --figures.holders;
    }
  }
  figures_.locks.push_back(std::move(figures));
}

}  // namespace zklock::recipe
