// SPDX-License-Identifier: Apache-2.0
#include "simulation.h"

#include "base/failure.h"
#include "command/start.h"
#include "faults.h"
#include "history.h"
#include "kernel.h"
#include "workloads.h"

#include <algorithm>
#include <exception>
#include <sstream>

#include <fmt/ranges.h>

namespace zklock::sim {

namespace {

constexpr Time kTicks[] = {500 * ms, 1 * second, 2 * second};
constexpr int kMinTicks = 2;  // a session's least and longest timeout, as servers have it
constexpr int kMaxTicks = 20;
constexpr int kLongestTicks = 8;  // of what zklocks ask for
constexpr Time kEnough = 4000;    // ms: a session's timeout with which no single server is missed
// A user with servers far away takes a long session timeout, and 15 s to connect, which is the default.
constexpr Time kFarTrips[] = {200 * ms, 1 * second, 2 * second};  // the longest round trips
constexpr Time kFarTick = 2 * second;                             // with which servers grant the timeout
constexpr Time kFarTimeout = 30'000;                              // ms
constexpr Time kFarLatency = 20 * ms;
constexpr int kBeats = 8;  // of a session in its timeout: what a server does not notice waits for one of them
constexpr Time kPauses[] = {2 * second, 20 * second, 120 * second};
constexpr const char* kOneName = "zk";
constexpr Naming kNamings[] = {Naming::addresses, Naming::names, Naming::one_name};
constexpr int kBetweenComparisons = 10;    // seconds
constexpr int kSilentStatus[] = {69, 76};  // what faults explain

EnsembleOptions draw_options(Random& random, bool sound) {
  EnsembleOptions options;
  options.servers = random.chance(0.8) ? 3 : 5;
  options.tick = random.one_of(kTicks);
  options.sync_limit = static_cast<int>(random.between(2, 5));
  options.min_timeout = static_cast<int32_t>(kMinTicks * options.tick / ms);
  options.max_timeout = static_cast<int32_t>(kMaxTicks * options.tick / ms);
  options.old = random.chance(0.15);
  options.moved_closes = random.chance(0.7);
  options.gives_up = random.chance(sound ? 0.5 : 0.15);
  if (sound) return options;
  options.throttles = random.chance(0.1) ? 0.01 : 0;
  options.stalls = random.chance(0.1) ? 0.001 : 0;  // draw_servers may make it more
  return options;
}

// What main() does.
int run_zklock(const std::vector<std::string>& words, Process& self) {
  std::vector<std::string> copies = words;
  std::vector<char*> argv;
  for (std::string& word : copies) argv.push_back(word.data());
  argv.push_back(nullptr);
  command::ExitPolicy policy;
  try {
    return command::run_command_line(static_cast<int>(words.size()), argv.data(), {}, policy);
  } catch (const Failure& failure) {
    self.error = failure.text();
    return failure.signal() != 0 ? 128 + failure.signal() : policy.status_of(failure);
  } catch (const std::exception& error) {
    self.error = error.what();
    return static_cast<int>(ExitStatus::internal);
  }
}

}  // namespace

void Figures::add(const Figures& other) {
  simulated += other.simulated;
  cpu += other.cpu;
  requests += other.requests;
  transactions += other.transactions;
  elections += other.elections;
  expiries += other.expiries;
  faults += other.faults;
  commands += other.commands;
  killed_at_fence += other.killed_at_fence;
  lost += other.lost;
  unreachable += other.unreachable;
  killed += other.killed;
}

Simulation::Simulation(uint64_t seed, const Options& options, Workers make_workload) : options_(options), world_(seed) {
  world = &world_;
  network = &network_;
  commands = &commands_;
  world_.prints = options.prints;
  world_.traces = options.traces;
  harmless_ = options.faults && world_.random.chance(0.15);
  Random later(~seed);
  const EnsembleOptions servers = draw_servers(later);
  tick_ = servers.tick;
  ensemble_ = std::make_unique<Ensemble>(servers);
  network_.listener = ensemble_.get();
  network_.resolve = [this](const std::string& name) { return addresses_of(name); };
  network_.on_frame = [this](Connection& connection) { Faults(*this).on_frame(connection); };
  naming_ = world_.random.one_of(kNamings);
  const Time latencies[] = {2 * ms, 20 * ms, tick_ / 10};
  usual_latency_ = network_.latency_max = world_.random.one_of(latencies);
  pause_ = world_.random.one_of(kPauses);
  // Half of the kinds or more: one mixture for all seeds would find less.
  kinds_ = static_cast<unsigned>(world_.random.next() | world_.random.next()) & ~options.without;
  preemption_ = world_.random.chance(0.5) ? 0.001 : 0.01;
  world_.longest_preemption = world_.random.between(5 * ms, tick_ * 3 / 4);
  commands_.ignores_term = options.faults ? 0.3 : 0;
  if (far_timeout_ > 0) usual_latency_ = network_.latency_max = std::min(usual_latency_, kFarLatency);
  if (harmless_) usual_latency_ = network_.latency_max = 2 * ms;
  workload_ = make_workload(*this);
  commands_.on_begin = [this](const Command& command) { workload_->on_begin(command); };
  commands_.on_completed = [this](const Command& command) { workload_->on_completed(command); };
  commands_.on_fence = [this](const Command& command, Time fence) { check_fence(command, fence); };
  ensemble_->on_commit = [this](const Txn& txn) {
    workload_->on_commit(txn);
    check_nodes();
  };
}

Simulation::~Simulation() = default;

// `later` draws what was added later, so most seeds do what they did before.
EnsembleOptions Simulation::draw_servers(Random& later) {
  EnsembleOptions options = draw_options(world_.random, harmless_);
  if (later.chance(0.1)) {
    network_.farthest = later.one_of(kFarTrips) / 2;
    network_.nearest = later.chance(0.5) ? 0 : network_.farthest / 2;
    network_.longest_trip = 2 * network_.farthest;
    far_timeout_ = kFarTimeout;
    options.tick = kFarTick;
    options.min_timeout = static_cast<int32_t>(kMinTicks * kFarTick / ms);
    options.max_timeout = static_cast<int32_t>(kMaxTicks * kFarTick / ms);
  }
  const Time longest = far_timeout_ > 0 ? far_timeout_ * ms : kLongestTicks * options.tick;
  if (options.stalls > 0 && later.chance(0.6)) {
    options.stalls = 0.05;
    network_.longest_trip += longest / kBeats;
  }
  if (options.stalls == 0 && later.chance(0.1)) options.stalls_at_end = 0.5;
  return options;
}

Figures Simulation::run() {
  const double cpu = cpu_seconds();
  const Time begin = world_.now;
  storms_end_ = begin + (options_.faults ? options_.storms : 0);
  workload_->begin();
  options_.faults ? storm() : calm();
  watch_over();
  world_.run(begin + options_.longest, [this] { return workload_->is_done(); });
  if (!workload_->is_done()) world_.violation("the workload has not come to its end: something sleeps for ever");
  check_end();
  figures_.simulated = static_cast<double>(world_.now - begin) / 1e9;
  figures_.cpu = cpu_seconds() - cpu;
  figures_.requests = ensemble_->requests;
  figures_.transactions = ensemble_->txns;
  figures_.elections = ensemble_->elections;
  figures_.expiries = ensemble_->expiries;
  figures_.commands = commands_.begun;
  figures_.killed_at_fence = commands_.killed_at_fence;
  return figures_;
}

// What killed zklocks have left goes with their sessions.
void Simulation::check_end() {
  world_.run(world_.now + 2 * kMaxTicks * tick_, [] { return false; });
  workload_->check_end();
  for (const auto& [path, node] : tree().nodes) {
    if (node.owner != 0) world_.violation("left behind: " + path);
  }
}

Process& Simulation::start_zklock(const std::string& name, std::vector<std::string> words,
                                  std::function<void(Process&)> at_end) {
  // The shortest timeouts are the hardest.
  const Time shortest = kMinTicks * tick_ / ms;
  const Time longest = random().chance(0.3)   ? shortest
                       : random().chance(0.4) ? 3 * tick_ / ms
                                              : kLongestTicks * tick_ / ms;
  const Time drawn = harmless_ ? std::max(shortest, kEnough) : random().between(shortest, longest);
  const Time timeout = far_timeout_ > 0 ? far_timeout_ : drawn;
  words.insert(words.begin(), "zklock");
  auto process = std::make_shared<Process*>(nullptr);
  *process = &world_.start(name, [words, process] { return run_zklock(words, **process); });
  // Not by options before the subcommand, which would make zklock add the options of all of them: half of all CPU.
  (*process)->environment = {fmt::format("ZKLOCK_SERVERS={}", server_list()),
                             fmt::format("ZKLOCK_SESSION_TIMEOUT={}ms", timeout)};
  if (random().chance(0.2)) (*process)->environment.emplace_back("ZKLOCK_CONNECT_TIMEOUT=90s");
  note("{}: {} {}", name, fmt::join((*process)->environment, " "), fmt::join(words, " "));
  (*process)->at_end = [self = *process, at_end = std::move(at_end)] { at_end(*self); };
  return **process;
}

std::string Simulation::server_list() const {
  if (naming_ == Naming::addresses) return ensemble_->addresses();
  if (naming_ == Naming::one_name) return kOneName;
  std::string list;
  for (int server = 0; server < ensemble_->size(); ++server) {
    list += fmt::format("{}zk{}", server == 0 ? "" : ",", server);
  }
  return list;
}

std::vector<std::string> Simulation::addresses_of(const std::string& name) const {
  std::vector<std::string> found;
  std::istringstream list(ensemble_->addresses());
  int server = 0;
  for (std::string address; std::getline(list, address, ','); ++server) {
    if (name == kOneName || name == fmt::format("zk{}", server)) found.push_back(address.substr(0, address.find(':')));
  }
  return found;
}

void Simulation::start_later(std::function<void()> start) {
  world_.in(random().below(pause_), std::move(start));
}

void Simulation::check_status(const Process& process, const std::vector<int>& allowed) {
  if (process.state == Process::State::killed) {
    ++figures_.killed;
    return;
  }
  const int status = process.status;
  figures_.lost += status == 76;
  figures_.unreachable += status == 69;
  // One that waits for a short time may end before a server could have answered.
  const bool is_short = status == 69 && world_.now - process.started_at < kConnected;
  // Over a distance, one fault after another may use up the connect timeout, which is then a few round trips.
  const bool is_far = status == 69 && far_timeout_ > 0;
  const bool excused = !harmless_ || is_short || is_far;
  const bool explained =
      options_.faults && excused &&
      std::find(std::begin(kSilentStatus), std::end(kSilentStatus), status) != std::end(kSilentStatus);
  const bool good = status == 0 || std::find(allowed.begin(), allowed.end(), status) != allowed.end();
  if (good) return;
  if (!explained) world_.violation(fmt::format("{} ends with {}: {}", process.name, status, process.error));
  if (explained && !is_short && process.started_at > storms_end_ + 120 * second) {
    world_.violation(
        fmt::format("{} ends with {}, though nothing has failed: {}", process.name, status, process.error));
  }
}

// --- storms and calm

void Simulation::storm() {
  if (storms_over()) return;
  calm_since_ = kNever;
  world_.preemption = harmless_ ? 0 : preemption_;
  strike_later();
  world_.in(random().between(20 * second, 60 * second), [this] {
    calm();
    world_.in(random().between(30 * second, 60 * second), [this] { storm(); });
  });
}

void Simulation::strike_later() {
  const Time pause = harmless_ ? random().between(kBetween, 20 * second) : random().below(4 * second);
  world_.in(pause, [this] {
    if (calm_since_ != kNever) return;
    harmless_ ? Faults(*this).strike_harmlessly() : Faults(*this).strike();
    strike_later();
  });
}

void Simulation::calm() {
  note("calm");
  calm_since_ = world_.now;
  network_.heal();
  network_.latency_max = usual_latency_;
  network_.loss = 0;
  ambushes_.clear();
  network_.longest_lookup = 50 * ms;
  network_.hanging_name.clear();
  ensemble_->heal();
  world_.preemption = 0;
  for (Process* process : living()) {
    process->stopped_until = 0;
    process->stop_in_a_call(0, 0);
  }
}

std::vector<Process*> Simulation::living() {
  std::vector<Process*> found;
  for (const auto& process : world_.processes()) {
    if (process->lives()) found.push_back(process.get());
  }
  return found;
}

// --- what always has to hold

void Simulation::watch_over() {
  world_.in(1 * second, [this] { watch_over(); });
  // It looks at all nodes of all servers.
  if (++seconds_ % kBetweenComparisons == 0) {
    const std::string diverged = ensemble_->diverged();
    if (!diverged.empty()) world_.violation("the simulated servers have diverged: " + diverged);
  }
  workload_->each_second();
}

// A fence must not be later than the earliest moment at which the session may end: the leader's last word of it and its
// timeout, with the words that are on their way.
void Simulation::check_fence(const Command& command, Time fence) {
  if (fence <= world_.now) return;
  for (const std::string& path : command.nodes) {
    const Node* const node = tree().find(path);
    const Time lives = node ? ensemble_->lives_until(node->owner) : kNever;
    if (fence <= lives) continue;
    world_.violation(fmt::format("the fence of {} is {} ms later than its session may end", command.zklock->name,
                                 (fence - lives) / ms));
  }
}

// A command lives only while its nodes do.
void Simulation::check_nodes() {
  for (const auto& command : commands_.alive) {
    for (const std::string& path : command->nodes) {
      if (tree().find(path)) continue;
      world_.violation(fmt::format("{}'s command lives, but not its node {}", command->zklock->name, path));
    }
  }
}

}  // namespace zklock::sim
