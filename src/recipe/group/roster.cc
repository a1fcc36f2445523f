// SPDX-License-Identifier: Apache-2.0
#include "recipe/group/roster.h"

#include "recipe/group/group.h"
#include "recipe/line.h"
#include "recipe/use.h"
#include "zk/path.h"
#include "zk/session.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace zklock::recipe {

using zk::Answer;
using zk::Code;

namespace {

constexpr Duration kRestForNode = std::chrono::microseconds(100);
constexpr Duration kLongestRest = std::chrono::seconds(1);

// How much is known of the names that a list has.
enum class Known {
  all,
  numbered,  // a name without the server's number may be another node's by now
  none,      // the group was deleted and made again
};

// `before` is an earlier list, and both have their names in order. If more children were made and deleted than the
// names show, one was replaced.
Known known_of(const Answer& before, const Answer& now) {
  if (before.stat.created != now.stat.created) return Known::none;
  std::vector<std::string> changed;
  std::ranges::set_symmetric_difference(before.names, now.names, std::back_inserter(changed));
  const auto changes = static_cast<uint32_t>(now.stat.child_version) - static_cast<uint32_t>(before.stat.child_version);
  return changes == changed.size() ? Known::all : Known::numbered;
}

// True if none of `members` is that node. A node of the same name may be another one.
bool is_missing(const Members& members, const std::string& name, const Member& member) {
  const auto found = members.find(name);
  return found == members.end() || found->second.stat.created != member.stat.created;
}

}  // namespace

std::vector<MemberChange> changes_between(const Members& before, const Members& now) {
  std::vector<MemberChange> changes;
  for (const auto& [name, member] : before) {
    if (is_missing(now, name, member)) changes.push_back({false, name});
  }
  for (const auto& [name, member] : now) {
    if (is_missing(before, name, member)) changes.push_back({true, name});
  }
  return changes;
}

Duration rest_after(size_t nodes) {
  return std::min(kLongestRest, kRestForNode * static_cast<int64_t>(nodes));
}

void GroupRoster::look(bool last) {
  if (unchecked_.empty()) {
    node_.look();
  } else {
    look_first();
  }
  const auto once = [this](const std::string& name) { return !with_data_ || is_read_first(name); };
  if (last && std::ranges::all_of(node_.found().names, once)) session_.set_last();
  take_in(node_.found());
  rested_ = deadline_in(rest_after(node_.found().names.size()));
}

// The list goes out with the requests before it.
void GroupRoster::look_first() {
  session_.ready();
  const zk::Call sync = session_.client().sync(group_);
  const zk::Call reading = session_.client().read(group_);
  node_.look();
  const bool lost = session_.await(sync).code == Code::unknown || session_.await(reading).code == Code::unknown;
  check_is_group(lost ? session_.synced_read(group_) : reading->answer, node_.found(), unchecked_);
  unchecked_.clear();
}

Deadline GroupRoster::due() const {
  return node_.is_stale() && !session_.expired() ? rested_ : node_.due();
}

// Takes over what is still known. Returns the names to look at.
std::vector<std::string> GroupRoster::take_known(const Answer& list, Members& members,
                                                 std::set<std::string>& others) const {
  const Known still = known_of(list_, list);
  std::vector<std::string> unknown;
  for (const std::string& name : list.names) {
    const auto known = members_.find(name);
    const bool sure = still == Known::all || (still == Known::numbered && has_number(name));
    if (is_lock_name(name) || (sure && others_.contains(name))) {
      others.insert(name);
    } else if (sure && known != members_.end()) {
      members.insert(*known);
    } else {
      unknown.push_back(name);
    }
  }
  return unknown;
}

// True if it is asked for its data at once. Nodes that are no members may have much of it, but few have such a name.
bool GroupRoster::is_read_first(const std::string& name) const {
  return with_data_ && has_number(name) && !members_.contains(name);
}

// Returns the Stat of each node. If the data of new members is wanted and may be read, it is in the answer, too.
std::vector<Answer> GroupRoster::ask_about(const std::vector<std::string>& names) {
  const auto read = [](zk::Client& client, const std::string& path) { return client.read(path); };
  const auto look = [](zk::Client& client, const std::string& path) { return client.exists(path); };
  const auto asking = [this](const std::string& name, auto ask) {
    return [ask, path = zk::child_of(group_, name)](zk::Client& client) { return ask(client, path); };
  };
  std::vector<zk::Session::Send> requests;
  for (const std::string& name : names) {
    requests.push_back(is_read_first(name) ? zk::Session::Send(asking(name, read)) : asking(name, look));
  }
  std::vector<Answer> answers = zk::answer_all(session_, requests);
  if (!with_data_) return answers;
  requests.clear();
  std::vector<size_t> again;
  for (size_t i = 0; i < names.size(); ++i) {
    const bool hidden = answers[i].code == Code::no_auth;
    if (!hidden && (is_read_first(names[i]) || !is_new_member(names[i], answers[i]))) continue;
    requests.push_back(hidden ? zk::Session::Send(asking(names[i], look)) : asking(names[i], read));
    again.push_back(i);
  }
  std::vector<Answer> seconds = zk::answer_all(session_, requests);
  for (size_t i = 0; i < again.size(); ++i) {
    if (seconds[i].code != Code::no_auth) answers[again[i]] = std::move(seconds[i]);
  }
  return answers;
}

bool GroupRoster::is_new_member(const std::string& name, const Answer& node) const {
  const auto known = members_.find(name);
  const bool is_known = known != members_.end() && known->second.stat.created == node.stat.created;
  return node.code == Code::ok && is_ephemeral(node.stat) && !is_known;
}

void GroupRoster::take_in(Answer list) {
  std::ranges::sort(list.names);
  Members members;
  std::set<std::string> others;
  const std::vector<std::string> looked_at = take_known(list, members, others);
  std::vector<Answer> answers = ask_about(looked_at);
  for (size_t i = 0; i < looked_at.size(); ++i) {
    const std::string& name = looked_at[i];
    const zk::Stat& stat = answers[i].stat;
    // The member is gone again, and the watch has fired.
    if (answers[i].code != Code::ok) continue;
    const auto known = members_.find(name);
    if (!is_ephemeral(stat)) {
      others.insert(name);
      if (is_left_member(name, stat)) left_.insert(name);
    } else if (known != members_.end() && known->second.stat.created == stat.created) {
      members.insert(*known);
    } else {
      members[name] = {std::move(answers[i].data), stat};
    }
  }
  std::erase_if(left_, [&](const std::string& name) { return !others.contains(name); });
  list_ = std::move(list);
  members_ = std::move(members);
  others_ = std::move(others);
}

}  // namespace zklock::recipe
