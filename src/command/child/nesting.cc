// SPDX-License-Identifier: Apache-2.0
#include "command/child/nesting.h"

#include "base/text.h"
#include "command/child/note.h"
#include "command/cli/options.h"
#include "host/process/mark.h"
#include "host/process/tree.h"
#include "zk/path.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace zklock::command {

namespace {

std::vector<std::string> lines_of(const char* variable) {
  const std::string value = environment(variable);
  const auto lines = split(value, '\n');
  return {lines.begin(), lines.end()};
}

// Returns the lock in whose line, or among whose slots, `node` is; "" if there is none.
std::string lock_of(const std::string& node, int64_t slots) {
  const std::string parent = zk::parent_of(node);
  if (slots == 0) return parent;
  return zk::name_of(parent) == "leases" ? zk::parent_of(parent) : "";
}

// A line of ZKLOCK_OUTER: "TOKEN NODE", and after a tab the servers if they differ from ZKLOCK_SERVERS.
struct OuterLine {
  std::string token;
  std::string node;
  std::string servers = environment("ZKLOCK_SERVERS");
};

std::vector<OuterLine> outer_lines() {
  std::vector<OuterLine> all;
  for (const std::string& line : lines_of("ZKLOCK_OUTER")) {
    const size_t space = line.find(' ');
    const size_t tab = std::min(line.find('\t'), line.size());
    if (space >= tab) continue;
    OuterLine& one = all.emplace_back(OuterLine{line.substr(0, space), line.substr(space + 1, tab - space - 1)});
    if (tab < line.size()) one.servers = line.substr(tab + 1);
  }
  return all;
}

// Returns the path by which `servers` see `node`, which is on those of `list`; nothing if `list` names other servers.
// If `list` is empty, returns `node` as it is.
std::optional<std::string> node_on(const zk::ServerList& servers, const std::string& list, const std::string& node) {
  if (list.empty()) return node;
  return servers.path_here(zk::ServerList::parse(list, "ZKLOCK_SERVERS", servers.tls), node);
}

// Returns the path below `chroot` of `node`, which is below the chroot that the list `servers` ends with; `node` itself
// if the list is empty, or it is not below `chroot`. Whether the servers are the same shows by the token.
std::string path_below(const std::string& chroot, std::string_view servers, const std::string& node) {
  if (servers.empty()) return node;
  const size_t scheme = servers.find("://");
  if (scheme != std::string_view::npos) servers.remove_prefix(scheme + 3);
  while (servers.ends_with('/')) servers.remove_suffix(1);
  const std::string full = std::string(servers.substr(std::min(servers.find('/'), servers.size()))) + node;
  const std::string here = full.starts_with(chroot + "/") ? full.substr(chroot.size()) : node;
  return zk::path_error(here) ? node : here;
}

// Reads a node into `answer`. Returns the note on it; nothing if it has none, or is not the one with this token.
std::optional<Note> read_note(zk::Session& session, const std::string& node, int64_t token, zk::Answer& answer) {
  answer = session.read(node);
  if (answer.code == zk::Code::no_auth) throw zk::failure_of(fmt::format("cannot read {}", node), answer);
  const bool is_same = answer.code == zk::Code::ok && answer.stat.created == token;
  return is_same ? parse_note(answer.data) : std::nullopt;
}

bool is_among(const std::vector<recipe::Held>& held, const std::string& node) {
  return std::ranges::find(held, node, &recipe::Held::node) != held.end();
}

}  // namespace

std::vector<std::string> held_nodes(const zk::ServerList& servers) {
  const std::vector<std::string> innermost = lines_of("ZKLOCK_NODE");
  // Other clients may create nodes of claims and members with the same name again, so these prove nothing.
  const auto is_of_lock = [](const std::string& node) { return recipe::is_lock_name(zk::name_of(node)); };
  if (!std::ranges::all_of(innermost, is_of_lock)) {
    throw usage_error("--fenced is for a command of zklock run, whose lock stands in ZKLOCK_NODE");
  }
  std::vector<std::string> nodes;
  // A node counts even if the lists have no server in common: they may mean the same servers, and --fenced means this
  // lock.
  for (const std::string& node : innermost) {
    nodes.push_back(node_on(servers, environment("ZKLOCK_SERVERS"), node).value_or(node));
  }
  for (const OuterLine& line : outer_lines()) {
    const auto here = is_of_lock(line.node) ? node_on(servers, line.servers, line.node) : std::nullopt;
    if (here) nodes.push_back(*here);
  }
  for (const std::string& node : nodes) {
    if (const auto error = zk::path_error(node)) {
      throw usage_error(fmt::format("bad path '{}' in ZKLOCK_NODE: {}", printable(node), *error));
    }
  }
  return nodes;
}

Nesting::Nesting(const std::vector<std::string>& paths, const std::string& chroot, int64_t slots) {
  const auto nodes = lines_of("ZKLOCK_NODE");
  const auto tokens = lines_of("ZKLOCK_TOKEN");
  std::vector<OuterLine> lines;
  for (size_t i = 0; i < nodes.size() && i < tokens.size(); ++i) lines.push_back({tokens[i], nodes[i]});
  std::ranges::move(outer_lines(), std::back_inserter(lines));
  for (const OuterLine& line : lines) {
    const auto number = parse_number(line.token);
    // The C library aborts on a bad path.
    if (!number || zk::path_error(line.node)) continue;
    outers_.push_back({line.node, path_below(chroot, line.servers, line.node), *number, line.servers, {}, {}});
    Outer& outer = outers_.back();
    if (std::ranges::find(paths, lock_of(outer.here, slots)) == paths.end()) continue;
    outer.mark = host::mark_nested(outer.token);
    if (!outer.mark) throw host::system_error("cannot tell the zklock that runs us that we use its lock");
  }
}

std::optional<recipe::Held> Nesting::find_outer(zk::Session& session, const std::string& path, recipe::LockType type,
                                                int64_t slots) {
  for (const Outer& outer : outers_) {
    // Without a mark, the holder would not wait for us.
    if (!outer.mark || lock_of(outer.here, slots) != path) continue;
    const std::string name = zk::name_of(outer.here);
    const auto contender = slots == 0 ? recipe::parse_contender(name) : recipe::parse_slot(name);
    zk::Answer answer;
    const auto note = read_note(session, outer.here, outer.token, answer);
    if (!contender || !note) continue;
    const auto pid = static_cast<pid_t>(note->pid);
    if (note->host != host_name() || !host::is_ancestor(pid)) {
      unseen_ = fmt::format("pid {} on {}", note->pid, printable(note->host));
      continue;
    }
    if (!is_open(session, outer, pid)) continue;
    if (slots == 0 && type.with_kazoo && contender->family == recipe::Family::kazoo) {
      throw usage_error(
          fmt::format("cannot take {}: the zklock that runs us (pid {}) holds it with --peer kazoo, and we would wait "
                      "for ourselves: give --peer kazoo-extra there",
                      path, note->pid));
    }
    // With another family or number of slots we take the lock in the usual way, which reports what is wrong.
    if (slots == 0 ? contender->family != type.family : note->slots != slots) continue;
    if (slots == 0 && type.mode == recipe::LockMode::exclusive && contender->mode == recipe::LockMode::shared) {
      throw usage_error(
          fmt::format("cannot take {}: the zklock that runs us (pid {}) holds it shared, and we would "
                      "wait for ourselves: give --exclusive there",
                      path, note->pid));
    }
    return recipe::Held{path, outer.here, answer.stat.ephemeral_owner, answer.stat.created, answer.stat.created_ms, {}};
  }
  return std::nullopt;
}

// The holder may have closed and wait for a zklock between it and us, which uses this lock or another one of its locks.
// That zklock waits for us only if we have a mark for the lock that it uses.
bool Nesting::is_open(zk::Session& session, const Outer& outer, pid_t holder) {
  if (host::is_open_for_nesting(holder, outer.token)) return true;
  for (Outer& one : outers_) {
    host::Fd mark = host::mark_nested(one.token);
    if (!mark || !host::is_used_below(holder, one.token)) continue;
    zk::Answer answer;
    const auto note = read_note(session, one.here, one.token, answer);
    if (!note || note->pid != holder || note->host != host_name()) continue;
    one.between = std::move(mark);
    return true;
  }
  return false;
}

std::optional<std::string> outer_variable(const std::string& servers) {
  return Nesting({}, "", 0).variable({}, servers);
}

void Nesting::settle(const std::vector<recipe::Held>& held) {
  const auto is_held = [&](const Outer& outer) { return is_among(held, outer.here); };
  const bool nested = std::ranges::any_of(outers_, is_held);
  for (Outer& outer : outers_) {
    if (!is_held(outer)) outer.mark = host::Fd();
    if (!nested) outer.between = host::Fd();
  }
}

std::vector<int64_t> Nesting::tokens() const {
  std::vector<int64_t> tokens;
  for (const Outer& outer : outers_) {
    if (outer.mark || outer.between) tokens.push_back(outer.token);
  }
  return tokens;
}

std::optional<std::string> Nesting::variable(const std::vector<recipe::Held>& held, const std::string& servers) const {
  std::string text;
  for (const Outer& outer : outers_) {
    if (is_among(held, outer.here)) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : "\n", outer.token, outer.node);
    if (!outer.servers.empty() && outer.servers != servers) text += '\t' + outer.servers;
  }
  if (text.empty()) return std::nullopt;
  return "ZKLOCK_OUTER=" + text;
}

}  // namespace zklock::command
