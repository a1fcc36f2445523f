// SPDX-License-Identifier: Apache-2.0
// zklock value set, delete, get, wait and watch, with and without commands, all on one node.
//
// A set that ends with 0 was done once, one that ends with 75 never. Each answer was true at a moment between the start
// and the end of its zklock. A watch prints states in their order, and in calm it soon prints the last one, or runs its
// command for it.
#include "history.h"
#include "workloads.h"

#include <csignal>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

namespace zklock::sim {

namespace {

constexpr const char* kKey = "/v/k";
constexpr Time kLongestWork = 2 * second;

struct ValueState {
  bool exists = false;
  std::string text;
  int32_t version = 0;
  bool operator==(const ValueState&) const = default;
};

using IsValueWanted = History<ValueState>::IsWanted;

ValueState state_of(const std::string& line) {
  const auto json = nlohmann::json::parse(line);
  if (!json.at("exists")) return {};
  return {true, json.at("value"), json.at("version")};
}

// What a command is told of the state, and what it was told by these variables.
std::string told_of(const ValueState& state) {
  return state.exists ? fmt::format("1 {}", state.version) : "0 ";
}

std::string told_in(const std::vector<std::string>& variables) {
  std::map<std::string, std::string> values;
  for (const std::string& one : variables) values[one.substr(0, one.find('='))] = one.substr(one.find('=') + 1);
  return values["ZKLOCK_VALUE_EXISTS"] + " " + values["ZKLOCK_VALUE_VERSION"];
}

bool is_there(const ValueState& state) {
  return state.exists;
}

bool is_missing(const ValueState& state) {
  return !state.exists;
}

IsValueWanted has_version(int32_t version, bool wanted = true) {
  return [=](const ValueState& state) { return (state.exists && state.version == version) == wanted; };
}

// What a zklock is told, and the check of its end; it is not called after 69 or a kill.
struct ValuePlan {
  std::vector<std::string> words;
  std::vector<int> allowed;
  std::function<void(const Process&)> check;
  std::string input = {};
};

class ValueWorkload : public Workload {
 public:
  explicit ValueWorkload(Simulation& simulation);
  void begin() override;
  bool is_done() const override { return stopping_ && watches_.empty(); }
  void on_begin(const Command& command) override;
  void on_commit(const Txn& txn) override;
  void each_second() override;

 private:
  struct Watch {
    Process* process;
    Time until;              // it gets TERM then
    size_t next;             // the earliest state that its next line may show
    bool runs;               // a command for each change, in place of the lines
    std::string told = {};   // its last command: whether there was a node, and its version
    size_t taken = 0;        // bytes of what it has printed
    Time ended_at = kNever;  // when it got TERM
  };

  void start(int client, int round);
  void on_end(const Process& process, const ValuePlan& plan, int client, int round);
  ValuePlan draw_plan();
  ValuePlan set_plan();
  ValuePlan delete_plan();
  ValuePlan get_plan();
  ValuePlan wait_plan();
  void check_set(const Process& process, const std::string& text, const IsValueWanted& in_the_way);
  void start_watch(int number, int round);
  void on_watch_end(const Process& process, int number, int round);
  void read_lines(Watch& watch);
  void check_watch(const Watch& watch) const;

  int clients_;
  int watchers_;
  double deletes_;  // the share of them
  int left_ = 0;    // clients
  int texts_ = 0;
  bool stopping_ = false;
  History<ValueState> history_;
  std::map<std::string, int32_t> versions_;  // of the texts that were written
  std::set<std::string> refused_;            // the texts whose set has ended with 75
  std::map<int, Watch> watches_;             // by the watcher's number
};

ValueWorkload::ValueWorkload(Simulation& simulation) : Workload(simulation), history_(simulation) {
  clients_ = static_cast<int>(simulation.random().between(1, 6));
  watchers_ = static_cast<int>(simulation.random().between(1, 3));
  deletes_ = simulation.random().chance(0.5) ? 0.1 : 0.4;
}

void ValueWorkload::begin() {
  left_ = clients_;
  for (int client = 0; client < clients_; ++client) start(client, 0);
  for (int number = 0; number < watchers_; ++number) start_watch(number, 0);
}

void ValueWorkload::start(int client, int round) {
  simulation_.start_later([this, client, round] {
    const ValuePlan plan = draw_plan();
    Process& process = simulation_.start_zklock(
        fmt::format("z{}.{}", client, round), plan.words,
        [this, plan, client, round](const Process& ended) { on_end(ended, plan, client, round); });
    process.input = plan.input;
  });
}

void ValueWorkload::on_end(const Process& process, const ValuePlan& plan, int client, int round) {
  simulation_.check_status(process, plan.allowed);
  if (process.status == 76) world->violation(process.name + " ends with 76, and has no lock");
  if (process.state == Process::State::ended && process.status != 69) plan.check(process);
  if (!simulation_.storms_over() || round < 4) return start(client, round + 1);
  // The watches have time to print the last state, and to be checked.
  if (--left_ == 0) world->in(2 * kReconnected, [this] { stopping_ = true; });
}

ValuePlan ValueWorkload::draw_plan() {
  if (simulation_.random().chance(deletes_)) return delete_plan();
  const int64_t kind = simulation_.random().below(9);
  return kind < 3 ? get_plan() : kind < 5 ? wait_plan() : set_plan();
}

ValuePlan ValueWorkload::set_plan() {
  Random& random = simulation_.random();
  const std::string text = fmt::format("t{}", ++texts_);
  const auto version = static_cast<int32_t>(history_.now().version + random.below(2));
  ValuePlan plan{{"value", "set", "--print-version"}, {75}, {}};
  IsValueWanted in_the_way = is_there;
  switch (random.below(3)) {
    case 0: plan.words.emplace_back("--if-missing"); break;
    case 1:
      plan.words.insert(plan.words.end(), {"--if-version", std::to_string(version)});
      in_the_way = has_version(version, false);
      break;
    default: plan.allowed.clear(); break;
  }
  plan.words.emplace_back(kKey);
  random.chance(0.3) ? plan.input = text : plan.words.emplace_back(text);
  plan.check = [=, this](const Process& process) { check_set(process, text, in_the_way); };
  return plan;
}

void ValueWorkload::check_set(const Process& process, const std::string& text, const IsValueWanted& in_the_way) {
  const auto done = versions_.find(text);
  if (process.status == 75) {
    refused_.insert(text);
    if (done != versions_.end()) world->violation(fmt::format("{} refuses, and {} was written", process.name, text));
    history_.check_was(process, in_the_way);
  } else if (done == versions_.end()) {
    world->violation(fmt::format("{} ends with 0, and {} was not written", process.name, text));
  } else if (process.printed != fmt::format("{}\n", done->second)) {
    world->violation(fmt::format("{} has not written version {}", process.name, process.printed));
  }
}

ValuePlan ValueWorkload::delete_plan() {
  if (simulation_.random().chance(0.5)) {
    return {
        {"value", "delete", kKey}, {1}, [this](const Process& process) { history_.check_was(process, is_missing); }};
  }
  const int32_t version = history_.now().version;
  const auto check = [this, version](const Process& process) {
    history_.check_was(process, has_version(version, process.status == 0));
    if (process.status == 0) history_.check_was(process, is_missing);
  };
  return {{"value", "delete", "--if-version", std::to_string(version), kKey}, {75}, check};
}

ValuePlan ValueWorkload::get_plan() {
  if (simulation_.random().chance(0.5)) {
    const auto check = [this](const Process& process) {
      const ValueState printed = state_of(process.printed);
      history_.check_was(process, [&](const ValueState& state) { return state == printed; });
    };
    return {{"value", "get", "--json", kKey}, {1}, check};
  }
  const auto check = [this](const Process& process) {
    history_.check_was(process, [&](const ValueState& state) {
      return state.exists == (process.status == 0) && state.text == process.printed;
    });
  };
  return {{"value", "get", kKey}, {1}, check};
}

ValuePlan ValueWorkload::wait_plan() {
  const Time bound = history_.draw_bound();
  ValuePlan plan{{"value", "wait", "-w", fmt::format("{}ms", bound / ms), kKey}, {75}, {}};
  IsValueWanted is_wanted = is_there;
  const int64_t kind = simulation_.random().below(3);
  if (kind == 1) {
    plan.words.emplace_back("--gone");
    is_wanted = is_missing;
  } else if (kind == 2) {
    const std::string text = fmt::format("t{}", texts_ + simulation_.random().below(2));
    plan.words.insert(plan.words.end(), {"--equals", text});
    is_wanted = [text](const ValueState& state) { return state.text == text; };
  }
  plan.check = [=, this](const Process& process) { history_.check_wait(process, is_wanted, bound); };
  return plan;
}

void ValueWorkload::on_commit(const Txn& txn) {
  for (const Change& change : txn.changes) {
    const bool is_written = change.kind == Change::Kind::create || change.kind == Change::Kind::set;
    if (change.path != kKey || (!is_written && change.kind != Change::Kind::remove)) continue;
    const Node* const node = simulation_.tree().find(kKey);
    history_.add(node ? ValueState{true, node->data, node->version} : ValueState{});
    if (!is_written) continue;
    if (!versions_.emplace(change.data, node->version).second) world->violation(change.data + " was written twice");
    if (refused_.contains(change.data)) world->violation(change.data + " was written after its set had refused");
  }
}

// --- watches

void ValueWorkload::start_watch(int number, int round) {
  if (stopping_) return;
  Random& random = simulation_.random();
  const bool runs = random.chance(0.4);
  std::vector<std::string> words = {"value", "watch", kKey};
  if (runs) words.insert(words.end(), {"--", "/bin/true", std::to_string(random.below(kLongestWork / ms))});
  Process& process =
      simulation_.start_zklock(fmt::format("w{}.{}", number, round), words,
                               [this, number, round](const Process& ended) { on_watch_end(ended, number, round); });
  const Time until = random.chance(0.3) ? kNever : world->now + random.span(200 * second);
  watches_[number] = {&process, until, history_.size() - 1, runs};
}

void ValueWorkload::on_begin(const Command& command) {
  for (const auto& other : commands->alive) {
    if (other->zklock == command.zklock) world->violation(command.zklock->name + " runs two commands at a time");
  }
  for (auto& [number, watch] : watches_) {
    if (watch.process == command.zklock) watch.told = told_in(command.variables);
  }
}

void ValueWorkload::on_watch_end(const Process& process, int number, int round) {
  Watch& watch = watches_.at(number);
  read_lines(watch);
  simulation_.check_status(process, watch.ended_at == kNever ? std::vector<int>{} : std::vector<int>{128 + SIGTERM});
  if (process.status == 0 || process.status == 76) world->violation(process.name + " ends by itself");
  watches_.erase(number);
  simulation_.start_later([this, number, round] { start_watch(number, round + 1); });
}

void ValueWorkload::each_second() {
  for (auto& [number, watch] : watches_) {
    read_lines(watch);
    if (history_.is_settled(*watch.process)) check_watch(watch);
    // One that has just begun does not take signals yet.
    if (world->now - watch.process->started_at < kNoticed || (!stopping_ && world->now < watch.until)) continue;
    watch.process->send_signal(SIGTERM);
    watch.ended_at = std::min(watch.ended_at, world->now);
  }
}

void ValueWorkload::read_lines(Watch& watch) {
  const std::string& printed = watch.process->printed;
  for (size_t end = 0; (end = printed.find('\n', watch.taken)) != std::string::npos; watch.taken = end + 1) {
    const ValueState state = state_of(printed.substr(watch.taken, end - watch.taken));
    while (watch.next < history_.size() && !(history_.at(watch.next) == state)) ++watch.next;
    if (watch.next++ < history_.size()) continue;
    return world->violation(
        fmt::format("{} prints {} {}, which was not so, or not then", watch.process->name, state.text, state.version));
  }
}

void ValueWorkload::check_watch(const Watch& watch) const {
  if (watch.ended_at < world->now - kNoticed) world->violation(watch.process->name + " does not end");
  const bool is_last = watch.runs ? watch.told == told_of(history_.now())
                                  : watch.taken > 0 && history_.at(watch.next - 1) == history_.now();
  if (!is_last) world->violation(watch.process->name + " has not told the last state");
}

}  // namespace

std::unique_ptr<Workload> make_value(Simulation& simulation) {
  return std::make_unique<ValueWorkload>(simulation);
}

}  // namespace zklock::sim
