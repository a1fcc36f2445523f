// SPDX-License-Identifier: Apache-2.0
#include "recipe/lock/survey.h"

#include "base/contains.h"
#include "recipe/lock/last_success.h"
#include "zk/path.h"
#include "zk/session.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace zklock::recipe {

namespace {

using zk::Answer;
using zk::Code;
using Participants = std::vector<Participant>;
using Paths = std::vector<std::string>;

constexpr size_t kNodesAtOnce = 500;            // in a tree
constexpr int32_t kLongestSuccess = 64 * 1024;  // zklock writes less
constexpr int32_t kLongestNote = kLongestSuccess;
constexpr int kMostLooks = 10;  // at a lock whose contenders are gone before they are read

// A survey that is under way, and where to look next. Before the Stats are read, `foreign` has what may be foreign by
// its name.
struct Listing : Survey {
  Answer answer;          // the list of its children
  Answer slots_answer{};  // the list of what may be slots
  Participants slots{};   // in the order of their numbers
  Participants gate{};    // of those slots: first come first
  Participants line{};    // of a lock without slots: first come first
  Paths below{};          // where other locks may be; nothing of a queue, and not /zookeeper
  bool unused = false;    // there is an empty folder for slots, and no line
  bool emptied = false;   // there were contenders, and all were gone before they were read

  bool may_have_slots() const { return !slots.empty() || !gate.empty() || unused; }
  std::array<Participants*, 3> lines() { return {&slots, &gate, &line}; }
};

// Names of group members may look like those of a lock's contenders.
Listing listing_of(const std::string& path, const Answer& answer, PathUse use) {
  Listing listing{{.path = path, .use = use, .absent = answer.code == Code::no_node}, answer};
  if (use == PathUse::queue) return listing;
  if (use != PathUse::group) listing.line = participants_of(path, line_of(answer.names));
  for (const std::string& name : answer.names) {
    const std::string child = zk::child_of(path, name);
    if (!parse_contender(name) && child != "/zookeeper") listing.below.push_back(child);
    if (use != PathUse::group && may_be_foreign(name)) {
      listing.foreign.push_back({{name, Family::standard, LockMode::exclusive, 0}, child});
    }
  }
  return listing;
}

// A gate without a folder of slots is a lock that is called "locks".
bool has_slots_folder(const Listing& listing) {
  return listing.use == PathUse::lock && contains(listing.answer.names, "leases");
}

// A folder that is merely called "leases" has no line in it.
void take_for_slots(Listing& listing, const Answer& slots, const Answer& gate) {
  const std::string slots_path = zk::child_of(listing.path, "leases");
  const std::string gate_path = zk::child_of(listing.path, "locks");
  listing.slots_answer = slots;
  listing.slots = participants_of(slots_path, slots_of(slots.names));
  listing.gate = participants_of(gate_path, line_of(gate.names));
  // A path that was used for slots may be a lock without slots now.
  listing.unused = slots.code == Code::ok && slots.names.empty() && listing.line.empty();
  if (!listing.may_have_slots()) return;
  std::erase(listing.below, slots_path);
  std::erase(listing.below, gate_path);
}

void look_for_slots(zk::Session& session, std::vector<Listing>& listings) {
  Paths paths;
  for (const Listing& listing : listings) {
    if (!has_slots_folder(listing)) continue;
    paths.push_back(zk::child_of(listing.path, "leases"));
    paths.push_back(zk::child_of(listing.path, "locks"));
  }
  const std::vector<Answer> answers = children_all(session, paths);
  auto answer = answers.begin();
  for (Listing& listing : listings) {
    if (!has_slots_folder(listing)) continue;
    take_for_slots(listing, answer[0], answer[1]);
    answer += 2;
  }
}

std::vector<Listing> list(zk::Session& session, const Paths& paths) {
  const std::vector<Answer> answers = children_all(session, paths);
  const std::vector<PathUse> uses = uses_of(session, paths, answers);
  std::vector<Listing> listings;
  for (size_t i = 0; i < paths.size(); ++i) listings.push_back(listing_of(paths[i], answers[i], uses[i]));
  look_for_slots(session, listings);
  return listings;
}

// A path that does not exist is no error.
bool is_listed(const Listing& listing) {
  return listing.answer.code == Code::ok || listing.absent;
}

void check_listed(const Listing& listing) {
  if (is_listed(listing)) return;
  throw zk::failure_of(fmt::format("cannot list {}", listing.path), listing.answer);
}

// Slots that we may not list may be held.
void check_slots_listed(const Listing& listing) {
  if (listing.slots_answer.code != Code::no_auth) return;
  throw zk::failure_of(fmt::format("cannot list {}", zk::child_of(listing.path, "leases")), listing.slots_answer);
}

// Returns the contenders and, before their Stats are read, what may be foreign.
std::vector<Participant*> all_in(std::vector<Listing>& listings, bool with_foreign) {
  std::vector<Participant*> all;
  const auto add = [&](Participant& participant) { all.push_back(&participant); };
  for (Listing& listing : listings) {
    for (Participants* line : listing.lines()) std::ranges::for_each(*line, add);
    if (with_foreign) std::ranges::for_each(listing.foreign, add);
  }
  return all;
}

Paths nodes_of(const std::vector<Participant*>& participants) {
  Paths nodes;
  for (const Participant* participant : participants) nodes.push_back(participant->node);
  return nodes;
}

// Moves the leftovers out of `line`.
void take_leftovers(Listing& listing, Participants& line) {
  for (const Participant& participant : line) {
    if (!participant.is_left_over()) continue;
    listing.below.push_back(participant.node);
    listing.leftovers.push_back(participant);
  }
  std::erase_if(line, std::mem_fn(&Participant::is_left_over));
}

// A leftover may be another program's node with much data.
void read_leftovers(zk::Session& session, std::vector<Listing>& listings) {
  std::vector<Participant*> leftovers;
  for (Listing& listing : listings) {
    for (Participant& one : listing.leftovers) {
      if (one.stat.data_length <= kLongestNote) leftovers.push_back(&one);
    }
  }
  const std::vector<Answer> contents = read_all(session, nodes_of(leftovers));
  for (size_t i = 0; i < leftovers.size(); ++i) leftovers[i]->data = contents[i].data;
}

// Reads the Stats first, because a node that only looks like a contender may have much data. Returns those of the nodes
// `marks`, from the same flight.
std::vector<Answer> read_stats(zk::Session& session, std::vector<Listing>& listings, const Paths& marks) {
  const std::vector<Participant*> all = all_in(listings, true);
  Paths nodes = nodes_of(all);
  nodes.insert(nodes.end(), marks.begin(), marks.end());
  std::vector<Answer> stats = stat_all(session, nodes);
  for (size_t i = 0; i < all.size(); ++i) all[i]->stat = stats[i].stat;
  stats.erase(stats.begin(), stats.begin() + std::ssize(all));
  for (Listing& listing : listings) {
    for (Participants* line : listing.lines()) take_leftovers(listing, *line);
    std::erase_if(listing.foreign, [](const Participant& one) { return !is_ephemeral(one.stat); });
    // Slots of which only leftovers are there leave the path to a lock.
    if (listing.use == PathUse::lock && listing.may_have_slots()) listing.use = PathUse::slots;
  }
  return stats;
}

// Reads the data of the contenders, but not of foreign nodes. Returns whether some contenders were gone.
bool read_data(zk::Session& session, std::vector<Listing>& listings) {
  const std::vector<Participant*> all = all_in(listings, false);
  size_t bytes = 0;
  for (const Participant* one : all) bytes += static_cast<size_t>(one->stat.data_length);
  const std::vector<Answer> contents = read_all(session, nodes_of(all), bytes);
  for (size_t i = 0; i < all.size(); ++i) {
    all[i]->data = contents[i].data;
    if (contents[i].code == Code::no_node) all[i]->stat = {};
  }
  bool any_gone = false;
  for (Listing& listing : listings) {
    size_t gone = 0;
    for (Participants* line : listing.lines()) gone += std::erase_if(*line, std::mem_fn(&Participant::is_gone));
    listing.emptied =
        gone > 0 && std::ranges::all_of(listing.lines(), [](const Participants* line) { return line->empty(); });
    any_gone |= gone > 0;
  }
  return any_gone;
}

void read_participants(zk::Session& session, std::vector<Listing>& listings) {
  Paths marks;
  for (const Listing& listing : listings) marks.push_back(listing.path + std::string(kLastSuccess));
  std::vector<Answer> successes = read_stats(session, listings, marks);
  read_leftovers(session, listings);
  // A holder that is gone since may have recorded a success.
  if (read_data(session, listings)) successes = stat_all(session, marks);
  for (size_t i = 0; i < listings.size(); ++i) listings[i].last_success_ms = successes[i].stat.modified_ms;
}

// Returns the surveys, which are no longer in `listings`. A lock that is handed over while it is read was never free.
// So one whose contenders are all gone is listed again.
std::vector<Survey> survey_of(zk::Session& session, std::vector<Listing>& listings) {
  read_participants(session, listings);
  for (int look = 1; look < kMostLooks; ++look) {
    std::vector<Listing*> emptied;
    Paths paths;
    for (Listing& listing : listings) {
      if (!std::exchange(listing.emptied, false)) continue;
      emptied.push_back(&listing);
      paths.push_back(listing.path);
    }
    if (emptied.empty()) break;
    std::vector<Listing> anew = list(session, paths);
    read_participants(session, anew);
    for (size_t i = 0; i < anew.size(); ++i) {
      if (is_listed(anew[i])) *emptied[i] = std::move(anew[i]);
    }
  }
  std::vector<Survey> surveys;
  for (Listing& listing : listings) {
    const bool for_slots = listing.use == PathUse::slots;
    listing.participants = for_slots ? line_up_for_slots(std::move(listing.slots), std::move(listing.gate))
                                     : line_up(std::move(listing.line));
    surveys.push_back(std::move(static_cast<Survey&>(listing)));
  }
  return surveys;
}

bool is_lock(const Listing& listing) {
  return listing.may_have_slots() ? listing.slots_answer.code != Code::no_auth : !listing.line.empty();
}

void go_below(const std::vector<Listing>& listings, Paths& ahead) {
  for (const Listing& listing : listings) ahead.insert(ahead.end(), listing.below.begin(), listing.below.end());
}

// Adds to `locks` the paths that have a node beside them that may record a last success.
void note_successes(const std::vector<Listing>& listings, std::set<std::string>& locks) {
  for (const Listing& listing : listings) {
    const int32_t length = listing.answer.stat.data_length;
    const std::string& path = listing.path;
    if (!path.ends_with(kLastSuccess) || length == 0 || length > kLongestSuccess) continue;
    const std::string lock = path.substr(0, path.size() - kLastSuccess.size());
    if (!zk::path_error(lock)) locks.insert(lock);
  }
}

// Returns those of `paths`, which seemed free, that are locks, each with the success recorded beside it.
std::vector<Survey> survey_free(zk::Session& session, const Paths& paths) {
  std::vector<Listing> listings = list(session, paths);
  std::erase_if(listings, [](const Listing& listing) {
    return listing.use != PathUse::lock || listing.may_have_slots() || !is_listed(listing);
  });
  std::vector<Survey> surveys = survey_of(session, listings);
  Paths marks;
  for (const Survey& survey : surveys) marks.push_back(survey.path + std::string(kLastSuccess));
  const std::vector<Answer> answers = read_all(session, marks);
  for (size_t i = 0; i < surveys.size(); ++i) surveys[i].success = answers[i].data;
  return surveys;
}

bool is_nothing(const Survey& survey) {
  return survey.use == PathUse::lock && survey.participants.empty() && survey.leftovers.empty() &&
         survey.success.empty();
}

// Takes them from the back, so that few are ahead at a time.
Paths take_some(Paths& ahead) {
  const auto taken = ahead.end() - static_cast<ptrdiff_t>(std::min(ahead.size(), kNodesAtOnce));
  Paths some(taken, ahead.end());
  ahead.erase(taken, ahead.end());
  return some;
}

// Makes the first listings, after a sync: our server may not know yet of a lock that was taken or released on another
// one.
std::vector<Listing> list_anew(zk::Session& session, const Paths& paths) {
  for (;;) {
    session.ready();
    const uint64_t connections = session.client().connections();
    const zk::Call sync = session.client().sync("/");
    std::vector<Listing> listings = list(session, paths);
    const Code passed = session.await(sync).code;
    // Some may have been listed by another server.
    if (passed == Code::unknown || connections != session.client().connections()) continue;
    std::ranges::for_each(listings, check_listed);
    return listings;
  }
}

}  // namespace

Participants Survey::holders() const {
  Participants holders;
  std::ranges::copy_if(participants, std::back_inserter(holders), &Participant::holding);
  return holders;
}

void check_is_lock(PathUse use, std::string_view tried) {
  if (use == PathUse::lock || use == PathUse::slots) return;
  const char* what = use == PathUse::queue ? "queue" : "group";
  throw Failure(ExitStatus::bad_data, fmt::format("{}: it is a {}, not a lock; see zklock {} list", tried, what, what));
}

Participants participants_of(const std::string& folder, const std::vector<Contender>& line) {
  Participants participants;
  for (const Contender& contender : line) {
    participants.push_back({contender, zk::child_of(folder, contender.name)});
  }
  return participants;
}

bool may_have_made(const Participant& waiting, const Participant& slot) {
  const int64_t owner = waiting.stat.ephemeral_owner;
  return owner != 0 && owner == slot.stat.ephemeral_owner && waiting.stat.created < slot.stat.created;
}

Participants line_up(Participants line) {
  std::vector<Contender> contenders;
  for (const Participant& participant : line) contenders.push_back(participant.contender);
  const size_t holders = count_holders(contenders);
  for (size_t i = 0; i < holders; ++i) line[i].holding = true;
  return line;
}

Participants line_up_for_slots(Participants slots, Participants gate) {
  for (Participant& slot : slots) slot.holding = true;
  const auto pending = std::find_if(slots.rbegin(), slots.rend(), [&](const Participant& slot) {
    return !gate.empty() && may_have_made(gate.front(), slot);
  });
  if (pending != slots.rend()) {
    pending->holding = false;
    pending->gate_ms = gate.front().stat.created_ms;
    gate.erase(gate.begin());
  }
  std::ranges::move(gate, std::back_inserter(slots));
  return slots;
}

std::vector<Survey> survey_paths(zk::Session& session, const Paths& paths) {
  std::vector<Listing> listings = list_anew(session, paths);
  std::ranges::for_each(listings, check_slots_listed);
  return survey_of(session, listings);
}

std::vector<Survey> survey_trees(zk::Session& session, const Paths& roots) {
  std::vector<Listing> listings = list_anew(session, roots);
  std::vector<Survey> found;
  // Successes of the roots lie beside them, not in their trees.
  std::set<std::string> succeeded(roots.begin(), roots.end());
  succeeded.erase("/");
  for (Paths ahead;;) {
    const auto others = std::partition(listings.begin(), listings.end(), is_lock);
    go_below({others, listings.end()}, ahead);
    listings.erase(others, listings.end());
    std::ranges::move(survey_of(session, listings), std::back_inserter(found));
    // We look below locks only now, because what looked like a contender may have turned out to be a leftover.
    go_below(listings, ahead);
    if (ahead.empty()) break;
    listings = list(session, take_some(ahead));
    for (const Listing& listing : listings) {
      if (listing.answer.code != Code::no_auth) check_listed(listing);
    }
    note_successes(listings, succeeded);
  }
  for (const Survey& survey : found) succeeded.erase(survey.path);
  std::ranges::move(survey_free(session, {succeeded.begin(), succeeded.end()}), std::back_inserter(found));
  std::erase_if(found, is_nothing);
  std::ranges::sort(found, {}, &Survey::path);
  const auto same = [](const Survey& a, const Survey& b) { return a.path == b.path; };
  found.erase(std::unique(found.begin(), found.end(), same), found.end());
  return found;
}

}  // namespace zklock::recipe
