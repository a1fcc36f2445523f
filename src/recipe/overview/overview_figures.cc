// SPDX-License-Identifier: Apache-2.0
// The figures: which contenders are read, and how the figures are computed.
#include "recipe/overview/overview.h"
#include "zk/path.h"

#include <algorithm>

namespace zklock::recipe {

using zk::Answer;
using zk::Code;

// --- contenders

// Returns the wanted contenders that have not been read.
Overview::Names Overview::take_unread() {
  const std::set<std::string> all = wanted();
  std::erase_if(contenders_, [&](const auto& one) { return !all.contains(one.first); });
  Names unread;
  for (const std::string& path : all) {
    if (contenders_.contains(path)) continue;
    if (unread.size() + kKeptForQueues >= left_) {
      figures_.behind = true;
      break;
    }
    unread.push_back(path);
  }
  left_ -= unread.size();
  return unread;
}

void Overview::take_in_contender(const std::string& path, const Answer& read) {
  contenders_[path] = read;
  const std::string name = zk::name_of(path);
  const auto contender = is_in_slots(zk::parent_of(path)) ? parse_slot(name) : parse_contender(name);
  if (contender && read.code == Code::ok && is_leftover(*contender, read.stat)) note_stranger(path);
}

// Returns the first holder and the first waiter of each line. For slots, the last one is wanted too, because it may
// wait.
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

// Returns what was read of a contender or member; an empty answer if it was not read.
const Answer& Overview::known(const std::string& node) const {
  static const Answer nothing;
  const auto found = contenders_.find(node);
  return found == contenders_.end() ? nothing : found->second;
}

// The next look lists the parent again, without this node in the line, and treats the node as a folder.
void Overview::note_stranger(const std::string& path) {
  const std::string parent = zk::parent_of(path).empty() ? "/" : zk::parent_of(path);
  const auto node = nodes_.find(parent);
  if (node == nodes_.end()) return;  // it is below a queue or a group by now
  node->second.strangers.insert(zk::name_of(path));
  node->second.watch = nullptr;
  figures_.behind = true;
}

// --- figures

void Overview::draw_up() {
  figures_.locks.clear();
  figures_.groups.clear();
  figures_.queues = surveyor_.figures();
  figures_.too_large = false;
  for (const auto& [path, node] : nodes_) {
    figures_.too_large |= node.cut > 0;
    if (node.use == PathUse::group) {
      const int64_t came = known(zk::child_of(path, node.newest)).stat.created_ms;
      figures_.groups.push_back({path, node.members, std::max(came, node.changed_ms)});
    } else if (node.use == PathUse::lock) {
      draw_up_lock(path, node);
    }
  }
}

// Returns the contenders at a node, with what was read of them; none if there is no such node.
std::vector<Participant> Overview::line_at(const std::string& path) const {
  const auto found = nodes_.find(path);
  if (found == nodes_.end()) return {};
  std::vector<Participant> line = participants_of(path, found->second.line);
  for (Participant& one : line) {
    const Answer& read = known(one.node);
    one.data = read.data;
    one.stat = read.stat;
  }
  return line;
}

// Returns the contenders for a lock or for slots, as in a Survey. A part of a semaphore is no lock of its own.
std::vector<Participant> Overview::contenders_at(const std::string& path, const Node& node) const {
  if (is_part(path, node)) return {};
  if (!node.line.empty()) return line_up(line_at(path));
  const auto slots = nodes_.find(zk::child_of(path, kSlots));
  if (slots == nodes_.end() || !slots->second.listed) return {};
  return line_up_for_slots(line_at(slots->first), line_at(zk::child_of(path, kGate)));
}

void Overview::draw_up_lock(const std::string& path, const Node& node) {
  const std::vector<Participant> all = contenders_at(path, node);
  if (all.empty()) return;
  LockFigures figures;
  figures.path = path;
  for (const Participant& one : all) {
    if (!one.holding) {
      if (figures.waiters++ == 0) figures.waited_ms = one.came_ms();
    } else if (figures.holders++ == 0) {
      figures.holder = one.data;
      figures.held_ms = std::max(one.came_ms(), one.node == node.holder ? node.took_over_ms : 0);
    }
  }
  figures_.locks.push_back(std::move(figures));
}

}  // namespace zklock::recipe
