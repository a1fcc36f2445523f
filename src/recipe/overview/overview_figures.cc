// SPDX-License-Identifier: Apache-2.0
// The figures: which contenders are read, and how the figures are computed.
#include "recipe/overview/overview.h"
#include "zk/path.h"

#include <algorithm>

namespace zklock::recipe {

using zk::Answer;
using zk::Code;

const Overview::Node* Overview::part_of(const std::string& path, const char* name) const {
  const auto found = nodes_.find(zk::child_of(path, name));
  return found == nodes_.end() || !found->second.listed ? nullptr : &found->second;
}

// --- contenders

// Reads the wanted contenders that have not been read.
void Overview::read_contenders() {
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
  const std::vector<Answer> answers = zk::read_all(session_, missing);
  for (size_t i = 0; i < missing.size(); ++i) {
    // The node is gone, and its parent's watch has fired.
    if (answers[i].code == Code::no_node) continue;
    contenders_[missing[i]] = answers[i];
    const std::string name = zk::name_of(missing[i]);
    const auto contender = is_in_slots(zk::parent_of(missing[i])) ? parse_slot(name) : parse_contender(name);
    if (contender && answers[i].code == Code::ok && is_leftover(*contender, answers[i].stat)) note_stranger(missing[i]);
  }
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
const Answer& Overview::known(const std::string& parent, const std::string& name) const {
  static const Answer nothing;
  const auto found = contenders_.find(zk::child_of(parent, name));
  return found == contenders_.end() ? nothing : found->second;
}

// The next look lists the parent again, without this node in the line, and treats the node as a folder.
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
  figures_.too_large = false;
  for (const auto& [path, node] : nodes_) {
    figures_.too_large |= node.cut > 0;
    if (node.use == PathUse::group) {
      const int64_t came = known(path, node.newest).stat.created_ms;
      figures_.groups.push_back({path, node.members, std::max(came, node.changed_ms)});
    } else if (node.use == PathUse::lock) {
      draw_up_slots(path, node);
      draw_up_line(path, node);
    }
  }
}

void Overview::draw_up_line(const std::string& path, const Node& node) {
  if (node.line.empty() || is_part(path, node)) return;
  LockFigures figures;
  figures.path = path;
  figures.holders = count_holders(node.line);
  figures.waiters = node.line.size() - figures.holders;
  const Answer& holder = known(path, node.line.front().name);
  figures.holder = holder.data;
  figures.held_ms = std::max(holder.stat.created_ms, node.took_over_ms);
  if (figures.waiters > 0) {
    figures.waited_ms = known(path, node.line[figures.holders].name).stat.created_ms;
  }
  figures_.locks.push_back(std::move(figures));
}

// The first at the gate has a slot's node already while it waits for its slot; see line_up_for_slots().
void Overview::draw_up_slots(const std::string& path, const Node& node) {
  const Node* slots = part_of(path, kSlots);
  if (!slots || !node.line.empty()) return;
  const Node* gate = part_of(path, kGate);
  LockFigures figures;
  figures.path = path;
  figures.holders = slots->line.size();
  figures.waiters = gate ? gate->line.size() : 0;
  if (figures.holders + figures.waiters == 0) return;
  const std::string slots_path = zk::child_of(path, kSlots);
  if (figures.holders > 0) {
    const Answer& holder = known(slots_path, slots->line.front().name);
    figures.holder = holder.data;
    figures.held_ms = holder.stat.created_ms;
  }
  if (figures.waiters > 0) {
    const zk::Stat& first = known(zk::child_of(path, kGate), gate->line.front().name).stat;
    figures.waited_ms = first.created_ms;
    if (figures.holders > 0) {
      const zk::Stat& last = known(slots_path, slots->line.back().name).stat;
      const bool pending = last.ephemeral_owner == first.ephemeral_owner && last.created > first.created;
      if (pending) --figures.holders;
    }
  }
  figures_.locks.push_back(std::move(figures));
}

}  // namespace zklock::recipe
