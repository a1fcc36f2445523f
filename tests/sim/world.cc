// SPDX-License-Identifier: Apache-2.0
#include "world.h"

#include <algorithm>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace zklock::sim {

World* world = nullptr;

namespace {

constexpr int kMostAtOnce = 20000;  // events without any time: something spins

}  // namespace

uint64_t Random::next() {
  uint64_t mixed = (state_ += 0x9E3779B97F4A7C15ULL);
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9ULL;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBULL;
  return mixed ^ (mixed >> 31);
}

void World::at(Time when, Action action) {
  events_.push({std::max(when, now), ++order_, std::move(action)});
}

void World::run(Time until, const std::function<bool()>& done) {
  while (!events_.empty() && violation_.empty() && !done()) {
    if (events_.top().at > until) return;
    // Moved out, because it may add others.
    const Event event = std::move(const_cast<Event&>(events_.top()));
    events_.pop();
    if (event.at > now) at_once_ = 0;
    now = event.at;
    if (++at_once_ > kMostAtOnce) return violation(fmt::format("{} events happened without any time", at_once_));
    event.action();
  }
}

Process& World::start(std::string name, std::function<int()> body) {
  const int number = static_cast<int>(processes_.size());
  processes_.push_back(std::make_unique<Process>(number, std::move(name), std::move(body)));
  Process& process = *processes_.back();
  process.started_at = now;
  schedule(process, now);
  return process;
}

void World::schedule(Process& process, Time when) {
  process.scheduled = true;
  at(std::max(when, process.stopped_until), [this, &process] {
    if (!process.lives()) return;
    if (now < process.stopped_until) return schedule(process, process.stopped_until);
    process.scheduled = false;
    current = &process;
    process.resume();
    current = nullptr;
  });
}

void World::sleep(Time span) {
  Process& self = *current;
  schedule(self, now + span);
  self.yield();
}

void World::maybe_preempt() {
  if (!current || preemption <= 0 || current->state == Process::State::waiting) return;
  current->count_call();
  if (now < current->stopped_until) return sleep(0);
  if (!random.chance(preemption)) return;
  sleep(random.between(1 * us, random.chance(0.9) ? 2 * ms : longest_preemption));
}

// The hash is FNV-1a's.
void World::log(std::string_view text) {
  const std::string line = fmt::format("{:12.6f} {}\n", static_cast<double>(now) / 1e9, text);
  for (const char byte : line) hash_ = (hash_ ^ static_cast<unsigned char>(byte)) * 1099511628211ULL;
  if (prints) syscall(SYS_write, 1, line.data(), line.size());
}

void World::violation(const std::string& text) {
  log("VIOLATION: " + text);
  if (violation_.empty()) violation_ = text;
}

}  // namespace zklock::sim
