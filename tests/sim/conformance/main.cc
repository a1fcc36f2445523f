// SPDX-License-Identifier: Apache-2.0
// Does the simulated ensemble answer as real servers do? Makes the same random sequences of requests to both:
//
//   conformance [--real HOST:PORT,…] [--sequences N] [--seed S] [--tick MS] [--expiry N] [--prints]
//
// Without --real it takes ZKLOCK_SERVERS, as scripts/zk-sandbox sets it. Run the sandbox with
// --java-property znode.container.checkIntervalMs=86400000, or a container may go in the middle of a sequence. --tick
// is the servers' (default 2000). Ends with 1 at the first difference, and tells the sequence up to there. With
// --expiry, sessions that go silent are timed too.
#include "../tree.h"
#include "runner.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <time.h>
#include <unistd.h>

#include <fmt/format.h>

namespace zklock::sim {

namespace {

constexpr int kMostTold = 4;  // things that are seen, from a difference on

struct Options {
  std::string real;
  int64_t sequences = 100;
  uint64_t seed = 1;
  int64_t tick = 2000;
  int64_t expiry = 0;
  bool prints = false;
};

void print_step(const Step& step, size_t number, const Seen& seen) {
  fmt::print("{}. {}\n", number, story_of(step));
  for (const auto& [at, text] : seen) {
    if (at == number) fmt::print("      {}\n", text);
  }
}

void tell(const char* where, Seen::const_iterator next, Seen::const_iterator end) {
  for (int left = kMostTold; left > 0 && next != end; --left, ++next) {
    fmt::print("{} in step {}: {}\n", where, next->first, next->second);
  }
}

// Returns false, and tells the story, if they differ.
bool compare(const std::vector<Step>& steps, const Seen& real, const Seen& simulated, bool prints) {
  const auto [one, other] = std::mismatch(real.begin(), real.end(), simulated.begin(), simulated.end());
  const bool same = one == real.end() && other == simulated.end();
  size_t last = steps.size() - 1;
  if (one != real.end()) last = one->first;
  if (other != simulated.end()) last = std::min(last, other->first);
  if (!same || prints) {
    for (size_t i = 0; i <= last; ++i) print_step(steps[i], i, real);
  }
  if (same) return true;
  tell("real:     ", one, real.end());
  tell("simulated:", other, simulated.end());
  return false;
}

bool run_sequence(Backend& real, const Options& options, uint64_t seed, int& prods) {
  const std::string top = fmt::format("/conformance-{}-{}-{}", time(nullptr), getpid(), seed);
  const std::vector<Step> steps = make_steps(seed, top, real.servers());
  Runner runner(real, top);
  const Seen seen = runner.run(steps);
  prods += runner.prods();
  const auto simulated = make_simulated(seed, real.servers(), options.tick);
  if (compare(steps, seen, Runner(*simulated, top).run(steps), options.prints)) return true;
  fmt::print("sequence of --seed {} --sequences 1\n", seed);
  return false;
}

void ask(Session& session, int32_t type, const std::string& body) {
  session.send(RecordWriter().i32(++session.xid).i32(type).out + body);
}

// How long it takes in ms until a session with a timeout of two ticks is over, from when it was heard last; -1 if it
// does not end in time.
int64_t time_expiry(Backend& backend, int server, int64_t tick, int64_t heard_after) {
  Session silent, watcher;
  const std::string path = fmt::format("/expiry-{}-{}-{}", time(nullptr), getpid(), backend.now_ms());
  silent.shake_hands(backend, server, 0, static_cast<int32_t>(2 * tick));
  const int64_t timeout = silent.adopt(silent.frame().value());
  watcher.shake_hands(backend, 0, 0, static_cast<int32_t>(20 * tick));
  watcher.adopt(watcher.frame().value());
  ask(silent, op::create, RecordWriter().text(path).text("").i32(1).i32(31).text("world").text("anyone").i32(1).out);
  if (!silent.frame() || timeout != 2 * tick) return -1;
  ask(watcher, op::sync, RecordWriter().text(path).out);
  ask(watcher, op::exists, RecordWriter().text(path).boolean(true).out);
  if (!watcher.frame() || !watcher.frame()) return -1;
  backend.sleep(heard_after);
  ask(silent, op::exists, RecordWriter().text(path).boolean(false).out);
  const int64_t heard = backend.now_ms();
  if (!silent.frame()) return -1;
  const auto event = watcher.frame(6 * tick);
  const int64_t took = backend.now_ms() - heard;
  ask(watcher, op::close, "");
  watcher.frame();
  return event && RecordReader(*event).i32() == -1 ? took : -1;
}

bool run_expiry(Backend& backend, const char* name, const Options& options) {
  Random random(options.seed);
  for (int64_t i = 0; i < options.expiry; ++i) {
    const int server = static_cast<int>(random.below(backend.servers()));
    const int64_t took = time_expiry(backend, server, options.tick, random.below(options.tick));
    fmt::print("{}: server {}, expired after {} ms, a tick is {} ms\n", name, server, took, options.tick);
    // The watcher's server hears of it a little later.
    if (took < 2 * options.tick - 2 || took > 4 * options.tick + 50) return false;
  }
  return true;
}

Options read_options(int argc, char** argv) {
  Options options;
  if (const char* servers = getenv("ZKLOCK_SERVERS")) options.real = servers;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (word == "--prints") {
      options.prints = true;
      continue;
    }
    if (word == "--real") options.real = value;
    if (word == "--sequences") options.sequences = atoll(value);
    if (word == "--seed") options.seed = static_cast<uint64_t>(atoll(value));
    if (word == "--tick") options.tick = atoll(value);
    if (word == "--expiry") options.expiry = atoll(value);
    ++i;
  }
  return options;
}

int run(const Options& options) {
  const auto real = make_real(options.real);
  int prods = 0;
  for (int64_t i = 0; i < options.sequences; ++i) {
    if (!run_sequence(*real, options, options.seed + static_cast<uint64_t>(i), prods)) return 1;
  }
  if (options.expiry > 0) {
    if (!run_expiry(*real, "real", options)) return 1;
    const auto simulated = make_simulated(options.seed, real->servers(), options.tick);
    if (!run_expiry(*simulated, "simulated", options)) return 1;
  }
  fmt::print("{} sequences on {} servers: no difference", options.sequences, real->servers());
  fmt::print("; {} answers came only when something else was asked\n", prods);
  return 0;
}

}  // namespace

}  // namespace zklock::sim

int main(int argc, char** argv) {
  try {
    return zklock::sim::run(zklock::sim::read_options(argc, argv));
  } catch (const std::exception& problem) {
    fprintf(stderr, "conformance: %s\n", problem.what());
    return 2;
  }
}
