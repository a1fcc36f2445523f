// SPDX-License-Identifier: Apache-2.0
#include "recipe/lock/listing.h"

#include "recipe/group/layout.h"
#include "recipe/queue/nodes.h"
#include "zk/batch.h"
#include "zk/path.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace zklock::recipe {

namespace {

using zk::Answer;
using zk::Code;
using Participants = std::vector<Participant>;
using Paths = std::vector<std::string>;

bool has(const Answer& list, std::string_view name) {
  return std::find(list.names.begin(), list.names.end(), name) != list.names.end();
}

Participants line_below(const std::string& path, const Paths& names) {
  Participants line;
  for (const Contender& contender : line_of(names)) {
    line.push_back({contender, zk::child_of(path, contender.name), {}, {}, false});
  }
  return line;
}

Listing listing_of(const std::string& path, const Answer& answer, bool queue) {
  if (queue) return {path, answer, {}, Use::queue, {}, {}, {}};
  Listing listing{path, answer, {}, Use::lock, {}, line_below(path, answer.names), {}};
  for (const std::string& name : answer.names) {
    const std::string child = zk::child_of(path, name);
    if (!parse_contender(name) && child != "/zookeeper") listing.below.push_back(child);
  }
  return listing;
}

// Others may have a child called "items", too.
std::set<std::string> queues_among(zk::Session& session, const Paths& paths, const std::vector<Answer>& lists,
                                   Deadline until) {
  Paths likely;
  for (size_t i = 0; i < paths.size(); ++i) {
    if (has(lists[i], "items")) likely.push_back(paths[i]);
  }
  const std::vector<Answer> marks = read_all(session, likely, until);
  std::set<std::string> queues;
  for (size_t i = 0; i < likely.size(); ++i) {
    if (is_mark_of_queue(marks[i])) queues.insert(likely[i]);
  }
  return queues;
}

// A folder that is merely called "locks" or "leases" has no line in it.
void take_for_slots(Listing& listing, const Answer& leases, const Answer& gate) {
  const std::string leases_path = zk::child_of(listing.path, "leases");
  const std::string gate_path = zk::child_of(listing.path, "locks");
  listing.leases_answer = leases;
  listing.leases = line_below(leases_path, leases.names);
  Participants line = line_below(gate_path, gate.names);
  const bool unused = leases.code == Code::ok && leases.names.empty();
  if (listing.leases.empty() && line.empty() && !unused) return;
  listing.use = Use::slots;
  listing.line = std::move(line);
  std::erase(listing.below, leases_path);
  std::erase(listing.below, gate_path);
}

void look_for_slots(zk::Session& session, std::vector<Listing>& listings, Deadline until) {
  std::vector<Listing*> likely;
  Paths paths;
  for (Listing& listing : listings) {
    if (listing.use != Use::lock || (!has(listing.answer, "leases") && !has(listing.answer, "locks"))) continue;
    likely.push_back(&listing);
    paths.push_back(zk::child_of(listing.path, "leases"));
    paths.push_back(zk::child_of(listing.path, "locks"));
  }
  const std::vector<Answer> answers = children_all(session, paths, until);
  for (size_t i = 0; i < likely.size(); ++i) take_for_slots(*likely[i], answers[2 * i], answers[2 * i + 1]);
}

// Members' names look like contenders' of a lock.
void look_for_groups(zk::Session& session, std::vector<Listing>& listings, Deadline until) {
  std::vector<Listing*> likely;
  Paths paths;
  for (Listing& listing : listings) {
    if (listing.use == Use::queue || !may_be_group(listing.answer.stat)) continue;
    likely.push_back(&listing);
    paths.push_back(listing.path);
  }
  const std::vector<Answer> answers = read_all(session, paths, until);
  for (size_t i = 0; i < likely.size(); ++i) {
    if (!is_group(group_mark_of(answers[i].data))) continue;
    likely[i]->use = Use::group;
    likely[i]->line.clear();
  }
}

}  // namespace

std::vector<Listing> list(zk::Session& session, const Paths& paths, Deadline until) {
  const std::vector<Answer> answers = children_all(session, paths, until);
  const std::set<std::string> queues = queues_among(session, paths, answers, until);
  std::vector<Listing> listings;
  for (size_t i = 0; i < paths.size(); ++i) {
    listings.push_back(listing_of(paths[i], answers[i], queues.contains(paths[i])));
  }
  look_for_groups(session, listings, until);
  look_for_slots(session, listings, until);
  return listings;
}

void check_listed(const Listing& listing) {
  const Code code = listing.answer.code;
  if (code == Code::ok || code == Code::no_node) return;
  throw zk::failure_of(fmt::format("cannot list {}", listing.path), listing.answer);
}

void check_leases(const Listing& listing) {
  if (listing.leases_answer.code != Code::no_auth) return;
  throw zk::failure_of(fmt::format("cannot list {}", zk::child_of(listing.path, "leases")), listing.leases_answer);
}

}  // namespace zklock::recipe
