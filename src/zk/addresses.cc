// SPDX-License-Identifier: Apache-2.0
#include "zk/addresses.h"

#include <algorithm>
#include <utility>

namespace zklock::zk {

void Addresses::replace(const std::vector<Server>& servers) {
  const std::vector<Entry> before = std::exchange(all_, {});
  const std::string current = before.empty() ? "" : before[current_].text;
  for (const Server& server : servers) {
    const std::string text = to_string(server);
    const std::string& name = server.name.empty() ? server.host : server.name;
    if (Entry* known = find(text)) {
      known->names.push_back(name);
      continue;
    }
    Entry& added = all_.emplace_back(Entry{server, text, {name}});
    const auto old = std::ranges::find(before, text, &Entry::text);
    if (old == before.end()) continue;
    added.failed = old->failed;
    added.refuses = old->refuses;
  }
  const auto kept = std::ranges::find(all_, current, &Entry::text);
  current_ = kept == all_.end() ? 0 : static_cast<size_t>(kept - all_.begin());
  if (all_[current_].failed) advance();
}

bool Addresses::contains(const std::string& address) const {
  return std::ranges::find(all_, address, &Entry::text) != all_.end();
}

Addresses::Entry* Addresses::find(const std::string& address) {
  const auto found = std::ranges::find(all_, address, &Entry::text);
  return found == all_.end() ? nullptr : &*found;
}

void Addresses::note_failure(const std::string& address, bool lasting) {
  if (Entry* known = find(address)) {
    known->failed = true;
    known->refuses = lasting;
  }
  if (all_[current_].failed) advance();
}

void Addresses::note_answer() {
  rounds_ = 0;
  for (Entry& entry : all_) entry.failed = entry.refuses = false;
}

void Addresses::advance() {
  const auto failed = [](const Entry& entry) { return entry.failed; };
  if (std::ranges::all_of(all_, failed)) {
    ++rounds_;
    for (Entry& entry : all_) entry.failed = false;
    current_ = (current_ + 1) % all_.size();
    return;
  }
  while (all_[current_].failed) current_ = (current_ + 1) % all_.size();
}

bool Addresses::all_refuse() const {
  return std::ranges::all_of(all_, &Entry::refuses);
}

}  // namespace zklock::zk
