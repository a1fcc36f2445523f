// SPDX-License-Identifier: Apache-2.0
// zklock queue push --wait, beside consumers whose commands fail, requeue, purge and delete. Some pushers have a bound,
// get TERM or are killed. Once in half of the seeds, the servers' wall clocks jump a day ahead, so that pushers sweep.
//
// At each commit, the counters of a push, and what is left of it, make up what was pushed. An item is pushed once, even
// if the pusher's session expires, is never there twice, and counts as done only after a command or a consumer's output
// had it. A pusher ends with 0 or 123 only by numbers that were true when nothing was left, and then soon. Its nodes
// are deleted only when nothing is left, and by a sweep only after a day.
#include "base/text.h"
#include "clients.h"

#include <cctype>
#include <set>
#include <sstream>

namespace zklock::sim {

namespace {

constexpr const char* kAwaited = "/a";
constexpr int64_t kMostLeft = 150;
constexpr Time kDay = 24 * 3600 * second;
constexpr const char* kStatuses[] = {"0", "0", "0", "1", "65", "75?"};  // of commands

enum class Place { nowhere, queue, dead };

struct Item {
  Place place = Place::nowhere;
  bool pushed = false;
  bool handled = false;  // a command for it has completed, or it was written
};

struct Push {
  Process* process = nullptr;
  int64_t items = 0;      // that it is to push
  std::string node = {};  // below `awaited`, once an item is in
  int64_t in = 0;         // items that were pushed
  int64_t left = 0;       // and are in the queue, in work or not
  Time changed_at = 0;
  int64_t written_ms = 0;  // the same by the servers' clock
  bool gone = false;       // the node was deleted
  bool swept = false;
  bool cleans_up = false;           // its nodes must be gone, as it has ended with 0
  std::set<std::string> ends = {};  // what was true when all were in and none was left

  bool is_over() const { return in == items && left == 0; }
};

struct AwaitClient : Client {
  Push* push = nullptr;  // that it awaits
  bool prints = false;
};

bool has(const Txn& txn, Change::Kind kind, const std::string& path) {
  return std::any_of(txn.changes.begin(), txn.changes.end(),
                     [&](const Change& change) { return change.kind == kind && change.path == path; });
}

class AwaitWorkload : public ClientWorkload<AwaitClient> {
 public:
  explicit AwaitWorkload(Simulation& simulation);
  void begin() override;
  void on_begin(const Command& command) override;
  void on_completed(const Command& command) override { items_[command.item].handled = true; }
  void on_commit(const Txn& txn) override;
  void each_second() override;
  void check_end() override;

 private:
  void start_any(int number, int round) override;
  void on_end(AwaitClient& client, std::vector<int>& allowed) override;
  void start_push(int number, int round);
  void start_pull(int number, int round);
  void feed(Process& process, const Words& items);
  void check_pusher(const Process& process, Push& push, Time bound) const;
  void note_written(const Process& process);
  void take_removals(const Txn& txn, std::map<std::string, Place>& before);
  void take_items(const Txn& txn, std::map<std::string, Place>& before);
  void on_node_deleted(const Txn& txn, Push& push) const;
  void check_counters(Push& push) const;
  Push& push_of(const std::string& text) { return pushes_.at(text.substr(0, text.rfind('.'))); }

  int64_t longest_work_;
  bool purges_;
  Time deleted_at_ = -1;                      // when the deletion of the queue went on last
  int last_consumers_ = 0;                    // started once the others have stopped
  std::map<std::string, Push> pushes_;        // by what the texts of their items begin with
  std::map<std::string, Item> items_;         // by text
  std::map<std::string, std::string> texts_;  // of items and letters, by path
};

AwaitWorkload::AwaitWorkload(Simulation& simulation) : ClientWorkload(simulation, "queue") {
  constexpr int64_t kWorks[] = {20, 300, 1500};  // ms
  clients_ = static_cast<int>(simulation.random().between(3, 9));
  longest_work_ = simulation.random().one_of(kWorks);
  purges_ = simulation.random().chance(0.5);
}

void AwaitWorkload::begin() {
  ClientWorkload::begin();
  if (simulation_.random().chance(0.5)) return;
  world->in(simulation_.random().below(simulation_.options().storms),
            [this] { simulation_.ensemble().put_clocks_ahead(kDay); });
}

// Half of the clients push, so they never all wait.
void AwaitWorkload::start_any(int number, int round) {
  int64_t left = 0;
  for (const auto& [key, push] : pushes_) left += push.left;
  if (number % 2 == 1) return left < kMostLeft ? start_push(number, round) : start_pull(number, round);
  const int64_t kind = simulation_.random().below(16);
  if (kind < 10) return start_pull(number, round);
  if (kind < 13) return static_cast<void>(start(number, round, {"requeue", kAwaited}, {65, 75}, {}));
  if (kind == 13) return static_cast<void>(start(number, round, {"delete", "--yes", kAwaited}, {65, 75}, {}));
  Words words = {"purge", "--yes", kAwaited};
  if (kind == 14 || !purges_) words.emplace_back("--dead");
  start(number, round, words, {65, 75}, {});
}

void AwaitWorkload::on_end(AwaitClient& client, std::vector<int>& /*allowed*/) {
  if (client.prints) note_written(*client.process);
}

// --- what is started

void AwaitWorkload::start_push(int number, int round) {
  Random& random = simulation_.random();
  const std::string key = fmt::format("a{}.{}", number, round);
  int64_t count = random.chance(0.1) ? random.between(20, 60) : random.between(1, 8);
  if (longest_work_ < 100 && random.chance(0.05)) count = random.between(600, 1500);  // several batches
  Words items;
  for (int64_t i = 0; i < count; ++i) items.push_back(fmt::format("{}.{}", key, i));
  const Time bound = random.chance(0.3) ? (kConnected + random.span(60 * second)) / ms * ms : 0;
  Words words = {"push", "--wait", "-p", random.chance(0.8) ? "100" : "50", kAwaited};
  if (bound > 0) words.insert(words.end() - 1, {"-w", fmt::format("{}ms", bound / ms)});
  Push& push = pushes_[key];
  AwaitClient& client = start(number, round, words, {65, 75, 123},
                              [=, this, &push](const Process& process) { check_pusher(process, push, bound); });
  push = {client.process, count};
  client.push = &push;
  if (bound == 0 && random.chance(0.2)) client.until = world->now + random.span(60 * second);
  if (bound == 0 && random.chance(0.2)) return feed(*client.process, items);
  for (const std::string& item : items) client.process->input += item + "\n";
}

// Half of them now, and the rest later.
void AwaitWorkload::feed(Process& process, const Words& items) {
  std::string now, rest;
  for (size_t i = 0; i < items.size(); ++i) (i < items.size() / 2 ? now : rest) += items[i] + "\n";
  process.feed(now, true);
  world->in(simulation_.random().span(20 * second), [&process, rest] { process.feed(rest, false); });
}

void AwaitWorkload::check_pusher(const Process& process, Push& push, Time bound) const {
  const Time lived = world->now - process.started_at;
  const Node* const queue = simulation_.tree().find(kAwaited);
  const bool deleted = deleted_at_ >= process.started_at || (queue && queue->data.ends_with("deleted"));
  const std::string all_done = fmt::format("{}: {} of {} done", kAwaited, push.items, counted(push.items, "item"));
  switch (process.status) {
    case 65:
      if (!push.swept && !deleted) world->violation(fmt::format("{} ends with 65: {}", process.name, process.error));
      return;
    case 75:
      if (lived < bound) world->violation(process.name + " does not wait as long as it should");
      if (simulation_.calm_for(lived + kReconnected) && lived > bound + kNoticed) {
        world->violation(process.name + " waits longer than it should");
      }
      return;
    default:
      const std::string& said = process.status == 0 ? all_done : process.error;
      if (!push.ends.contains(said)) world->violation(process.name + " ends, and this was never so: " + said);
      // Otherwise its clean-up, which is sent once, may be refused.
      push.cleans_up =
          process.status == 0 && simulation_.calm_for(lived) && simulation_.ensemble().options.throttles == 0;
  }
}

void AwaitWorkload::start_pull(int number, int round) {
  Random& random = simulation_.random();
  Words words = {"pull"};
  if (random.chance(0.6)) words.emplace_back("--all");
  if (words.back() != "--all") words.insert(words.end(), {"-N", std::to_string(random.between(1, 20))});
  const bool prints = random.chance(0.3);
  if (!prints) {
    words.insert(words.end(), {"--retry-delay", "200ms", "--max-attempts", std::to_string(random.between(1, 3))});
    words.insert(words.end(), {"-I", "{}", "-j", random.chance(0.4) ? "3" : "1"});
  }
  words.emplace_back(kAwaited);
  if (!prints) {
    const std::string work = std::to_string(random.below(longest_work_));
    words.insert(words.end(), {"--", "/bin/true", work, "{}", random.one_of(kStatuses)});
  }
  start(number, round, words, {1, 65, 75, 123}, {}).prints = prints;
}

void AwaitWorkload::note_written(const Process& process) {
  std::istringstream lines(process.printed);
  for (std::string line; std::getline(lines, line);) items_[line].handled = true;
}

void AwaitWorkload::each_second() {
  bool waiting = false;
  for (const auto& [number, client] : living_) {
    if (!client.push) continue;
    waiting = true;
    const bool is_due = simulation_.calm_for(kReconnected) && world->now - client.push->changed_at > kNoticed &&
                        world->now - client.process->started_at > kNoticed;
    if (is_due && client.push->is_over()) world->violation(client.process->name + " waits, and nothing is left");
  }
  // So that each pusher that waits comes to its end.
  if (stopping_ && waiting && !living_.contains(clients_)) {
    const Words words = {"pull", "--follow", "-I", "{}", kAwaited, "--", "/bin/true", "20", "{}"};
    start(clients_, last_consumers_++, words, {65}, {});
  }
  if (stopping_ && !waiting && living_.contains(clients_)) living_.at(clients_).until = world->now;
  end_those_due();
}

// --- what is committed

void AwaitWorkload::on_commit(const Txn& txn) {
  std::map<std::string, Place> before;  // where they were, by text
  take_removals(txn, before);
  take_items(txn, before);
  std::set<Push*> touched;
  for (const auto& [text, place] : before) {
    Item& item = items_[text];
    Push& push = push_of(text);
    const int more = (item.place == Place::queue ? 1 : 0) - (place == Place::queue ? 1 : 0);
    if (more == 0) continue;  // a letter is purged
    push.left += more;
    push.changed_at = world->now;
    push.written_ms = txn.ms;
    touched.insert(&push);
    if (item.place != Place::nowhere || !has(txn, Change::Kind::set, push.node + "/done")) continue;
    for (const auto& [number, client] : living_) {
      if (client.prints && !item.handled) note_written(*client.process);
    }
    if (!item.handled) world->violation(text + " counts as done, and no command for it has completed");
  }
  for (Push* const push : touched) check_counters(*push);
  const std::string items = std::string(kAwaited) + "/items";
  if (has(txn, Change::Kind::remove, items) || has(txn, Change::Kind::remove, kAwaited)) deleted_at_ = world->now;
  for (auto& [key, push] : pushes_) {
    if (has(txn, Change::Kind::remove, push.node)) on_node_deleted(txn, push);
  }
}

void AwaitWorkload::take_removals(const Txn& txn, std::map<std::string, Place>& before) {
  for (const Change& change : txn.changes) {
    const auto text = texts_.find(change.path);
    if (change.kind != Change::Kind::remove || text == texts_.end()) continue;
    before[text->second] = std::exchange(items_[text->second].place, Place::nowhere);
    texts_.erase(text);
  }
}

void AwaitWorkload::take_items(const Txn& txn, std::map<std::string, Place>& before) {
  for (const Change& change : txn.changes) {
    const bool is_item = change.data.size() > 1 && change.data[0] == 'a' && std::isdigit(change.data[1]) != 0;
    if (change.kind != Change::Kind::create || !is_item) continue;
    Item& item = items_[change.data];
    if (item.place != Place::nowhere) world->violation(change.data + " is there twice");
    item.place = change.path.starts_with(std::string(kAwaited) + "/dead/") ? Place::dead : Place::queue;
    texts_[change.path] = change.data;
    if (!before.try_emplace(change.data, Place::nowhere).second) continue;  // it was a letter, or becomes one
    if (std::exchange(item.pushed, true)) world->violation(change.data + " is pushed twice");
    Push& push = push_of(change.data);
    ++push.in;
    const size_t tag = change.path.find(".p");
    const std::string token = change.path.substr(tag + 2, change.path.rfind('.') - tag - 2);
    push.node = fmt::format("{}/awaited/{}", kAwaited, token);
  }
}

void AwaitWorkload::check_counters(Push& push) const {
  const Tree& tree = simulation_.tree();
  const Node* const node = tree.find(push.node);
  if (!node) return;
  const auto version_of = [&](const char* counter) { return tree.find(push.node + "/" + counter)->version; };
  const int dead = version_of("dead") - version_of("back");
  const int purged = version_of("purged");
  const int done = version_of("done");
  if (done + dead + purged + push.left != push.in) {
    world->violation(fmt::format("{} has {} done, {} dead, {} purged and {} left of {}", push.node, done, dead, purged,
                                 push.left, push.in));
  }
  if (node->data != std::to_string(push.in)) world->violation(push.node + " does not say how many are in");
  if (!push.is_over()) return;
  std::string end = fmt::format("{}: {} of {} done", kAwaited, done, counted(push.items, "item"));
  if (dead > 0) end += fmt::format(", {}", counted(dead, "dead letter"));
  if (purged > 0) end += fmt::format(", {} purged", purged);
  push.ends.insert(end);
}

void AwaitWorkload::on_node_deleted(const Txn& txn, Push& push) const {
  push.gone = true;
  if (push.left > 0) world->violation(fmt::format("{} is deleted, and {} are left", push.node, push.left));
  push.swept = has(txn, Change::Kind::create, fmt::format("{}/pushing/{}", kAwaited, name_of(push.node)));
  if (!push.swept) return;
  note("{} is swept", push.node);
  if (txn.ms - push.written_ms < kDay / ms) world->violation(push.node + " is swept too early");
}

void AwaitWorkload::on_begin(const Command& command) {
  if (items_[command.item].place != Place::queue) world->violation(command.item + " is worked on, and is not there");
  for (const auto& other : commands->alive) {
    if (other->item == command.item) world->violation(command.item + " is worked on twice at a time");
  }
}

void AwaitWorkload::check_end() {
  for (const auto& [key, push] : pushes_) {
    if (push.cleans_up && !push.gone) world->violation(push.node + " is left by " + push.process->name);
  }
}

}  // namespace

std::unique_ptr<Workload> make_await(Simulation& simulation) {
  return std::make_unique<AwaitWorkload>(simulation);
}

}  // namespace zklock::sim
