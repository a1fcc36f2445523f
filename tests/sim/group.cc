// SPDX-License-Identifier: Apache-2.0
// zklock group join, with and without a command, watch, wait, list, create and delete, all on one group.
//
// No session has two members, and a join that has ended leaves none. One whose member was deleted has none any more. A
// join ends as its command does, whatever becomes of its member. In calm each living join is in the group, and the
// lines of a watch add up to the members. Each answer was true at a moment between the start and the end of its zklock.
#include "clients.h"

#include <map>
#include <set>
#include <sstream>

namespace zklock::sim {

namespace {

constexpr const char* kGroup = "/g";
constexpr const char* kSpare = "/h";  // without members
constexpr const char* kShared = "shared";
constexpr const char* kUnique = "u";
constexpr Time kWaitForName = 20 * second;
constexpr Time kInFlight = 60 * second;  // a request of a zklock that was killed may be carried out so long after it
constexpr int kFailed = 7;               // of a command that fails

using Names = std::set<std::string>;

struct GroupState {
  bool exists = false;
  Names members = {};
  bool operator==(const GroupState&) const = default;
};

using IsGroupWanted = History<GroupState>::IsWanted;

IsGroupWanted has_member(const std::string& name, bool wanted = true) {
  return [=](const GroupState& state) { return state.members.contains(name) == wanted; };
}

struct GroupClient : Client {
  std::string data = {};     // a join: of its nodes; "": it is none, or a unique one
  bool has_command = false;  // its command has begun
  Time removed_at = kNever;  // when its member was deleted
  bool may_be_removed = false;
  bool removes = false;  // all members
  bool watches = false;
  size_t taken = 0;                        // a watch: bytes of what it has printed
  std::map<std::string, Time> known = {};  // a watch: what its lines add up to, and when these were read
};

class GroupWorkload : public ClientWorkload<GroupClient> {
 public:
  explicit GroupWorkload(Simulation& simulation);
  void begin() override;
  void on_begin(const Command& command) override;
  void on_commit(const Txn& txn) override;
  void each_second() override;

 private:
  void start_any(int number, int round) override;
  void on_end(GroupClient& client, std::vector<int>& allowed) override;
  bool passes(const GroupClient& client) override;
  GroupClient& start(int number, int round, Words words, std::vector<int> allowed, const Check& check);
  void restore();
  void start_join(int number, int round);
  void start_unique(int number, int round);
  void start_watch(int number, int round);
  void start_wait(int number, int round);
  void start_list(int number, int round);
  void start_delete(int number, int round);
  void note_state(const std::string& group, const Txn& txn, History<GroupState>& history);
  void start_remove(int number, int round);
  void expect_removal();
  void on_removed();
  void check_list(const Process& process) const;
  void read_lines(GroupClient& client);
  void check_known(const GroupClient& client) const;
  void check_settled(const GroupClient& client) const;
  Names nodes_of(const GroupClient& client) const;

  int64_t longest_work_;
  bool restored_;
  std::vector<const Process*> deleters_;    // of the group, ever
  int removals_ = 0;                        // of all members, that live
  std::map<std::string, Time> deleted_at_;  // when a request had removed a group last
  History<GroupState> history_;
  History<GroupState> spare_;
};

GroupWorkload::GroupWorkload(Simulation& simulation)
    : ClientWorkload(simulation, "group"), history_(simulation), spare_(simulation) {
  constexpr int64_t kWorks[] = {500, 10000, 60000};
  clients_ = static_cast<int>(simulation.random().between(3, 10));
  longest_work_ = simulation.random().one_of(kWorks);
  restored_ = simulation.random().chance(0.2);
}

void GroupWorkload::begin() {
  // Whatever becomes of a member, its command runs on.
  commands->on_fence = [](const Command&, Time) {};
  if (restored_) restore();
  ClientWorkload::begin();
}

// The server numbers new members from 0 on, so they come to these names.
void GroupWorkload::restore() {
  for (int number = 2; number < 80; number += 1 + static_cast<int>(simulation_.random().below(6))) {
    simulation_.ensemble().restore(fmt::format("{}/{}-{:010}", kGroup, kShared, number), "{}");
  }
}

void GroupWorkload::start_any(int number, int round) {
  switch (simulation_.random().below(10)) {
    case 8: return start_delete(number, round);
    case 9: return simulation_.random().chance(0.2) ? start_remove(number, round) : start_list(number, round);
    case 0: return start_wait(number, round);
    case 1: return start_list(number, round);
    case 2:
    case 3: return start_unique(number, round);
    case 4: return start_watch(number, round);
    default: return start_join(number, round);
  }
}

GroupClient& GroupWorkload::start(int number, int round, Words words, std::vector<int> allowed, const Check& check) {
  const bool deletes = words.front() == "delete";
  GroupClient& client = ClientWorkload::start(number, round, std::move(words), std::move(allowed), check);
  if (deletes) deleters_.push_back(client.process);
  client.may_be_removed = removals_ > 0;
  return client;
}

void GroupWorkload::on_end(GroupClient& client, std::vector<int>& allowed) {
  if (client.watches) read_lines(client);
  if (client.may_be_removed) allowed.push_back(76);
  if (client.removes) on_removed();
}

bool GroupWorkload::passes(const GroupClient& client) {
  const Process& process = *client.process;
  if (client.may_be_removed && process.status == 76) return false;
  if (process.status == 76 || (client.has_command && process.status == 69)) {
    world->violation(fmt::format("{} ends with {}, which nothing explains", process.name, process.status));
  }
  if (!client.data.empty() && simulation_.calm_for(kReconnected) && !nodes_of(client).empty()) {
    world->violation(fmt::format("{} has ended and left {}", process.name, *nodes_of(client).begin()));
  }
  return true;
}

// --- members

void GroupWorkload::start_join(int number, int round) {
  Random& random = simulation_.random();
  const bool works = random.chance(0.5);
  const int status = works && random.chance(0.3) ? kFailed : 0;
  const bool shares = restored_ && random.chance(0.5);
  const std::string data = fmt::format("n{}x{}", number, round);
  const std::string name = shares ? kShared : data;
  std::vector<std::string> words = {"join", "--name", name, "--data", data, kGroup};
  if (works) {
    words.insert(words.end(), {"--", "/bin/true", std::to_string(random.below(longest_work_)), "item"});
    words.emplace_back(std::to_string(status));
  }
  GroupClient& client = start(number, round, words, {status}, [=](const Process& process) {
    if (!works || process.status != status) world->violation(process.name + " ends before its time");
  });
  client.data = data;
  if (!works) client.until = world->now + random.span(100 * second);
}

void GroupWorkload::start_unique(int number, int round) {
  Random& random = simulation_.random();
  const std::string name = kUnique;
  const bool waits = random.chance(0.7);
  std::vector<std::string> words = {"join", "--unique", "--name", name, kGroup};
  if (waits) words.insert(words.end(), {"-w", fmt::format("{}s", kWaitForName / second)});
  const auto check = [=, this](const Process& process) {
    if (process.status != 75) return world->violation(process.name + " ends before its time");
    waits ? history_.check_wait(process, has_member(name, false), kWaitForName)
          : history_.check_was(process, has_member(name));
  };
  start(number, round, words, {75}, check).until = world->now + random.span(60 * second);
}

void GroupWorkload::on_begin(const Command& command) {
  for (auto& [number, client] : living_) client.has_command |= client.process == command.zklock;
  // Its member may go and come again with another node.
  world->in(0, [] {
    for (const auto& alive : commands->alive) alive->nodes.clear();
  });
}

void GroupWorkload::on_commit(const Txn& txn) {
  note_state(kGroup, txn, history_);
  note_state(kSpare, txn, spare_);
  const auto nodes = simulation_.tree().ephemerals.find(txn.session);
  if (nodes == simulation_.tree().ephemerals.end() || nodes->second.size() < 2) return;
  world->violation(fmt::format("{} and {} are of one session", *nodes->second.begin(), *nodes->second.rbegin()));
}

void GroupWorkload::note_state(const std::string& group, const Txn& txn, History<GroupState>& history) {
  const Node* const node = simulation_.tree().find(group);
  GroupState state{node != nullptr};
  for (const std::string& name : node ? node->children : Names()) {
    if (simulation_.tree().find(group + "/" + name)->owner != 0) state.members.insert(name);
  }
  if (!node && history.now().exists && txn.type != op::remove_container) deleted_at_[group] = world->now;
  if (!(state == history.now())) history.add(std::move(state));
}

Names GroupWorkload::nodes_of(const GroupClient& client) const {
  Names found;
  for (const std::string& name : history_.now().members) {
    if (simulation_.tree().find(std::string(kGroup) + "/" + name)->data == client.data) found.insert(name);
  }
  return found;
}

// --- zklocks that remove them, and the group

// Servers remove an empty group, too, if members have made it.
void GroupWorkload::start_delete(int number, int round) {
  const std::string group = simulation_.random().chance(0.6) ? kSpare : kGroup;
  if (simulation_.random().chance(0.5)) return static_cast<void>(start(number, round, {"create", group}, {75}, {}));
  start(number, round, {"delete", group}, {75}, [this, group](const Process& process) {
    const bool absent = process.error.find("no such group") != std::string::npos;
    (group == kSpare ? spare_ : history_).check_was(process, [&](const GroupState& state) {
      return process.status == 0 || absent ? !state.exists : restored_ || !state.members.empty();
    });
    if (process.status == 0 || !absent || deleted_at_[group] < process.started_at) return;
    for (const Process* other : deleters_) {
      if (other != &process && (other->lives() || other->ended_at > process.started_at - kInFlight)) return;
    }
    world->violation(process.name + " has deleted the group, and ends with 75");
  });
}

// With all its members, which do not join again.
void GroupWorkload::start_remove(int number, int round) {
  ++removals_;
  expect_removal();
  start(number, round, {"delete", "--force", kGroup}, {75}, {}).removes = true;
}

void GroupWorkload::on_removed() {
  --removals_;
  for (auto& [number, client] : living_) {
    if (client.may_be_removed && !client.data.empty() && nodes_of(client).empty()) client.removed_at = world->now;
  }
}

void GroupWorkload::expect_removal() {
  for (auto& [number, client] : living_) client.may_be_removed = true;
}

// --- zklocks that read them

void GroupWorkload::start_wait(int number, int round) {
  const std::string count = std::to_string(simulation_.random().between(0, clients_));
  const bool least = simulation_.random().chance(0.5);
  const Time bound = history_.draw_bound();
  const IsGroupWanted is_wanted = [least, wanted = std::stoul(count)](const GroupState& state) {
    return least ? state.members.size() >= wanted : state.members.size() <= wanted;
  };
  start(number, round,
        {"wait", least ? "--at-least" : "--at-most", count, "-w", fmt::format("{}ms", bound / ms), kGroup}, {75},
        [=, this](const Process& process) { history_.check_wait(process, is_wanted, bound); });
}

void GroupWorkload::start_list(int number, int round) {
  start(number, round, {"list", kGroup}, {75}, [this](const Process& process) {
    if (process.status == 0) return check_list(process);
    history_.check_was(process, [](const GroupState& state) { return !state.exists; });
  });
}

// It may leave out only those that were not there all the time.
void GroupWorkload::check_list(const Process& process) const {
  std::istringstream lines(process.printed);
  Names listed;
  for (std::string name; std::getline(lines, name); listed.insert(name)) history_.check_was(process, has_member(name));
  for (const std::string& name : history_.now().members) {
    if (!listed.contains(name)) history_.check_was(process, has_member(name, false));
  }
}

void GroupWorkload::start_watch(int number, int round) {
  GroupClient& client = start(number, round, {"watch", kGroup}, {},
                              [](const Process& process) { world->violation(process.name + " ends before its time"); });
  client.watches = true;
  client.until = world->now + simulation_.random().span(200 * second);
}

void GroupWorkload::read_lines(GroupClient& client) {
  const std::string& printed = client.process->printed;
  for (size_t end = 0; (end = printed.find('\n', client.taken)) != std::string::npos; client.taken = end + 1) {
    const bool joined = printed[client.taken] == '+';
    const std::string name = printed.substr(client.taken + 1, end - client.taken - 1);
    const bool fits = joined ? client.known.emplace(name, world->now).second : client.known.erase(name) == 1;
    if (!fits) world->violation(fmt::format("{} prints {} twice", client.process->name, name));
    history_.check_was(*client.process, has_member(name, joined));
  }
}

void GroupWorkload::each_second() {
  for (auto& [number, client] : living_) {
    if (client.watches) read_lines(client);
    if (history_.is_settled(*client.process)) check_settled(client);
  }
  end_those_due();
}

// One that has left and come again is printed again.
void GroupWorkload::check_known(const GroupClient& client) const {
  Names known;
  for (const auto& [name, read_at] : client.known) known.insert(name);
  if (known != history_.now().members) {
    return world->violation(client.process->name + " has printed other members than there are");
  }
  for (const auto& [name, read_at] : client.known) {
    const int64_t joined = simulation_.tree().find(std::string(kGroup) + "/" + name)->ctime * ms - kWallClock;
    if (joined < read_at) continue;
    world->violation(fmt::format("{} has not printed that {} has left and joined again", client.process->name, name));
  }
}

void GroupWorkload::check_settled(const GroupClient& client) const {
  if (client.ended_at < world->now - kNoticed) world->violation(client.process->name + " does not end");
  if (client.ended_at != kNever) return;
  if (client.watches) check_known(client);
  if (client.removed_at < world->now - kNoticed && !client.has_command && nodes_of(client).empty()) {
    world->violation(client.process->name + " has not noticed that its member was deleted");
  }
  if (!client.data.empty() && !client.may_be_removed && nodes_of(client).size() != 1)
    world->violation(client.process->name + " is no member");
}

}  // namespace

std::unique_ptr<Workload> make_group(Simulation& simulation) {
  return std::make_unique<GroupWorkload>(simulation);
}

}  // namespace zklock::sim
