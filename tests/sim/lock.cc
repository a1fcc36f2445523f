// SPDX-License-Identifier: Apache-2.0
// zklock run: exclusive, shared, slots, several locks, any of several, with and without a bound on the wait.
//
// Never two commands where the locks forbid it. Tokens of an exclusive lock grow. In calm, the first in line begins,
// none gives up that was alone, and a holder stands in no other line. No contender waits longer than its bound
// or sends transactions without a pause. In some seeds, a restored backup has left contenders' nodes that are in no
// session.
#include "history.h"
#include "workloads.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace zklock::sim {

namespace {

constexpr const char* kLocks[] = {"/locks/a", "/locks/b", "/locks/c"};
constexpr const char* kSlots = "/locks/slots";
constexpr int64_t kSlotCount = 2;
constexpr uint64_t kMostTransactions = 8;   // a second, for each contender
constexpr int kMostBusySeconds = 10;        // one after the other with more than that
constexpr Limit kSettled{20 * second, 10};  // after a storm, until contenders are where they belong
constexpr Limit kPatience{5 * second, 8};   // in calm, until the first in line has begun
constexpr Limit kLate{20 * second, 8};      // behind the end of a wait: looking names up, leaving the line, closing
// In calm, from the end of a command to that of its zklock: servers with ZOOKEEPER-4537 answer after its ping.
constexpr Limit kReleased{600 * ms, 5};
constexpr int kReleaseWays = 10;  // each with the latency of the run

// How a zklock uses locks.
struct Plan {
  std::vector<std::string> options;
  std::vector<std::string> locks;
  bool shared = false;
  Time bound = kNever;  // of the wait
};

class LockWorkload : public Workload {
 public:
  explicit LockWorkload(Simulation& simulation);
  void begin() override;
  bool is_done() const override { return left_ == 0; }
  void on_begin(const Command& command) override;
  void on_completed(const Command& command) override { completed_at_[command.zklock->number] = world->now; }
  void on_commit(const Txn& txn) override;
  void each_second() override;

 private:
  struct Head {
    std::string name;
    Time since = 0;
  };

  void restore();
  Plan draw_plan();
  void check_busy(const Process& process) const;
  void check_release(const Process& process) const;
  void start(int contender, int round);
  void on_end(const Process& process, int contender, int round);
  void check_exclusion(const Command& command, const std::string& path) const;
  void check_only_node(const Change& made) const;
  void check_token(const Command& command, size_t index);
  std::string first_in(const std::string& lock) const;
  void check_head(const std::string& lock);
  void check_places() const;
  void check_rate();
  const Plan& plan_of(const Process& process) const { return plans_.at(process.number); }

  int contenders_;
  int rounds_ = 4;  // each has so many at least
  int64_t longest_work_;
  bool plain_;  // one exclusive lock only: the most hand-overs
  int left_ = 0;
  uint64_t transactions_ = 0;  // up to the last second
  int busy_seconds_ = 0;
  std::map<int, Plan> plans_;              // by the number of the process
  std::map<int, const Process*> waiting_;  // those with a bound that have not begun a command, by their numbers
  std::map<std::string, int64_t> last_tokens_;
  std::map<std::string, Head> heads_;
  std::map<int, Time> completed_at_;         // when a command ended by itself, by the number of the process
  std::map<std::string, Time> rivalled_at_;  // when a lock had several contenders last
};

LockWorkload::LockWorkload(Simulation& simulation) : Workload(simulation) {
  constexpr int64_t kWorks[] = {20, 4000, 20000, 60000};  // ms
  contenders_ = static_cast<int>(simulation.random().between(2, 8));
  longest_work_ = simulation.random().one_of(kWorks);
  plain_ = simulation.random().chance(0.4);
}

void LockWorkload::begin() {
  left_ = contenders_;
  if (simulation_.random().chance(0.2)) restore();
  for (int contender = 0; contender < contenders_; ++contender) start(contender, 0);
}

void LockWorkload::restore() {
  for (const char* lock : kLocks) {
    simulation_.ensemble().restore(
        fmt::format("{}/_c_5d0c4e1a-7c43-4c29-9d4e-2a8f1b0c6e77-lock-{:010}", lock, simulation_.random().below(20)),
        "{}");
  }
}

Plan LockWorkload::draw_plan() {
  Random& random = simulation_.random();
  if (plain_ || random.chance(0.3)) return {{}, {kLocks[0]}};
  Plan plan;
  switch (random.below(5)) {
    case 0: plan = {{"--shared"}, {random.one_of(kLocks)}, true}; break;
    case 1: plan = {{"--slots", std::to_string(kSlotCount)}, {kSlots}}; break;
    case 2: plan = {{}, {kLocks[0], kLocks[1]}}; break;
    case 3: plan = {{"--any"}, {std::begin(kLocks), std::end(kLocks)}}; break;
    default: plan = {{}, {random.one_of(kLocks)}}; break;
  }
  if (random.chance(0.3)) {
    plan.bound = random.between(1, 20000) * ms;
    plan.options.insert(plan.options.end(), {"-w", fmt::format("{}ms", plan.bound / ms)});
  } else if (random.chance(0.15)) {
    plan.bound = 0;
    plan.options.emplace_back("-n");
  }
  return plan;
}

void LockWorkload::start(int contender, int round) {
  simulation_.start_later([this, contender, round] {
    const Plan plan = draw_plan();
    std::vector<std::string> words = {"run"};
    words.insert(words.end(), plan.options.begin(), plan.options.end());
    words.insert(words.end(), plan.locks.begin(), plan.locks.end());
    words.insert(words.end(), {"--", "/bin/true", std::to_string(simulation_.random().below(longest_work_))});
    const Process& process =
        simulation_.start_zklock(fmt::format("z{}.{}", contender, round), words,
                                 [this, contender, round](Process& ended) { on_end(ended, contender, round); });
    plans_[process.number] = plan;
    if (plan.bound != kNever && plan.bound > 0) waiting_[process.number] = &process;
  });
}

void LockWorkload::on_end(const Process& process, int contender, int round) {
  simulation_.check_status(process, plan_of(process).bound != kNever ? std::vector<int>{75} : std::vector<int>{});
  waiting_.erase(process.number);
  if (process.status == 75) check_busy(process);
  check_release(process);
  if (round + 1 < rounds_ || !simulation_.storms_over()) return start(contender, round + 1);
  --left_;
}

void LockWorkload::check_busy(const Process& process) const {
  const Time bound = plan_of(process).bound;
  if (bound > 0 && bound < kPatience) return;
  if (!simulation_.calm_for(world->now - process.started_at + kSettled)) return;
  for (const std::string& lock : plan_of(process).locks) {
    const auto rivalled_at = rivalled_at_.find(lock);
    if (lock == kSlots || (rivalled_at != rivalled_at_.end() && rivalled_at->second >= process.started_at)) return;
  }
  world->violation(process.name + " gives up, though no other contender was there");
}

void LockWorkload::check_release(const Process& process) const {
  const auto completed = completed_at_.find(process.number);
  if (completed == completed_at_.end()) return;
  const Time span = world->now - completed->second;
  if (!simulation_.calm_for(span + kSettled) || span <= kReleased + kReleaseWays * network->latency_max) return;
  world->violation(fmt::format("{} ends {} ms after its command", process.name, span / ms));
}

void LockWorkload::on_commit(const Txn& txn) {
  for (const Change& change : txn.changes) {
    const bool is_place = change.kind == Change::Kind::create && change.owner != 0;
    if (is_place && simulation_.is_harmless()) check_only_node(change);
  }
  for (const char* lock : kLocks) {
    const Node* const line = simulation_.tree().find(lock);
    if (!line || line->children.size() < 2) continue;
    const auto lives = std::count_if(line->children.begin(), line->children.end(), [&](const std::string& name) {
      return simulation_.tree().find(std::string(lock) + "/" + name)->owner != 0;
    });
    if (lives > 1) rivalled_at_[lock] = world->now;
  }
}

// A contender does not stand in line behind its own node of another session, as it may if it has given that one up.
void LockWorkload::check_only_node(const Change& made) const {
  const int pid = pid_in(made.data);
  for (const std::string& name : simulation_.tree().find(parent_of(made.path))->children) {
    const Node& node = *simulation_.tree().find(parent_of(made.path) + "/" + name);
    if (pid == 0 || node.owner == 0 || node.owner == made.owner || pid_in(node.data) != pid) continue;
    world->violation(fmt::format("process {} has made {} beside its node {}", pid, made.path, name));
  }
}

void LockWorkload::on_begin(const Command& command) {
  waiting_.erase(command.zklock->number);
  for (size_t index = 0; index < command.paths.size(); ++index) {
    check_exclusion(command, command.paths[index]);
    check_token(command, index);
    if (!simulation_.tree().find(command.nodes[index])) {
      world->violation(fmt::format("{} begins without its node {}", command.zklock->name, command.nodes[index]));
    }
  }
}

void LockWorkload::check_exclusion(const Command& command, const std::string& path) const {
  int64_t with_it = 0;
  for (const auto& other : commands->alive) {
    if (std::find(other->paths.begin(), other->paths.end(), path) == other->paths.end()) continue;
    ++with_it;
    const bool share = plan_of(*command.zklock).shared && plan_of(*other->zklock).shared;
    if (share || (path == kSlots && with_it < kSlotCount)) continue;
    world->violation(
        fmt::format("two commands at once under {}: {} and {}", path, other->zklock->name, command.zklock->name));
  }
}

void LockWorkload::check_token(const Command& command, size_t index) {
  if (plan_of(*command.zklock).shared || command.paths[index] == kSlots) return;
  const int64_t token = std::atoll(command.tokens[index].c_str());
  int64_t& last = last_tokens_[command.paths[index]];
  if (token <= last) world->violation(fmt::format("{} has token {} after {}", command.zklock->name, token, last));
  last = token;
}

void LockWorkload::each_second() {
  for (const char* lock : kLocks) check_head(lock);
  for (const auto& [number, process] : waiting_) {
    if (world->now - process->started_at <= plans_.at(number).bound + process->stood_still + kLate) continue;
    world->violation(process->name + " waits longer than it should");
  }
  if (simulation_.calm_for(kSettled)) check_places();
  check_rate();
}

void LockWorkload::check_places() const {
  for (const auto& command : commands->alive) {
    const Node* const node = simulation_.tree().find(command->nodes.front());
    if (!node || world->now - command->begun_at < kPatience) continue;
    for (const std::string& place : simulation_.tree().ephemerals.at(node->owner)) {
      if (std::find(command->nodes.begin(), command->nodes.end(), place) != command->nodes.end()) continue;
      world->violation(
          fmt::format("{} holds {}, and stands at {}", command->zklock->name, command->nodes.front(), place));
    }
  }
}

void LockWorkload::check_rate() {
  const uint64_t before = std::exchange(transactions_, simulation_.ensemble().txns);
  const uint64_t most = kMostTransactions * static_cast<uint64_t>(contenders_);
  busy_seconds_ = transactions_ - before > most ? busy_seconds_ + 1 : 0;
  if (busy_seconds_ > kMostBusySeconds)
    world->violation(fmt::format("{} transactions in a second", transactions_ - before));
}

// The contender with the lowest number, of those that are in a session; "": there is none.
std::string LockWorkload::first_in(const std::string& lock) const {
  const auto number_of = [](const std::string& name) { return name.substr(name.size() - 10); };
  const Node* const line = simulation_.tree().find(lock);
  std::string first;
  for (const std::string& name : line ? line->children : std::set<std::string>()) {
    if (simulation_.tree().find(lock + "/" + name)->owner == 0) continue;
    if (first.empty() || number_of(name) < number_of(first)) first = name;
  }
  return first;
}

// The first in line does not stand there for long without a command, unless it waits for other locks or is alone to
// decide.
void LockWorkload::check_head(const std::string& lock) {
  Head& head = heads_[lock];
  const std::string first = first_in(lock);
  if (!plain_ || !simulation_.calm_for(kSettled) || first.empty()) return static_cast<void>(head = {});
  if (first != head.name) head = {first, world->now};
  const Node& node = *simulation_.tree().find(lock + "/" + first);
  const int pid = pid_in(node.data);
  if (pid == 0) return;
  const auto owner = std::find_if(world->processes().begin(), world->processes().end(),
                                  [&](const auto& process) { return process->pid() == pid; });
  const bool works = std::any_of(commands->alive.begin(), commands->alive.end(),
                                 [&](const auto& command) { return command->nodes.front() == lock + "/" + first; });
  if (works || owner == world->processes().end() || !(*owner)->lives()) head.since = world->now;
  if (world->now - head.since <= kPatience) return;
  world->violation(fmt::format("{} is the first in line and does not begin", (*owner)->name));
}

}  // namespace

std::unique_ptr<Workload> make_lock(Simulation& simulation) {
  return std::make_unique<LockWorkload>(simulation);
}

}  // namespace zklock::sim
