// SPDX-License-Identifier: Apache-2.0
// In place of src/host/process/{guard,guard_process,mark,survivor}.cc: a guard and a command that exist in virtual time
// only, behind the same headers. The guard writes the same page as the real one.
#include "host/process/guard.h"

#include "commands.h"
#include "host/process/mark.h"
#include "host/process/survivor.h"
#include "kernel.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <map>
#include <poll.h>
#include <sstream>
#include <utility>

#include <fmt/ranges.h>

namespace zklock::sim {

Commands* commands = nullptr;

namespace {

using host::CommandPhase;

class SimulatedGuard;

// The lines of a variable; none where there is no such variable.
std::vector<std::string> lines_of(const std::vector<std::string>& variables, const std::string& name) {
  std::vector<std::string> lines;
  for (const std::string& variable : variables) {
    if (!variable.starts_with(name + "=")) continue;
    std::istringstream text(variable.substr(name.size() + 1));
    for (std::string line; std::getline(text, line);) lines.push_back(line);
  }
  return lines;
}

// zklock's end of the channel: it is ready when the guard has written to the page.
class Channel : public File {
 public:
  explicit Channel(std::weak_ptr<SimulatedGuard> guard) : guard_(std::move(guard)) {}
  short ready() const override { return set ? POLLIN : 0; }
  void closed() override;
  bool set = false;

 private:
  std::weak_ptr<SimulatedGuard> guard_;
};

class SimulatedGuard : public std::enable_shared_from_this<SimulatedGuard> {
 public:
  SimulatedGuard(host::GuardPage& page, std::vector<std::string> arguments, std::function<void()> at_end)
      : zklock_(world->current), page_(page), arguments_(std::move(arguments)), at_end_(std::move(at_end)) {}

  int open_channel() {
    const auto channel = std::make_shared<Channel>(weak_from_this());
    channel_ = channel;
    return add_file(channel);
  }
  void take_notice() {
    if (const auto channel = channel_.lock()) channel->set = false;
  }
  // An order takes its time.
  void later(std::function<void(SimulatedGuard&)> order) {
    const bool busy = world->preemption > 0 && world->random.chance(0.02);
    world->in(world->random.between(20 * us, busy ? 50 * ms : 1 * ms),
              [self = shared_from_this(), order = std::move(order)] { order(*self); });
  }
  void start(const host::Launch& launch);
  void finish(Time grace);
  void end(int wait_status, const char* how);
  void zklock_is_gone();
  void watch_fence();
  void note_fence() {
    if (lives()) commands->on_fence(*command_, page_.fence);
  }

 private:
  bool lives() const { return command_ && command_->alive; }
  void notify();
  void begin(const std::vector<std::string>& variables);
  void complete(const std::shared_ptr<Command>& command, int status);

  Process* zklock_;
  host::GuardPage& page_;
  std::vector<std::string> arguments_;
  std::function<void()> at_end_;
  std::weak_ptr<Channel> channel_;
  std::shared_ptr<Command> command_;
  Time term_until_ = kNever;
  uint64_t fence_watch_ = 0;
  bool zklock_gone_ = false;
};

void Channel::closed() {
  if (const auto guard = guard_.lock()) guard->later(&SimulatedGuard::zklock_is_gone);
}

void SimulatedGuard::notify() {
  const auto channel = channel_.lock();
  if (!channel) return;
  channel->set = true;
  if (channel->owner) channel->owner->wake();
}

void SimulatedGuard::start(const host::Launch& launch) {
  page_.phase = CommandPhase::idle;
  page_.command = page_.command + 1;
  if (zklock_gone_) return;
  if (!launch.arguments.empty()) arguments_ = launch.arguments;
  if (world->now >= page_.fence) {
    page_.fenced = true;
    page_.phase = CommandPhase::gone;
    return notify();
  }
  begin(launch.variables);
}

void SimulatedGuard::begin(const std::vector<std::string>& variables) {
  const auto word = [&](size_t index) { return index < arguments_.size() ? arguments_[index] : ""; };
  command_ =
      std::make_shared<Command>(Command{zklock_, lines_of(variables, "ZKLOCK_PATH"), lines_of(variables, "ZKLOCK_NODE"),
                                        lines_of(variables, "ZKLOCK_TOKEN"), word(2), variables});
  term_until_ = kNever;
  page_.pid = 10000 + zklock_->number;
  page_.phase = CommandPhase::running;
  ++commands->begun;
  note("{}: command begins under {} token {} item {}", zklock_->name, fmt::join(command_->nodes, " "),
       fmt::join(command_->tokens, " "), command_->item);
  commands->on_begin(*command_);
  commands->alive.push_back(command_);
  note_fence();
  const bool ends_well = word(3).ends_with('?') && world->random.chance(0.5);
  const int status = ends_well ? 0 : std::atoi(word(3).c_str());
  world->in(std::atoll(word(1).c_str()) * ms,
            [self = shared_from_this(), command = command_, status] { self->complete(command, status); });
  watch_fence();
}

void SimulatedGuard::complete(const std::shared_ptr<Command>& command, int status) {
  if (!command->alive) return;
  if (status == 0) commands->on_completed(*command);
  end(status << 8, "by itself");
}

void SimulatedGuard::end(int wait_status, const char* how) {
  if (!lives()) return;
  command_->alive = false;
  std::erase(commands->alive, command_);
  note("{}: command ends {}", zklock_->name, how);
  page_.wait_status = wait_status;
  page_.phase = CommandPhase::gone;
  notify();
}

void SimulatedGuard::watch_fence() {
  const uint64_t number = ++fence_watch_;
  if (page_.fence == kNever || !lives()) return;
  world->at(page_.fence, [self = shared_from_this(), number] {
    if (number != self->fence_watch_ || !self->lives()) return;
    if (self->page_.fence > world->now) return self->watch_fence();
    self->page_.fenced = true;
    ++commands->killed_at_fence;
    self->end(SIGKILL, "at the fence");
  });
}

void SimulatedGuard::finish(Time grace) {
  if (!lives()) {
    page_.phase = CommandPhase::gone;
    return notify();
  }
  term_until_ = std::min(term_until_, world->now + grace);
  const auto end_it = [this, command = command_](Time span, int signal, const char* how) {
    world->in(span, [self = shared_from_this(), command, signal, how] {
      if (command->alive) self->end(signal, how);
    });
  };
  if (!world->random.chance(commands->ignores_term)) end_it(world->random.between(1 * ms, 60 * ms), SIGTERM, "by TERM");
  end_it(term_until_ - world->now, SIGKILL, "by KILL");
}

void SimulatedGuard::zklock_is_gone() {
  if (std::exchange(zklock_gone_, true) || zklock_->state != Process::State::killed) return;
  end(SIGKILL, "with its zklock");
  if (!at_end_) return;
  world->start(zklock_->name + "'s guard", [at_end = at_end_] {
    at_end();
    return 0;
  });
}

std::map<const host::Guard*, std::shared_ptr<SimulatedGuard>> guards;

}  // namespace
}  // namespace zklock::sim

namespace zklock::host {

using sim::guards;
using sim::SimulatedGuard;

Guard::Guard(Service /*service*/, Program program, const Inherited& /*inherited*/, const std::function<void()>& at_end)
    : program_(std::move(program)), page_(new GuardPage, [](GuardPage*) {}) {
  const auto guard = std::make_shared<SimulatedGuard>(*page_, program_.arguments, at_end);
  channel_ = Fd(guard->open_channel());
  guards[this] = guard;
}

Guard::~Guard() {
  guards.at(this)->end(SIGKILL, "with its guard");
  guards.erase(this);
}

void Guard::start(const Launch& launch) {
  page_->let_go = false;
  ++command_;
  guards.at(this)->later([launch](SimulatedGuard& guard) { guard.start(launch); });
}

void Guard::finish(Duration grace) {
  guards.at(this)->later([grace](SimulatedGuard& guard) { guard.finish(grace.count()); });
}

void Guard::set_fence(Deadline moment) {
  const int64_t fence = moment.time_since_epoch().count();
  const int64_t before = page_->fence.exchange(fence);
  if (fence < before) guards.at(this)->watch_fence();
  if (fence != before) guards.at(this)->note_fence();
}

void Guard::let_go() {
  page_->let_go = true;
  page_->fence = kNever.time_since_epoch().count();
}

void Guard::dismiss() {
  state_ = GuardState::dismissed;
}

void Guard::arm(PollSet& set) {
  if (channel_) set.watch(channel_.get(), POLLIN);
}

void Guard::record(const PollSet& set) {
  if (set.seen(channel_.get())) guards.at(this)->take_notice();
}

void Guard::decide() {}

// Locks within locks are not simulated.
Fd mark_nested(int64_t /*token*/) {
  return {};
}
bool is_open_for_nesting(pid_t /*outer*/, int64_t /*token*/) {
  return false;
}
bool is_used_below(pid_t /*outer*/, int64_t /*token*/) {
  return false;
}
NestingMarks::NestingMarks(std::vector<int64_t> tokens) : tokens_(std::move(tokens)) {}
bool NestingMarks::close_and_look() {
  return false;
}
void NestingMarks::arm(PollSet& /*set*/) {}
void NestingMarks::record(const PollSet& /*set*/) {}

// Nothing outlives a simulated zklock but its guard.
Survivor::Survivor(const std::function<void()>& /*at_end*/) : pid_(0) {}
Survivor::~Survivor() = default;

}  // namespace zklock::host
