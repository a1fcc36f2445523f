// SPDX-License-Identifier: Apache-2.0
// Jobs and services: zklock run --once-per on one lock, zklock run --restart on another one, zklock value set --fenced
// by their commands, zklock break and zklock show of both, and TERM to those that wait.
//
// Never two commands under one lock. No job begins sooner than the interval after the last success, none is skipped
// without one, and no success goes unrecorded. A success is recorded and the lock released at once, or neither is. A
// service goes on after each loss. A fenced write is made while its lock is held, or never, though its zklock lives on
// after its command. A break that ends with 0 has ended the first holder that it met.
#include "clients.h"

#include <set>

namespace zklock::sim {

namespace {

constexpr const char* kJob = "/locks/job";
constexpr const char* kService = "/locks/service";
constexpr const char* kFenced = "/v/fenced";
constexpr const char* kRecord = "/locks/job.last";
constexpr int64_t kIntervals[] = {3000, 20000};  // ms

// The node that is first in the line of a lock; "": none.
using First = std::string;

struct JobClient : Client {
  Time completed_at = kNever;
  bool is_service = false;
  bool was_told = false;  // it got TERM, which may be its command's
  bool has_stood_in_line = false;
};

class JobWorkload : public ClientWorkload<JobClient> {
 public:
  explicit JobWorkload(Simulation& simulation);
  bool is_done() const override { return ClientWorkload::is_done() && writers_ == 0; }
  void on_begin(const Command& command) override;
  void on_completed(const Command& command) override;
  void on_commit(const Txn& txn) override;
  void each_second() override;

 private:
  void start_any(int number, int round) override;
  void on_end(JobClient& client, std::vector<int>& allowed) override;
  bool passes(const JobClient& client) override;
  bool may_get_term(const JobClient& client) const override;
  void start_job(int number, int round);
  void start_service(int number, int round);
  void start_break(int number, int round);
  void start_show(int number, int round);
  void start_fenced(const Command& command);
  void check_job(const Process& process, const JobClient& client, bool bounded) const;
  void note_first(const std::string& lock, History<First>& history);
  // Null if its zklock was killed.
  JobClient* client_of(const Command& command);
  History<First>& history_of(const std::string& lock) { return lock == kJob ? jobs_ : services_; }
  static bool works(const JobClient& client);
  static int64_t wall_clock() { return (kWallClock + world->now) / ms; }

  int64_t longest_work_;
  int64_t interval_;       // ms
  int64_t success_ = 0;    // by the servers' clock, ms since 1970
  Time recorded_at_ = -1;  // when that was committed
  std::map<std::string, int64_t> last_tokens_;
  int texts_ = 0;                             // that fenced writers have
  int writers_ = 0;                           // that live
  std::map<std::string, std::string> nodes_;  // by text: the node of the lock
  std::set<std::string> texts_written_;
  History<First> jobs_;
  History<First> services_;
};

JobWorkload::JobWorkload(Simulation& simulation)
    : ClientWorkload(simulation, ""), jobs_(simulation), services_(simulation) {
  constexpr int64_t kWorks[] = {100, 4000, 30000};  // ms
  clients_ = static_cast<int>(simulation.random().between(2, 8));
  longest_work_ = simulation.random().one_of(kWorks);
  interval_ = simulation.random().one_of(kIntervals);
}

void JobWorkload::start_any(int number, int round) {
  const int64_t kind = simulation_.random().below(10);
  if (kind < 5) return start_job(number, round);
  if (kind < 8) return start_service(number, round);
  return kind == 8 ? start_break(number, round) : start_show(number, round);
}

void JobWorkload::on_end(JobClient& client, std::vector<int>& allowed) {
  if (client.was_told) allowed.push_back(128 + SIGTERM);
}

bool JobWorkload::passes(const JobClient& client) {
  const Process& process = *client.process;
  // TERM may come just before its command begins, or between a loss and the next attempt.
  const bool goes_on = client.is_service && !client.was_told && client.ended_at == kNever;
  if (goes_on && (process.status == 76 || (process.status == 69 && client.has_stood_in_line))) {
    world->violation(fmt::format("{} ends with {}, though it has --restart", process.name, process.status));
  }
  return true;
}

// While a command runs, the signal is the command's.
bool JobWorkload::may_get_term(const JobClient& client) const {
  return client.completed_at == kNever && !works(client);
}

bool JobWorkload::works(const JobClient& client) {
  return std::any_of(commands->alive.begin(), commands->alive.end(),
                     [&](const auto& command) { return command->zklock == client.process; });
}

// --- what is started

void JobWorkload::start_job(int number, int round) {
  Random& random = simulation_.random();
  Words words = {"run", "--once-per", fmt::format("{}ms", interval_)};
  const bool bounded = random.chance(0.3);
  if (bounded) words.insert(words.end(), {"-w", fmt::format("{}ms", random.between(0, 20000))});
  words.insert(words.end(), {kJob, "--", "/bin/true", std::to_string(random.below(longest_work_)), "x",
                             random.chance(0.7) ? "0" : "1"});
  JobClient& client = start(number, round, words, {1, 75, 76},
                            [=, this](const Process& process) { check_job(process, living_.at(number), bounded); });
  if (random.chance(0.2)) client.until = world->now + kNoticed + random.span(20 * second);
}

void JobWorkload::check_job(const Process& process, const JobClient& client, bool bounded) const {
  const int64_t since = (kWallClock + process.started_at) / ms;
  if (process.status == 0 && (client.completed_at == kNever || recorded_at_ < client.completed_at)) {
    world->violation(process.name + " has succeeded, which is not recorded");
  }
  if (process.status != 75 || bounded) return;
  if (success_ + interval_ < since) world->violation(process.name + " has skipped, though no success was so young");
}

void JobWorkload::start_service(int number, int round) {
  Random& random = simulation_.random();
  Words words = {"run", "--restart"};
  if (random.chance(0.2)) words.emplace_back("-n");
  words.insert(words.end(), {kService, "--", "/bin/true", std::to_string(random.below(2 * longest_work_))});
  JobClient& client = start(number, round, words, {75}, [](const Process&) {});
  client.is_service = true;
  if (random.chance(0.2)) client.until = world->now + kNoticed + random.span(60 * second);
}

// Not by --force, after which two may run at a time.
void JobWorkload::start_break(int number, int round) {
  Random& random = simulation_.random();
  const std::string lock = random.chance(0.5) ? kJob : kService;
  Words words = {"break", "--yes", "-w", fmt::format("{}ms", random.between(1000, 20000)), lock};
  const First first = history_of(lock).now();
  start(number, round, words, {75}, [=, this](const Process& process) {
    if (process.status != 0 || first.empty() || history_of(lock).now() != first) return;
    world->violation(fmt::format("{} has broken {}, which {} still holds", process.name, lock, first));
  });
}

void JobWorkload::start_show(int number, int round) {
  const std::string lock = simulation_.random().chance(0.5) ? kJob : kService;
  start(number, round, {"show", "-q", lock}, {1}, [=, this](const Process& process) {
    history_of(lock).check_was(process, [&](const First& first) { return first.empty() == (process.status == 1); });
  });
}

// By the command, which may end before it does.
void JobWorkload::start_fenced(const Command& command) {
  const std::string text = fmt::format("f{}", ++texts_);
  nodes_[text] = command.nodes.front();
  ++writers_;
  Process& process =
      simulation_.start_zklock(text, {"value", "set", "--fenced", kFenced, text}, [this, text](const Process& ended) {
        --writers_;
        simulation_.check_status(ended, {76});
        if (ended.state == Process::State::killed || ended.status == 69) return;
        if (texts_written_.contains(text) == (ended.status == 0)) return;
        world->violation(
            fmt::format("{} ends with {}, and was {}written", text, ended.status, ended.status == 0 ? "not " : ""));
      });
  process.environment.insert(process.environment.end(), command.variables.begin(), command.variables.end());
}

// --- what happens

JobClient* JobWorkload::client_of(const Command& command) {
  const auto client = std::find_if(living_.begin(), living_.end(),
                                   [&](const auto& one) { return one.second.process == command.zklock; });
  return client == living_.end() ? nullptr : &client->second;
}

void JobWorkload::on_completed(const Command& command) {
  if (JobClient* const client = client_of(command)) client->completed_at = world->now;
}

void JobWorkload::on_begin(const Command& command) {
  const std::string& lock = command.paths.front();
  for (const auto& other : commands->alive) {
    if (other->paths.front() != lock) continue;
    world->violation(
        fmt::format("two commands at once under {}: {} and {}", lock, other->zklock->name, command.zklock->name));
  }
  const int64_t token = std::atoll(command.tokens.front().c_str());
  if (token <= last_tokens_[lock]) world->violation(command.zklock->name + " has a token that does not grow");
  last_tokens_[lock] = token;
  if (lock == kJob && wall_clock() < success_ + interval_) {
    world->violation(fmt::format("{} begins {} ms after a success", command.zklock->name, wall_clock() - success_));
  }
  if (simulation_.random().chance(0.4)) start_fenced(command);
  const JobClient* const client = client_of(command);
  if (client && client->ended_at < world->now - kNoticed && simulation_.calm_for(kReconnected)) {
    world->violation(command.zklock->name + " begins a command after TERM");
  }
}

void JobWorkload::on_commit(const Txn& txn) {
  bool recorded = false;
  bool released = false;
  for (const Change& change : txn.changes) {
    const bool is_written = change.kind == Change::Kind::create || change.kind == Change::Kind::set;
    if (is_written && change.path == kFenced) {
      texts_written_.insert(change.data);
      if (!simulation_.tree().find(nodes_[change.data]))
        world->violation(change.data + " was written without its lock");
    }
    recorded |= change.path == kRecord && is_written;
    released |= change.kind == Change::Kind::remove && change.path.starts_with(std::string(kJob) + "/");
    if (change.kind != Change::Kind::create || !change.path.starts_with(kService)) continue;
    for (auto& [number, client] : living_) {
      const std::string mark = fmt::format("\"pid\":{},", client.process->pid());
      client.has_stood_in_line |= change.data.find(mark) != std::string::npos;
    }
  }
  if (recorded) {
    success_ = txn.ms;
    recorded_at_ = world->now;
    if (!released) world->violation("a success is recorded, and its lock is not released with it");
  }
  note_first(kJob, jobs_);
  note_first(kService, services_);
}

void JobWorkload::note_first(const std::string& lock, History<First>& history) {
  First first;
  const Node* const line = simulation_.tree().find(lock);
  const auto number_of = [](const std::string& name) { return name.substr(name.size() - 10); };
  for (const std::string& name : line ? line->children : std::set<std::string>{}) {
    if (first.empty() || number_of(name) < number_of(first)) first = name;
  }
  if (first != history.now()) history.add(first);
}

void JobWorkload::each_second() {
  for (auto& [number, client] : living_) {
    if (!works(client)) continue;
    client.was_told |= client.ended_at != kNever;
    client.until = client.ended_at = kNever;
  }
  end_those_due();
}

}  // namespace

std::unique_ptr<Workload> make_jobs(Simulation& simulation) {
  return std::make_unique<JobWorkload>(simulation);
}

}  // namespace zklock::sim
