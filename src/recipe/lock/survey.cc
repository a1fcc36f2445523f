// SPDX-License-Identifier: Apache-2.0
#include "recipe/lock/survey.h"

#include "recipe/lock/last_success.h"
#include "zk/batch.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace zklock::recipe {

namespace {

using zk::Answer;
using zk::Code;
using Participants = std::vector<Participant>;
using Paths = std::vector<std::string>;

constexpr size_t kNodesAtOnce = 500;  // of a tree

std::vector<Participant*> all_in(std::vector<Listing>& listings) {
  std::vector<Participant*> all;
  for (Listing& listing : listings) {
    for (Participant& participant : listing.leases) all.push_back(&participant);
    for (Participant& participant : listing.line) all.push_back(&participant);
  }
  return all;
}

Paths nodes_of(const std::vector<Participant*>& participants) {
  Paths nodes;
  for (const Participant* participant : participants) nodes.push_back(participant->node);
  return nodes;
}

bool is_gone(const Participant& participant) {
  return participant.stat.created == 0;
}

// Nobody waits for it, and it never lets go; see Lock.
bool is_no_contender(const Participant& participant) {
  return participant.stat.ephemeral_owner == 0 && participant.contender.family != Family::kazoo;
}

// The Stat first: of a node that only looks like a contender the data may be large.
void read_participants(zk::Session& session, std::vector<Listing>& listings, Deadline until) {
  std::vector<Participant*> all = all_in(listings);
  const std::vector<Answer> stats = stat_all(session, nodes_of(all), until);
  for (size_t i = 0; i < all.size(); ++i) all[i]->stat = stats[i].stat;
  for (Listing& listing : listings) {
    for (const Participant& participant : listing.line) {
      if (!is_gone(participant) && is_no_contender(participant)) listing.below.push_back(participant.node);
    }
    std::erase_if(listing.leases, is_no_contender);
    std::erase_if(listing.line, is_no_contender);
  }
  all = all_in(listings);
  const std::vector<Answer> contents = read_all(session, nodes_of(all), until);
  for (size_t i = 0; i < all.size(); ++i) {
    all[i]->data = contents[i].data;
    if (contents[i].code == Code::no_node) all[i]->stat = {};
  }
  for (Listing& listing : listings) {
    std::erase_if(listing.leases, is_gone);
    std::erase_if(listing.line, is_gone);
  }
}

Participants line_up(Participants line) {
  std::vector<Contender> contenders;
  for (const Participant& participant : line) contenders.push_back(participant.contender);
  const size_t holders = count_holders(contenders);
  for (size_t i = 0; i < holders; ++i) line[i].holding = true;
  return line;
}

std::vector<Survey> survey_of(zk::Session& session, std::vector<Listing>& listings, Deadline until) {
  read_participants(session, listings, until);
  Paths marks;
  for (const Listing& listing : listings) marks.push_back(listing.path + std::string(kLastSuccess));
  const std::vector<Answer> successes = stat_all(session, marks, until);
  // Then the answers were none, and nothing of it is known.
  if (session.expired())
    throw Failure(ExitStatus::unavailable, "cannot read the locks: the session expired; run it again");
  std::vector<Survey> surveys;
  for (Listing& listing : listings) {
    Participants participants = listing.use == Use::slots
                                    ? line_up_for_slots(std::move(listing.leases), std::move(listing.line))
                                    : line_up(std::move(listing.line));
    const int64_t last_success_ms = successes[surveys.size()].stat.modified_ms;
    const auto state = listing.answer.code == Code::no_node ? Survey::State::absent : Survey::State::there;
    surveys.push_back({listing.path, listing.use, std::move(participants), last_success_ms, state});
  }
  return surveys;
}

bool is_lock(const Listing& listing) {
  if (listing.use == Use::slots) return listing.leases_answer.code != Code::no_auth;
  return !listing.line.empty();
}

void go_below(const std::vector<Listing>& listings, Paths& ahead) {
  for (const Listing& listing : listings) ahead.insert(ahead.end(), listing.below.begin(), listing.below.end());
}

// From the back, so that few are ahead at a time.
Paths take_some(Paths& ahead) {
  const auto taken = ahead.end() - static_cast<ptrdiff_t>(std::min(ahead.size(), kNodesAtOnce));
  Paths some(taken, ahead.end());
  ahead.erase(taken, ahead.end());
  return some;
}

// Else the server that we are on may not know yet of a lock that was taken or given back through another one.
void catch_up(zk::Session& session, Deadline until) {
  for (auto code = Code::unknown; code == Code::unknown;) {
    session.ready(until);
    code = session.await(session.client().sync("/"), until).code;
  }
}

}  // namespace

Participants Survey::holders() const {
  Participants holders;
  std::copy_if(participants.begin(), participants.end(), std::back_inserter(holders),
               [](const Participant& participant) { return participant.holding; });
  return holders;
}

void check_is_lock(const Survey& survey, std::string_view tried) {
  if (survey.use == Use::lock || survey.use == Use::slots) return;
  throw Failure(ExitStatus::bad_data, survey.use == Use::queue
                                          ? fmt::format("{}: it is a queue, not a lock; see zklock queue list", tried)
                                          : fmt::format("{}: it is a group, not a lock; see zklock group list", tried));
}

Participants line_up_for_slots(Participants leases, Participants gate) {
  for (Participant& lease : leases) lease.holding = true;
  if (!gate.empty()) {
    const auto& first = gate.front().stat;
    const auto pending = std::find_if(leases.rbegin(), leases.rend(), [&](const Participant& lease) {
      return lease.stat.ephemeral_owner == first.ephemeral_owner;
    });
    if (pending != leases.rend() && pending->stat.created > first.created) {
      pending->holding = false;
      gate.erase(gate.begin());
    }
  }
  std::move(gate.begin(), gate.end(), std::back_inserter(leases));
  return leases;
}

std::vector<Survey> survey_paths(zk::Session& session, const Paths& paths, Deadline until) {
  catch_up(session, until);
  std::vector<Listing> listings = list(session, paths, until);
  std::for_each(listings.begin(), listings.end(), check_listed);
  std::for_each(listings.begin(), listings.end(), check_leases);
  return survey_of(session, listings, until);
}

std::vector<Survey> survey_trees(zk::Session& session, const Paths& roots, Deadline until) {
  catch_up(session, until);
  std::vector<Listing> listings = list(session, roots, until);
  std::for_each(listings.begin(), listings.end(), check_listed);
  std::vector<Survey> found;
  for (Paths ahead;;) {
    const auto others = std::partition(listings.begin(), listings.end(), is_lock);
    go_below({others, listings.end()}, ahead);
    listings.erase(others, listings.end());
    std::ranges::move(survey_of(session, listings, until), std::back_inserter(found));
    // Of a lock only now: what looked like a contender may have turned out to be none.
    go_below(listings, ahead);
    if (ahead.empty()) break;
    listings = list(session, take_some(ahead), until);
    for (const Listing& listing : listings) {
      if (listing.answer.code != Code::no_auth) check_listed(listing);
    }
  }
  std::erase_if(found, [](const Survey& survey) { return survey.use == Use::lock && survey.participants.empty(); });
  std::ranges::sort(found, {}, &Survey::path);
  const auto same = [](const Survey& a, const Survey& b) { return a.path == b.path; };
  found.erase(std::unique(found.begin(), found.end(), same), found.end());
  return found;
}

}  // namespace zklock::recipe
