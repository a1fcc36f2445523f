// SPDX-License-Identifier: Apache-2.0
// What is looked at while others use it: zklock show, with --follow too, zklock top, zklock health, zklock queue list,
// zklock value list, and zklock value delete -r.
//
// What is listed was there at a moment between the start and the end of its zklock, and what was there all the time is
// listed. What show --follow prints adds up to the line. A tree whose deletion ends with 0 or 1 was gone.
#include "clients.h"

#include <set>
#include <sstream>
#include <string_view>

#include <nlohmann/json.hpp>

namespace zklock::sim {

namespace {

constexpr const char* kAll = "/k";
constexpr const char* kLine = "/k/a";
constexpr const char* kShare = "/k/s";
constexpr const char* kUrls = "/k/q";
constexpr const char* kUrlItems = "/k/q/items";
constexpr const char* kValues = "/k/v";
constexpr size_t kMostUrls = 100;
constexpr int kTrees = 3;

using Names = std::set<std::string>;

// The usual time, 5 s, is not enough for all words and the probe if servers are far away.
std::vector<std::string> health_words() {
  std::vector<std::string> words = {"health", "--json"};
  if (network->farthest > 0) words.insert(words.end(), {"-w", "20s"});
  return words;
}

bool is_below(const std::string& path, std::string_view above) {
  return path.size() > above.size() && path.starts_with(above) && path[above.size()] == '/';
}

// The members `key` of the JSON lines, or of the objects in their member `list`.
Names listed(const Process& process, const char* key, const char* list = nullptr) {
  Names names;
  std::istringstream lines(process.printed);
  for (std::string line; std::getline(lines, line);) {
    const auto json = nlohmann::json::parse(line);
    if (!list) names.insert(json.at(key));
    for (const auto& one : list ? json.value(list, nlohmann::json::array()) : nlohmann::json::array()) {
      names.insert(one.at(key));
    }
  }
  return names;
}

struct LookClient : Client {
  bool follows = false;
  size_t taken = 0;  // bytes of what it has printed
  Names line = {};   // what its lines add up to
};

class LookWorkload : public ClientWorkload<LookClient> {
 public:
  explicit LookWorkload(Simulation& simulation);
  void on_commit(const Txn& txn) override;
  void each_second() override;

 private:
  void start_any(int number, int round) override;
  void on_end(LookClient& client, std::vector<int>& allowed) override;
  bool passes(const LookClient& client) override { return client.process->status != 76; }
  void start_user(int number, int round);
  void start_reader(int number, int round);
  void start_delete(int number, int round);
  void check_listed(const Process& process, const Names& names, const History<Names>& history) const;
  void read_lines(LookClient& client);
  void check_line(const LookClient& client) const;
  void note(History<Names>& history, std::string_view above, size_t depth) const;

  int64_t longest_work_;
  int texts_ = 0;
  History<Names> line_;    // of the lock: nodes' paths
  History<Names> items_;   // their names
  History<Names> values_;  // their paths
};

LookWorkload::LookWorkload(Simulation& simulation)
    : ClientWorkload(simulation, ""), line_(simulation), items_(simulation), values_(simulation) {
  constexpr int64_t kWorks[] = {500, 5000, 30000};  // ms
  clients_ = static_cast<int>(simulation.random().between(4, 10));
  longest_work_ = simulation.random().one_of(kWorks);
}

void LookWorkload::start_any(int number, int round) {
  const int64_t kind = simulation_.random().below(10);
  if (kind == 0) return start_delete(number, round);
  kind < 6 ? start_user(number, round) : start_reader(number, round);
}

void LookWorkload::on_end(LookClient& client, std::vector<int>& /*allowed*/) {
  if (client.follows) read_lines(client);
}

// --- those that use it

void LookWorkload::start_user(int number, int round) {
  Random& random = simulation_.random();
  const auto ignore = [](const Process&) {};
  const std::string work = std::to_string(random.below(longest_work_));
  switch (random.below(6)) {
    case 0: return static_cast<void>(start(number, round, {"run", kLine, "--", "/bin/true", work}, {}, ignore));
    case 1:
      return static_cast<void>(start(number, round, {"run", "--shared", kLine, "--", "/bin/true", work}, {}, ignore));
    case 2:
      return static_cast<void>(
          start(number, round, {"run", "--slots", "2", kShare, "--", "/bin/true", work}, {}, ignore));
    case 3: {
      const std::string path = fmt::format("{}/t{}/n{}/x", kValues, random.below(kTrees), random.below(3));
      return static_cast<void>(start(number, round, {"value", "set", path, "text"}, {}, ignore));
    }
    case 4:
      if (items_.now().size() < kMostUrls) {
        return static_cast<void>(start(number, round, {"queue", "push", kUrls, "one", "two"}, {}, ignore));
      }
      [[fallthrough]];
    default: return static_cast<void>(start(number, round, {"queue", "pull", "-N", "3", kUrls}, {75}, ignore));
  }
}

void LookWorkload::start_delete(int number, int round) {
  const std::string tree = fmt::format("{}/t{}", kValues, simulation_.random().below(kTrees));
  start(number, round, {"value", "delete", "-r", "--yes", tree}, {1, 75}, [=, this](const Process& process) {
    if (process.status == 75) return;
    values_.check_was(process, [&](const Names& names) { return !names.contains(tree); });
  });
}

// --- those that look

void LookWorkload::start_reader(int number, int round) {
  Random& random = simulation_.random();
  const auto ignore = [](const Process&) {};
  switch (random.below(6)) {
    case 0: {
      LookClient& client =
          start(number, round, {"show", "--follow", "--json", kLine, kShare}, {},
                [](const Process& process) { world->violation(process.name + " ends before its time"); });
      client.follows = true;
      client.until = world->now + random.span(200 * second);
      return;
    }
    case 1:
      start(number, round, {"show", "-r", "--json", kAll}, {}, [this](const Process& process) {
        Names nodes = listed(process, "node", "contenders");
        std::erase_if(nodes, [](const std::string& node) { return !is_below(node, kLine); });
        check_listed(process, nodes, line_);
      });
      return;
    case 2:
      start(number, round, {"queue", "list", "--json", kUrls}, {75},
            [this](const Process& process) { check_listed(process, listed(process, "id"), items_); });
      return;
    case 3:
      start(number, round, {"value", "list", "-r", "--json", kValues}, {1}, [this](const Process& process) {
        Names paths = listed(process, "path");
        paths.erase(kValues);
        if (process.status == 0) check_listed(process, paths, values_);
      });
      return;
    case 4: return static_cast<void>(start(number, round, {"top", "--once", kAll}, {}, ignore));
    default:
      return static_cast<void>(start(number, round, health_words(), {1, 2, 3}, [this](const Process& process) {
        const Time lived = world->now - process.started_at;
        if (process.status == 0 || !simulation_.calm_for(kReconnected + lived)) return;
        world->violation(
            fmt::format("{} ends with {}, and all is well: {}", process.name, process.status, process.printed));
      }));
  }
}

void LookWorkload::check_listed(const Process& process, const Names& names, const History<Names>& history) const {
  for (const std::string& name : names) {
    history.check_was(process, [&](const Names& there) { return there.contains(name); });
  }
  for (const std::string& name : history.now()) {
    if (!names.contains(name)) history.check_was(process, [&](const Names& there) { return !there.contains(name); });
  }
}

void LookWorkload::read_lines(LookClient& client) {
  const std::string& printed = client.process->printed;
  for (size_t end = 0; (end = printed.find('\n', client.taken)) != std::string::npos; client.taken = end + 1) {
    const auto json = nlohmann::json::parse(printed.substr(client.taken, end - client.taken));
    const std::string node = json.at("node");
    const std::string event = json.at("event");
    if (!is_below(node, kLine)) continue;
    const bool goes = event == "released" || event == "left";
    const bool fits = goes ? client.line.erase(node) == 1 : event == "acquired" || client.line.insert(node).second;
    if (!fits) world->violation(fmt::format("{} prints that {} {}", client.process->name, node, event));
    client.line.insert(goes ? "" : node);
    client.line.erase("");
  }
}

void LookWorkload::check_line(const LookClient& client) const {
  if (client.ended_at < world->now - kNoticed) world->violation(client.process->name + " does not end");
  if (client.ended_at != kNever || client.line == line_.now()) return;
  world->violation(client.process->name + " has printed another line than there is");
}

// --- what happens

void LookWorkload::on_commit(const Txn& /*txn*/) {
  note(line_, kLine, 1);
  note(items_, kUrlItems, 2);
  note(values_, kValues, 0);
}

// Those `depth` levels below `above`, by their paths, or items by their names; 0: all below it.
void LookWorkload::note(History<Names>& history, std::string_view above, size_t depth) const {
  Names names;
  const auto& nodes = simulation_.tree().nodes;
  const std::string folder = std::string(above) + "/";
  for (auto next = nodes.lower_bound(folder); next != nodes.end() && next->first.starts_with(folder); ++next) {
    const std::string& path = next->first;
    const auto levels =
        static_cast<size_t>(std::count(path.begin() + static_cast<std::ptrdiff_t>(above.size()), path.end(), '/'));
    if (depth == 0 || levels == depth) names.insert(depth == 2 ? name_of(path) : path);
  }
  if (names != history.now()) history.add(std::move(names));
}

void LookWorkload::each_second() {
  for (auto& [number, client] : living_) {
    if (client.follows) read_lines(client);
    if (client.follows && line_.is_settled(*client.process)) check_line(client);
  }
  end_those_due();
}

}  // namespace

std::unique_ptr<Workload> make_looks(Simulation& simulation) {
  return std::make_unique<LookWorkload>(simulation);
}

}  // namespace zklock::sim
