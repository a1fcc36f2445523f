// SPDX-License-Identifier: Apache-2.0
// What is done to a queue besides its daily work: commands that fail, dead letters, requeue, purge, delete and count,
// workers that end when the queue is empty, with and without commands, and TERM to them.
//
// An item is there once: as an item or as a dead letter. It goes when a command for it has completed, when it was
// written, or by a purge, and never while it is in work. What requeue and purge leave behind was not theirs. Each
// answer was true at a moment between the start and the end of its zklock.
#include "clients.h"

#include <cctype>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

namespace zklock::sim {

namespace {

constexpr const char* kChores = "/u";
constexpr size_t kMostItems = 150;
constexpr Time kInFlight = 60 * second;  // a request of a zklock that was killed may be carried out so long after it
// Of commands. After 75 an item is tried again without an end.
constexpr const char* kStatuses[] = {"0", "0", "0", "1", "65"};
constexpr const char* kNotNow = "75";

struct Counts {
  size_t items = 0;
  size_t dead = 0;
  bool operator==(const Counts&) const = default;
};

struct Copy {
  std::string text;
  Time since = 0;
  Time claimed_at = 0;  // when a claim on it came or went last; 0: never
  bool claimed = false;
  bool dead = false;
};

struct Entry {
  std::set<std::string> copies = {};  // their paths
  size_t most = 0;                    // copies at a time
  int completed = 0;
  bool pushed = false;    // its push has ended
  bool doubtful = false;  // its push did not know whether it is in, so it may be there more than once
};

struct UpkeepClient : Client {
  bool purges = false;
  bool prints = false;
};

class UpkeepWorkload : public ClientWorkload<UpkeepClient> {
 public:
  explicit UpkeepWorkload(Simulation& simulation);
  void on_begin(const Command& command) override;
  void on_completed(const Command& command) override { ++entries_[command.item].completed; }
  void on_commit(const Txn& txn) override;
  void each_second() override { end_those_due(); }

 private:
  void start_any(int number, int round) override;
  void on_end(UpkeepClient& client, std::vector<int>& allowed) override;
  void start_push(int number, int round);
  void start_work(int number, int round);
  void start_print(int number, int round);
  void check_was_empty(const Process& process) const;
  void start_requeue(int number, int round);
  void start_purge(int number, int round, bool dead);
  void start_delete(int number, int round);
  void start_count(int number, int round);
  void on_pushed(const Process& process, const Words& items);
  void on_printed(const Process& process);
  void check_missed_none(const Process& process) const;
  void on_purged(const Process& process, bool dead);
  void on_counted(const Process& process);
  void take_change(const Change& change, std::set<std::string>& touched);
  void on_removed(const std::string& text);
  bool was_written(const std::string& text) const;

  int64_t longest_work_;
  bool purges_;                           // items, not only dead letters
  Time purged_at_ = -kInFlight;           // when the last purge has ended, or now while one lives
  std::set<std::string> written_;         // by zklocks that have ended
  std::map<std::string, Copy> copies_;    // by path
  std::map<std::string, Entry> entries_;  // by text
  History<Counts> history_;
  History<std::set<int>> workers_;  // the processes with claims on items, and 0 if an item has none
};

UpkeepWorkload::UpkeepWorkload(Simulation& simulation)
    : ClientWorkload(simulation, "queue"), history_(simulation), workers_(simulation) {
  constexpr int64_t kWorks[] = {20, 300, 1500};  // ms
  clients_ = static_cast<int>(simulation.random().between(3, 9));
  longest_work_ = simulation.random().one_of(kWorks);
  purges_ = simulation.random().chance(0.4);
}

void UpkeepWorkload::start_any(int number, int round) {
  const int64_t kind = simulation_.random().below(20);
  if (kind < 7 && history_.now().items < kMostItems) return start_push(number, round);
  if (kind < 12) return start_work(number, round);
  if (kind < 14) return start_print(number, round);
  if (kind < 16) return start_requeue(number, round);
  if (kind == 16) return start_purge(number, round, true);
  if (kind == 17 && purges_) return start_purge(number, round, false);
  if (kind == 18) return start_delete(number, round);
  return start_count(number, round);
}

void UpkeepWorkload::on_end(UpkeepClient& client, std::vector<int>& /*allowed*/) {
  if (client.purges) purged_at_ = world->now;
  if (!client.prints) return;
  std::istringstream lines(client.process->printed);
  for (std::string line; std::getline(lines, line);) written_.insert(line);
}

// --- what is started

void UpkeepWorkload::start_push(int number, int round) {
  Random& random = simulation_.random();
  Words items;
  int64_t count = random.chance(0.1) ? random.between(20, 60) : random.between(1, 8);
  if (longest_work_ < 100 && random.chance(0.03)) count = random.between(600, 1500);  // several batches
  for (int64_t i = 0; i < count; ++i) items.push_back(fmt::format("u{}.{}.{}", number, round, i));
  Words words = {"push", "-p", random.chance(0.8) ? "100" : "50", kChores};
  // 65: the queue was deleted meanwhile.
  UpkeepClient& client = start(number, round, words, {65}, [](const Process&) {});
  for (const std::string& item : items) client.process->input += item + "\n";
  client.process->at_end = [this, items, self = client.process, before = client.process->at_end] {
    on_pushed(*self, items);
    before();
  };
}

void UpkeepWorkload::on_pushed(const Process& process, const Words& items) {
  const bool ended = process.state == Process::State::ended;
  const bool excused = process.said.find("may be in") != std::string::npos || !ended || process.status != 0;
  for (const std::string& text : items) {
    Entry& entry = entries_[text];
    entry.pushed = true;
    entry.doubtful = excused;
    if (excused) continue;
    if (entry.most > 1) world->violation(text + " was pushed twice");
    if (entry.most == 0) world->violation(text + " was pushed, and is not in the queue");
  }
}

void UpkeepWorkload::start_work(int number, int round) {
  Random& random = simulation_.random();
  Words words = {"pull", "--retry-delay", "200ms", "--max-attempts", std::to_string(random.between(1, 3)), "-I", "{}"};
  const bool all = random.chance(0.5);
  if (all) words.emplace_back("--all");
  if (!all) words.insert(words.end(), {"-N", std::to_string(random.between(1, 20))});
  if (random.chance(0.4)) words.insert(words.end(), {"-j", "3"});
  if (random.chance(0.1)) words.emplace_back("--halt");
  const bool halts = words.back() == "--halt";
  std::string status = random.one_of(kStatuses);
  if (random.chance(0.3)) words.insert(words.end(), {"-w", fmt::format("{}ms", random.between(1, 20000))});
  if (!all && random.chance(0.2)) status = kNotNow;
  words.insert(words.end(), {kChores, "--", "/bin/true", std::to_string(random.below(longest_work_)), "{}", status});
  const bool waits = std::find(words.begin(), words.end(), "-w") != words.end();
  UpkeepClient& client = start(number, round, words, {1, 65, 75, 123}, [=, this](const Process& process) {
    // A command may have exited with it, too.
    if (!all && !waits && process.status == 75 && status != kNotNow) check_missed_none(process);
    if (!all || halts || (process.status != 0 && process.status != 123)) return;
    check_was_empty(process);
  });
  if (random.chance(0.3)) client.until = world->now + random.span(60 * second);
}

// Its own items count as gone: it ends once it has removed them too, and by then others may have pushed more.
void UpkeepWorkload::check_was_empty(const Process& process) const {
  workers_.check_was(process, [own = std::set<int>{process.pid()}](const std::set<int>& workers) {
    return workers.empty() || workers == own;
  });
}

// 65: the queue is deleted while it waits.
void UpkeepWorkload::start_print(int number, int round) {
  Random& random = simulation_.random();
  Words words = {"pull"};
  const bool all = random.chance(0.6);
  if (all) words.emplace_back("--all");
  if (!all) words.insert(words.end(), {"-N", std::to_string(random.between(1, 20))});
  words.emplace_back(kChores);
  UpkeepClient& client = start(number, round, words, {65, 75}, [=, this](const Process& process) {
    on_printed(process);
    if (!all && process.status == 75) check_missed_none(process);
    if (!all || process.status != 0) return;
    check_was_empty(process);
  });
  client.prints = true;
  if (random.chance(0.3)) client.until = world->now + random.span(60 * second);
}

void UpkeepWorkload::on_printed(const Process& process) {
  if (process.status != 0) return;
  std::istringstream lines(process.printed);
  for (std::string line; std::getline(lines, line);) {
    for (const std::string& path : entries_[line].copies) {
      const Copy& copy = copies_.at(path);
      if (copy.dead || copy.since > process.started_at || entries_[line].doubtful) continue;
      world->violation(fmt::format("{} has written {}, which is still there", process.name, line));
    }
  }
}

// It has found no item to take.
void UpkeepWorkload::check_missed_none(const Process& process) const {
  for (const auto& [path, copy] : copies_) {
    const bool was_free = !copy.dead && !copy.claimed && copy.claimed_at < process.started_at;
    if (was_free && copy.since < process.started_at) world->violation(fmt::format("{} misses {}", process.name, path));
  }
}

void UpkeepWorkload::start_requeue(int number, int round) {
  start(number, round, {"requeue", kChores}, {75}, [this](const Process& process) {
    if (process.status != 0) return;
    for (const auto& [path, copy] : copies_) {
      if (copy.dead && copy.since < process.started_at) {
        world->violation(fmt::format("{} has left the dead letter {}", process.name, path));
      }
    }
  });
}

void UpkeepWorkload::start_purge(int number, int round, bool dead) {
  Words words = {"purge", "--yes", kChores};
  if (dead) words.emplace_back("--dead");
  UpkeepClient& client =
      start(number, round, words, {75}, [this, dead](const Process& process) { on_purged(process, dead); });
  client.purges = true;
}

void UpkeepWorkload::on_purged(const Process& process, bool dead) {
  if (process.status != 0) return;
  for (const auto& [path, copy] : copies_) {
    const bool in_work = copy.claimed || copy.claimed_at >= process.started_at;
    if (copy.dead != dead || copy.since >= process.started_at || (!dead && in_work)) continue;
    world->violation(fmt::format("{} has left {}", process.name, path));
  }
}

void UpkeepWorkload::start_delete(int number, int round) {
  start(number, round, {"delete", "--yes", kChores}, {75}, [this](const Process& process) {
    if (process.status == 0) history_.check_was(process, [](const Counts& counts) { return counts == Counts{}; });
  });
}

void UpkeepWorkload::start_count(int number, int round) {
  start(number, round, {"count", "--json", kChores}, {}, [this](const Process& process) { on_counted(process); });
}

// It counts segment by segment, so only what does not change meanwhile has one number.
void UpkeepWorkload::on_counted(const Process& process) {
  if (process.status != 0 || history_.since() >= process.started_at) return;
  const auto json = nlohmann::json::parse(process.printed);
  const Counts& there = history_.now();
  if (json.at("items") == there.items && json.at("dead") == there.dead) return;
  world->violation(
      fmt::format("{} counts {}, where there are {} and {}", process.name, process.printed, there.items, there.dead));
}

// --- what is committed

void UpkeepWorkload::on_commit(const Txn& txn) {
  std::set<std::string> touched;
  for (const Change& change : txn.changes) take_change(change, touched);
  for (auto& [path, copy] : copies_) {
    const bool claimed = !copy.dead && !simulation_.tree().find(path)->children.empty();
    if (std::exchange(copy.claimed, claimed) != claimed) copy.claimed_at = world->now;
  }
  for (const std::string& text : touched) {
    Entry& entry = entries_[text];
    entry.most = std::max(entry.most, entry.copies.size());
    if (entry.pushed && !entry.doubtful && entry.copies.size() > 1) world->violation(text + " is there twice");
    if (entry.copies.empty()) on_removed(text);
  }
  Counts counts;
  std::set<int> workers;
  for (const auto& [path, copy] : copies_) {
    counts.dead += copy.dead;
    counts.items += !copy.dead;
    if (!copy.dead) workers.insert(copy.claimed ? pid_in(simulation_.tree().find(path + "/claim")->data) : 0);
  }
  if (counts != history_.now()) history_.add(counts);
  if (workers != workers_.now()) workers_.add(workers);
}

void UpkeepWorkload::take_change(const Change& change, std::set<std::string>& touched) {
  if (change.kind != Change::Kind::create && change.kind != Change::Kind::remove) return;
  if (const auto copy = copies_.find(change.path); copy != copies_.end()) {
    const std::string text = copy->second.text;
    entries_[text].copies.erase(change.path);
    copies_.erase(copy);
    touched.insert(text);
  } else if (change.kind == Change::Kind::create && change.data.size() > 1 && change.data[0] == 'u' &&
             std::isdigit(change.data[1]) != 0) {
    copies_[change.path] = {change.data, world->now, 0, false,
                            change.path.starts_with(std::string(kChores) + "/dead/")};
    entries_[change.data].copies.insert(change.path);
    touched.insert(change.data);
  }
}

void UpkeepWorkload::on_removed(const std::string& text) {
  const Entry& entry = entries_[text];
  for (const auto& command : commands->alive) {
    if (command->item == text) world->violation(text + " was removed while it was in work");
  }
  const bool purged = purged_at_ + kInFlight > world->now ||
                      std::any_of(living_.begin(), living_.end(), [](const auto& one) { return one.second.purges; });
  if (entry.completed > 0 || purged || was_written(text)) return;
  world->violation(text + " was removed, and no command for it had completed");
}

bool UpkeepWorkload::was_written(const std::string& text) const {
  return written_.contains(text) || std::any_of(living_.begin(), living_.end(), [&](const auto& one) {
           return one.second.prints &&
                  ("\n" + one.second.process->printed).find("\n" + text + "\n") != std::string::npos;
         });
}

void UpkeepWorkload::on_begin(const Command& command) {
  const Entry& entry = entries_[command.item];
  if (!simulation_.tree().find(command.nodes.front())) {
    world->violation(fmt::format("{} begins without its claim", command.zklock->name));
  }
  for (const auto& other : commands->alive) {
    if (other->item == command.item && entry.pushed && !entry.doubtful) {
      world->violation(command.item + " is worked on twice at a time");
    }
  }
  for (const auto& [number, client] : living_) {
    if (client.process != command.zklock || client.ended_at > world->now - kNoticed) continue;
    if (simulation_.calm_for(kReconnected)) world->violation(client.process->name + " begins a command after TERM");
  }
}

}  // namespace

std::unique_ptr<Workload> make_upkeep(Simulation& simulation) {
  return std::make_unique<UpkeepWorkload>(simulation);
}

}  // namespace zklock::sim
