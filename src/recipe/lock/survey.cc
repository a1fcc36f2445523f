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
constexpr size_t kNamedAtOnce = 250;            // four questions about each
constexpr size_t kFew = 100;                    // nodes that are read at once, whatever data they have
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
  bool dated = false;     // `last_success_ms` was asked for behind the lists
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

// The gate is listed first, so a contender that goes through it meanwhile is in at least one of the two lists.
void look_for_slots(zk::Session& session, std::vector<Listing>& listings) {
  Paths paths;
  for (const Listing& listing : listings) {
    if (!has_slots_folder(listing)) continue;
    paths.push_back(zk::child_of(listing.path, "locks"));
    paths.push_back(zk::child_of(listing.path, "leases"));
  }
  const std::vector<Answer> answers = children_all(session, paths);
  auto answer = answers.begin();
  for (Listing& listing : listings) {
    if (!has_slots_folder(listing)) continue;
    take_for_slots(listing, answer[1], answer[0]);
    answer += 2;
  }
}

std::string mark_of_success(const std::string& lock) {
  return lock + std::string(kLastSuccess);
}

// Asks all that may be of interest in one flight, behind a sync: our server may not know yet of a lock that was taken
// or released on another one. The order is that in which a lock changes hands: a contender that leaves the gate has a
// slot, and one that is gone has recorded its success before.
std::vector<Listing> list_some_named(zk::Session& session, const Paths& paths) {
  std::vector<zk::Session::Send> questions{[](zk::Client& client) { return client.sync("/"); }};
  for (const std::string& path : paths) {
    for (const std::string& folder : {path, zk::child_of(path, "locks"), zk::child_of(path, "leases")}) {
      questions.emplace_back([folder](zk::Client& client) { return client.children(folder); });
    }
    questions.emplace_back([&path](zk::Client& client) { return client.exists(mark_of_success(path)); });
  }
  const std::vector<Answer> answers = zk::ask_together(session, questions);
  std::vector<Answer> lists;
  for (size_t i = 0; i < paths.size(); ++i) lists.push_back(answers[1 + 4 * i]);
  const std::vector<PathUse> uses = uses_of(session, paths, lists);
  std::vector<Listing> listings;
  for (size_t i = 0; i < paths.size(); ++i) {
    Listing& listing = listings.emplace_back(listing_of(paths[i], lists[i], uses[i]));
    if (has_slots_folder(listing)) take_for_slots(listing, answers[3 + 4 * i], answers[2 + 4 * i]);
    listing.last_success_ms = answers[4 + 4 * i].stat.modified_ms;
    listing.dated = true;
  }
  return listings;
}

// Lists what probably is a lock.
std::vector<Listing> list_named(zk::Session& session, const Paths& paths) {
  std::vector<Listing> listings;
  for (auto next = paths.begin(); next != paths.end();) {
    const auto end = next + std::min<ptrdiff_t>(paths.end() - next, kNamedAtOnce);
    std::ranges::move(list_some_named(session, {next, end}), std::back_inserter(listings));
    next = end;
  }
  return listings;
}

// Lists what probably is none.
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

std::vector<Participant*> contenders_in(std::vector<Listing>& listings) {
  std::vector<Participant*> all;
  for (Listing& listing : listings) {
    for (Participants* line : listing.lines()) {
      for (Participant& participant : *line) all.push_back(&participant);
    }
  }
  return all;
}

// Before their Stats are read, these are all that may be foreign.
std::vector<Participant*> foreign_in(std::vector<Listing>& listings) {
  std::vector<Participant*> all;
  for (Listing& listing : listings) {
    for (Participant& participant : listing.foreign) all.push_back(&participant);
  }
  return all;
}

Paths nodes_of(const std::vector<Participant*>& participants) {
  Paths nodes;
  for (const Participant* participant : participants) nodes.push_back(participant->node);
  return nodes;
}

// Reads the first `contenders` of the nodes, and the Stats of the others. One that may not be read has a Stat, too.
std::vector<Answer> read_few(zk::Session& session, const Paths& nodes, size_t contenders) {
  std::vector<zk::Session::Send> questions;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const std::string& node = nodes[i];
    questions.emplace_back([&node, has_data = i < contenders](zk::Client& client) {
      return has_data ? client.read(node) : client.exists(node);
    });
  }
  std::vector<Answer> answers = zk::ask_together(session, questions);
  Paths hidden;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (answers[i].code == Code::no_auth) hidden.push_back(nodes[i]);
  }
  const std::vector<Answer> stats = stat_all(session, hidden);
  auto stat = stats.begin();
  for (Answer& answer : answers) {
    if (answer.code == Code::no_auth) answer = *stat++;
  }
  return answers;
}

// Moves the leftovers out of `line`. One may be another program's node with much data.
void take_leftovers(Listing& listing, Participants& line) {
  for (Participant& participant : line) {
    if (!participant.is_left_over()) continue;
    if (participant.stat.data_length > kLongestNote) participant.data.clear();
    listing.below.push_back(participant.node);
    listing.leftovers.push_back(participant);
  }
  std::erase_if(line, std::mem_fn(&Participant::is_left_over));
}

// Reads the Stats of the contenders and of what may be foreign; if `with_data`, also the contenders' data. Returns the
// Stats of the nodes `marks`, which come last in the same flight.
std::vector<Answer> read_stats(zk::Session& session, std::vector<Listing>& listings, const Paths& marks,
                               bool with_data) {
  std::vector<Participant*> all = contenders_in(listings);
  const size_t contenders = all.size();
  std::ranges::copy(foreign_in(listings), std::back_inserter(all));
  Paths nodes = nodes_of(all);
  nodes.insert(nodes.end(), marks.begin(), marks.end());
  std::vector<Answer> answers = with_data ? read_few(session, nodes, contenders) : stat_all(session, nodes);
  for (size_t i = 0; i < all.size(); ++i) {
    all[i]->stat = answers[i].stat;
    all[i]->data = std::move(answers[i].data);
  }
  answers.erase(answers.begin(), answers.begin() + std::ssize(all));
  for (Listing& listing : listings) {
    for (Participants* line : listing.lines()) take_leftovers(listing, *line);
    std::erase_if(listing.foreign, [](const Participant& one) { return !is_ephemeral(one.stat); });
    // Slots of which only leftovers are there leave the path to a lock.
    if (listing.use == PathUse::lock && listing.may_have_slots()) listing.use = PathUse::slots;
  }
  return answers;
}

// Reads the data of the contenders, and of leftovers with little of it, but not of foreign nodes.
void read_data(zk::Session& session, std::vector<Listing>& listings) {
  std::vector<Participant*> all = contenders_in(listings);
  for (Listing& listing : listings) {
    for (Participant& one : listing.leftovers) {
      if (one.stat.data_length <= kLongestNote) all.push_back(&one);
    }
  }
  size_t bytes = 0;
  for (const Participant* one : all) bytes += static_cast<size_t>(one->stat.data_length);
  const std::vector<Answer> contents = read_all(session, nodes_of(all), bytes);
  for (size_t i = 0; i < all.size(); ++i) {
    all[i]->data = contents[i].data;
    if (contents[i].code == Code::no_node) all[i]->stat = {};
  }
}

// Returns whether some contenders were gone before they were read.
bool drop_gone(std::vector<Listing>& listings) {
  bool any_gone = false;
  for (Listing& listing : listings) {
    std::erase_if(listing.leftovers, std::mem_fn(&Participant::is_gone));
    size_t gone = 0;
    for (Participants* line : listing.lines()) gone += std::erase_if(*line, std::mem_fn(&Participant::is_gone));
    listing.emptied =
        gone > 0 && std::ranges::all_of(listing.lines(), [](const Participants* line) { return line->empty(); });
    any_gone |= gone > 0;
  }
  return any_gone;
}

bool are_few(std::vector<Listing>& listings) {
  return contenders_in(listings).size() + foreign_in(listings).size() <= kFew;
}

void read_participants(zk::Session& session, std::vector<Listing>& listings) {
  Paths marks;
  for (const Listing& listing : listings) marks.push_back(mark_of_success(listing.path));
  const bool dated = std::ranges::all_of(listings, &Listing::dated);
  // Of many, the Stats come first, because nodes that only look like contenders may have much data.
  const bool few = are_few(listings);
  std::vector<Answer> successes = read_stats(session, listings, dated ? Paths() : marks, few);
  if (!few) read_data(session, listings);
  // A holder that is gone since may have recorded a success.
  if (drop_gone(listings)) successes = stat_all(session, marks);
  for (size_t i = 0; i < successes.size(); ++i) listings[i].last_success_ms = successes[i].stat.modified_ms;
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
    std::vector<Listing> anew = list_named(session, paths);
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
  for (const Survey& survey : surveys) marks.push_back(mark_of_success(survey.path));
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

std::vector<Survey> survey_paths(zk::Session& session, const Paths& paths, bool last) {
  std::vector<Listing> listings = list_named(session, paths);
  std::ranges::for_each(listings, check_listed);
  std::ranges::for_each(listings, check_slots_listed);
  if (last && are_few(listings)) session.set_last();
  return survey_of(session, listings);
}

std::vector<Survey> survey_trees(zk::Session& session, const Paths& roots) {
  std::vector<Listing> listings = list_named(session, roots);
  std::ranges::for_each(listings, check_listed);
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
