// SPDX-License-Identifier: Apache-2.0
// The tree: which nodes there are, and what their children's names show.
#include "recipe/overview/overview.h"

#include "base/contains.h"
#include "base/text.h"
#include "zk/path.h"

#include <algorithm>
#include <utility>

namespace zklock::recipe {

namespace {

using zk::Answer;
using zk::Code;
using Names = std::vector<std::string>;

constexpr Duration kBetweenRefusals = std::chrono::seconds(30);

// Returns the name of the member that came last, as far as the names show it.
std::string newest_of(const Names& names) {
  const auto number = [](const std::string& name) {
    const size_t dash = name.rfind('-');
    return dash == std::string::npos ? -1 : parse_number(name.substr(dash + 1)).value_or(-1);
  };
  const auto found = std::ranges::max_element(names, {}, number);
  return found == names.end() ? "" : *found;
}

}  // namespace

void Overview::look() {
  begin();
  left_ = kRequestsPerLook;
  listed_.clear();
  unmarked_.clear();
  while (ask_some()) {
  }
  // If such a node is gone, its parent's watch has fired. One may come again under its name.
  std::erase_if(contenders_, [](const auto& one) { return one.second.code == Code::no_node; });
  std::vector<std::string> queues;
  for (const auto& [path, node] : nodes_) {
    if (node.use == PathUse::queue) queues.push_back(path);
  }
  figures_.behind |= !surveyor_.look(queues, left_);
  session_.check_alive();  // if nothing is stale, nothing was asked
  draw_up();
}

// Watches end with their session. If there is room again, what was left out is listed: for each place one node's
// children, because another one's may fill it.
void Overview::begin() {
  figures_.behind = false;
  bytes_ = 0;
  for (const auto& [path, node] : nodes_) bytes_ += bytes_of(path);
  size_t more = 0;
  size_t more_bytes = 0;
  for (auto& [path, node] : nodes_) {
    const bool room = nodes_.size() + more < kMostNodes && bytes_ + more_bytes + node.cut <= kMostPathBytes;
    if (node.cut == 0 || !room) continue;
    node.watch = nullptr;
    ++more;
    more_bytes += node.cut;
  }
  if (session_id_ == session_.id()) return;
  session_id_ = session_.id();
  nodes_[root_];
  for (auto& [path, node] : nodes_) {
    node.watch = nullptr;
    node.followed = node.refused = false;
  }
}

// --- lists

// Asks in one flight for lists, for the data of what the last flight has listed, and for contenders that it has shown.
// Returns false if there is nothing left to ask, or no questions are left.
bool Overview::ask_some() {
  const std::map<std::string, zk::Watch> watches = take_stale();
  const std::map<std::string, Answer> unmarked = std::exchange(unmarked_, {});
  const Names unread = take_unread();
  std::vector<zk::Session::Send> requests;
  const auto read = [&](const std::string& path) {
    requests.emplace_back([&path](zk::Client& client) { return client.read(path); });
  };
  for (const auto& entry : watches) {
    requests.emplace_back([&entry](zk::Client& client) { return client.children(entry.first, entry.second); });
  }
  for (const auto& [path, list] : unmarked) read(path);
  for (const std::string& path : unread) read(path);
  const std::vector<Answer> answers = zk::answer_all(session_, requests);
  auto answer = answers.begin();
  for (const auto& [path, watch] : watches) take_list(path, *answer++);
  for (const auto& [path, list] : unmarked) take_in(path, list, use_of(list, *answer++));
  for (const std::string& path : unread) take_in_contender(path, *answer++);
  return !requests.empty();
}

void Overview::take_list(const std::string& path, const Answer& list) {
  if (may_have_mark(list)) {
    unmarked_[path] = list;
  } else {
    take_in(path, list, PathUse::lock);
  }
}

// A look lists each node once and begins where the last look stopped. So nodes that change all the time do not keep it
// from the others.
std::map<std::string, zk::Watch> Overview::take_stale() {
  std::map<std::string, zk::Watch> watches;
  const auto take = [&](Nodes::iterator begin, Nodes::iterator end) {
    for (auto at = begin; at != end; ++at) {
      auto& [path, node] = *at;
      if (!node.is_stale() || listed_.contains(path)) continue;
      // A list costs a question, and so does the data of a node that may be a queue or a group.
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
  if (found == nodes_.end()) return;  // a node above it is gone
  Node& node = found->second;
  if (path == root_) figures_.exists = list.code != Code::no_node;
  const bool answered = list.code == Code::ok || list.code == Code::no_node;
  if (path == root_) figures_.refusal = answered ? Answer() : list;
  if (list.code == Code::no_node) {
    keep_below(path, {});
    if (path != root_) nodes_.erase(found);
    // The request has left no watch. The root is listed in each look.
    if (path == root_) node = Node();
    return;
  }
  node.refused = list.code != Code::ok;
  node.again_at = deadline_in(kBetweenRefusals);
  const bool first = node.use != PathUse::group || !node.followed;
  node.use = use;
  if (use == PathUse::group) take_in_members(node, list, first);
  take_in_line(path, node, use == PathUse::lock ? list.names : Names());
  node.listed = node.followed = true;
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
  const std::vector<Contender> before = std::move(node.line);
  node.line = is_in_slots(path) ? slots_of(names) : line_of(names);
  std::erase_if(node.strangers, [&](const std::string& name) { return !contains(names, name); });
  std::erase_if(node.line, [&](const Contender& contender) { return node.strangers.contains(contender.name); });
  const std::string holder = node.line.empty() ? "" : zk::child_of(path, node.line.front().name);
  if (holder == node.holder) return;
  // At the first list, we do not know since when, and one of several holders has held it before.
  const auto held = before.begin() + static_cast<std::ptrdiff_t>(count_holders(before));
  const bool held_before =
      std::any_of(before.begin(), held, [&](const Contender& one) { return zk::child_of(path, one.name) == holder; });
  if (!held_before) node.took_over_ms = node.followed ? now_ms() : 0;
  node.holder = holder;
}

void Overview::take_in_members(Node& node, const Answer& list, bool first) {
  Names members = list.names;
  std::erase_if(members, is_lock_name);
  // Members with names of their own may come and go without a trace in the names.
  if (!first && list.stat.child_changed != node.child_changed) node.changed_ms = now_ms();
  node.child_changed = list.stat.child_changed;
  node.members = members.size();
  node.newest = newest_of(members);
}

// Adjusts the nodes directly below `path`: those with other names go, those with these names come.
void Overview::keep_below(const std::string& path, const std::set<std::string>& names) {
  const std::string prefix = zk::child_of(path, "");
  for (auto at = nodes_.lower_bound(prefix); at != nodes_.end() && at->first.starts_with(prefix);) {
    const std::string below = at->first.substr(prefix.size());
    const bool kept = below.empty() || names.contains(below.substr(0, below.find('/')));
    at = kept ? std::next(at) : nodes_.erase(at);
  }
  Node& parent = nodes_[path];
  parent.cut = 0;
  for (const std::string& name : names) {
    const std::string child = prefix + name;
    if (nodes_.contains(child)) continue;
    const bool room = nodes_.size() < kMostNodes && bytes_ + bytes_of(child) <= kMostPathBytes;
    if (!room) {
      parent.cut = bytes_of(child);
      break;
    }
    bytes_ += bytes_of(child);
    nodes_[child];
  }
}

// A watch is sent with the chroot and its length.
size_t Overview::bytes_of(const std::string& path) const {
  return session_.options().servers.chroot.size() + path.size() + sizeof(int32_t);
}

bool Overview::is_in_slots(const std::string& path) const {
  return path != root_ && zk::name_of(path) == kSlots;
}

// True for a part of a semaphore. A folder that merely has such a name has no line in it, or no slots beside it.
bool Overview::is_part(const std::string& path, const Node& node) const {
  const std::string name = zk::name_of(path);
  const bool gate = name == kGate && nodes_.contains(zk::child_of(zk::parent_of(path), kSlots));
  return path != root_ && (name == kSlots || gate) && !node.line.empty();
}

}  // namespace zklock::recipe
