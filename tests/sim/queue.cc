// SPDX-License-Identifier: Apache-2.0
// zklock queue push and zklock queue pull --follow with a command for each item.
//
// An item whose push has ended with 0 is in the queue once, is removed, and not before a command for it has completed.
// No item is at work twice at a time, or at work after it was removed. In calm, none is free for long beside a consumer
// that has nothing to do. No segment is made twice.
#include "history.h"
#include "workloads.h"

#include <algorithm>
#include <cctype>
#include <csignal>
#include <iterator>
#include <map>
#include <set>

namespace zklock::sim {

namespace {

constexpr const char* kQueue = "/q";
constexpr const char* kItems = "/q/items";
constexpr const char* kLine = "/q/waiting";
constexpr Limit kSlow{30 * second, 30};                 // until all in line have been woken, one after the other
constexpr int64_t kRetryDelays[] = {100, 3000, 20000};  // ms
constexpr int64_t kQuick = 1500;                        // ms, of work
constexpr int kMostWaiting = 200;                       // items
constexpr Limit kPerItem{500 * ms, 2};                  // between pushes: each costs CPU

class QueueWorkload : public Workload {
 public:
  explicit QueueWorkload(Simulation& simulation);
  void begin() override;
  bool is_done() const override { return done_; }
  void on_begin(const Command& command) override;
  void on_completed(const Command& command) override { ++items_[command.item].completed; }
  void on_commit(const Txn& txn) override;
  void each_second() override;
  void check_end() override;

 private:
  struct Item {
    int created = 0;
    int completed = 0;
    bool pushed = false;  // its push has ended with 0
    bool removed = false;
  };

  struct Free {
    int64_t pzxid = 0;
    Time since = world->now;
  };

  struct Consumer {
    Process* process = nullptr;
    Time told_at = kNever;  // when it got TERM
  };

  void start_consumer(int number, int round);
  void on_consumer_end(const Consumer& consumer);
  void tell_one_soon();
  void start_pusher(int number);
  void feed(Process& process, const std::vector<std::string>& items, size_t next);
  void on_pushed(const Process& process, const std::vector<std::string>& items);
  void on_removed(const std::string& text);
  void stop_if_empty();
  std::set<int> look_at_items();

  int consumers_;
  int64_t longest_work_;
  double told_;                               // the share of new places at which a consumer gets TERM
  int waiting_ = 0;                           // items
  std::map<int, Consumer> living_;            // by their numbers
  std::map<std::string, Item> items_;         // by text
  std::map<std::string, std::string> texts_;  // of items, by path
  std::set<std::string> segments_;            // that were ever made
  std::map<std::string, Free> free_;          // items that are in no work, by path
  std::map<int, Time> busy_at_;               // when consumers had something to do, by pid
  bool all_pushed_ = false;
  bool stopping_ = false;
  bool done_ = false;
};

QueueWorkload::QueueWorkload(Simulation& simulation) : Workload(simulation) {
  constexpr int64_t kWorks[] = {20, 300, 1500, 8000};  // ms
  consumers_ = static_cast<int>(simulation.random().between(1, 5));
  longest_work_ = simulation.random().one_of(kWorks);
  told_ = simulation.random().chance(0.5) ? 0 : 0.25;
}

void QueueWorkload::begin() {
  for (int number = 0; number < consumers_; ++number) start_consumer(number, 0);
  world->in(1 * second, [this] { start_pusher(0); });
}

void QueueWorkload::start_consumer(int number, int round) {
  if (stopping_) return;
  Random& random = simulation_.random();
  std::vector<std::string> words = {"queue", "pull", "--follow", "-I", "{}"};
  if (random.chance(0.4)) words.insert(words.end(), {"-j", "3"});
  const bool tries_again = random.chance(0.4);
  if (tries_again) words.insert(words.end(), {"--retry-delay", fmt::format("{}ms", random.one_of(kRetryDelays))});
  words.insert(words.end(), {kQueue, "--", "/bin/true", std::to_string(random.below(longest_work_)), "{}"});
  if (tries_again) words.emplace_back("75?");
  Process& process =
      simulation_.start_zklock(fmt::format("c{}.{}", number, round), words, [this, number, round](const Process&) {
        on_consumer_end(living_.at(number));
        living_.erase(number);
        if (stopping_) return static_cast<void>(done_ = living_.empty());
        simulation_.start_later([this, number, round] { start_consumer(number, round + 1); });
      });
  living_[number] = {&process};
}

void QueueWorkload::on_consumer_end(const Consumer& consumer) {
  const Process& process = *consumer.process;
  const bool was_told = stopping_ || consumer.told_at != kNever;
  simulation_.check_status(process, was_told ? std::vector<int>{128 + SIGTERM} : std::vector<int>{});
  if (process.state == Process::State::ended && process.status == 0 && !was_told) {
    world->violation(process.name + " ends, though it follows");
  }
}

void QueueWorkload::start_pusher(int number) {
  const int most = longest_work_ > kQuick ? kMostWaiting / 10 : kMostWaiting;
  if (waiting_ > most) return world->in(10 * second, [this, number] { start_pusher(number); });
  Random& random = simulation_.random();
  std::vector<std::string> items;
  const int64_t count = random.chance(0.05) ? random.between(50, 150) : random.between(1, 12);
  for (int64_t i = 0; i < count; ++i) items.push_back(fmt::format("i{}.{}", number, i));
  const bool by_words = random.chance(0.5);
  std::vector<std::string> words = {"queue", "push", "-p", random.chance(0.8) ? "100" : "50", kQueue};
  if (by_words) words.insert(words.end(), items.begin(), items.end());
  Process& process = simulation_.start_zklock(fmt::format("p{}", number), words, [this, items, number](Process& ended) {
    on_pushed(ended, items);
    if (!simulation_.storms_over() || number < 10) {
      return world->in(kPerItem * static_cast<Time>(items.size()),
                       [this, number] { simulation_.start_later([this, number] { start_pusher(number + 1); }); });
    }
    all_pushed_ = true;
    stop_if_empty();
  });
  if (by_words) return;
  if (random.chance(0.5)) return feed(process, items, 0);
  for (const std::string& item : items) process.input += item + "\n";
}

// As tail -f does: some now, and the rest later.
void QueueWorkload::feed(Process& process, const std::vector<std::string>& items, size_t next) {
  std::string lines;
  const size_t end = std::min(items.size(), next + static_cast<size_t>(simulation_.random().between(1, 4)));
  for (; next < end; ++next) lines += items[next] + "\n";
  process.feed(lines, next < items.size());
  if (next == items.size()) return;
  world->in(simulation_.random().span(2 * second), [this, &process, items, next] { feed(process, items, next); });
}

void QueueWorkload::on_pushed(const Process& process, const std::vector<std::string>& items) {
  simulation_.check_status(process);
  const bool done = process.state == Process::State::ended && process.status == 0;
  // If its session has expired, it cannot know whether what was not answered was carried out, and says so.
  const bool excused = process.said.find("may be in") != std::string::npos;
  for (const std::string& text : items) {
    Item& item = items_[text];
    item.pushed = done;
    if (excused) continue;
    if (item.created > 1) world->violation(fmt::format("{} was pushed {} times", text, item.created));
    if (done && item.created == 0) world->violation(text + " was pushed, and is not in the queue");
  }
}

void QueueWorkload::on_commit(const Txn& txn) {
  for (const Change& change : txn.changes) {
    const bool is_item = change.data.size() > 1 && change.data[0] == 'i' && std::isdigit(change.data[1]) != 0;
    if (change.kind == Change::Kind::create && is_item) {
      texts_[change.path] = change.data;
      ++items_[change.data].created;
      ++waiting_;
    }
    if (change.kind == Change::Kind::create && parent_of(change.path) == kLine) tell_one_soon();
    const bool is_segment = parent_of(change.path) == kItems && change.kind == Change::Kind::create;
    if (is_segment && !segments_.insert(change.path).second) world->violation(change.path + " is made again");
    const auto text = texts_.find(change.path);
    if (change.kind == Change::Kind::remove && text != texts_.end()) on_removed(text->second);
  }
}

void QueueWorkload::on_removed(const std::string& text) {
  Item& item = items_[text];
  item.removed = true;
  --waiting_;
  if (item.completed == 0) world->violation(text + " was removed, and no command for it had completed");
  world->in(0, [this] { stop_if_empty(); });
}

void QueueWorkload::stop_if_empty() {
  if (!all_pushed_ || stopping_) return;
  for (const auto& [text, item] : items_) {
    if (item.pushed && !item.removed) return;
  }
  stopping_ = true;
  world->in(5 * second, [this] {
    for (const auto& process : world->processes()) {
      if (process->lives()) process->send_signal(SIGTERM);
    }
    done_ = living_.empty();
  });
}

void QueueWorkload::on_begin(const Command& command) {
  busy_at_[command.zklock->pid()] = world->now;
  const Item& item = items_[command.item];
  if (item.removed && item.created == 1) world->violation(command.item + " is worked on after it was removed");
  if (!simulation_.tree().find(command.nodes.front())) {
    world->violation(fmt::format("{} begins without its claim", command.zklock->name));
  }
  for (const auto& other : commands->alive) {
    if (other->nodes == command.nodes) world->violation(command.item + " is worked on twice at a time");
  }
}

// Notes the items that are free. Returns the pids in the claims on the others.
std::set<int> QueueWorkload::look_at_items() {
  std::set<int> pids;
  std::map<std::string, Free> free;
  const auto& nodes = simulation_.tree().nodes;
  for (auto next = nodes.lower_bound(std::string(kItems) + "/"); next != nodes.end(); ++next) {
    const auto& [path, node] = *next;
    if (!path.starts_with(kItems)) break;
    if (name_of(path) == "claim") pids.insert(pid_in(node.data));
    if (!texts_.contains(path) || !node.children.empty()) continue;
    const auto before = free_.find(path);
    free[path] = before != free_.end() && before->second.pzxid == node.pzxid ? before->second : Free{node.pzxid};
  }
  free_ = std::move(free);
  return pids;
}

// A consumer that ends gives back its claims, while the new one in line looks and then sets its watches.
void QueueWorkload::tell_one_soon() {
  if (living_.empty() || !simulation_.random().chance(told_)) return;
  const auto consumer = std::next(living_.begin(), simulation_.random().below(static_cast<int64_t>(living_.size())));
  world->in(simulation_.random().below(50 * ms), [this, number = consumer->first, process = consumer->second.process] {
    // One that has just begun does not take signals yet.
    const auto living = living_.find(number);
    if (living == living_.end() || living->second.process != process) return;
    if (world->now - process->started_at < kNoticed) return;
    living->second.told_at = std::min(living->second.told_at, world->now);
    process->send_signal(SIGTERM);
  });
}

void QueueWorkload::each_second() {
  if (stopping_ || !simulation_.calm_for(kReconnected)) return free_.clear();
  for (const int pid : look_at_items()) busy_at_[pid] = world->now;
  for (const auto& command : commands->alive) busy_at_[command->zklock->pid()] = world->now;
  for (const auto& [number, consumer] : living_) {
    const Process* const process = consumer.process;
    if (consumer.told_at < world->now - kSlow) world->violation(process->name + " does not end after TERM");
    if (world->now - std::max(process->started_at, busy_at_[process->pid()]) < kSlow) continue;
    for (const auto& [path, free] : free_) {
      if (world->now - free.since < kSlow) continue;
      return world->violation(fmt::format("{} has nothing to do, and {} is free", process->name, path));
    }
  }
}

void QueueWorkload::check_end() {
  for (const auto& [text, item] : items_) {
    if (item.pushed && !item.removed) world->violation(text + " is still there");
  }
}

}  // namespace

std::unique_ptr<Workload> make_queue(Simulation& simulation) {
  return std::make_unique<QueueWorkload>(simulation);
}

}  // namespace zklock::sim
