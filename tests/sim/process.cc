// SPDX-License-Identifier: Apache-2.0
#include "process.h"

#include "world.h"
#include "zk/wire.h"

#include <algorithm>
#include <array>
#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>
#include <boost/context/preallocated.hpp>
#include <cerrno>
#include <cstring>
#include <cxxabi.h>
#include <utility>
#include <vector>

#ifdef ZKLOCK_SANITIZE
#include <sanitizer/common_interface_defs.h>
#endif

namespace zklock::sim {

namespace {

namespace context = boost::context;

// CLI11 needs most of it; sanitizers make frames larger.
#ifdef ZKLOCK_SANITIZE
constexpr size_t kStack = 2048 * 1024;
#else
constexpr size_t kStack = 256 * 1024;
#endif

// What libstdc++ keeps for each thread about exceptions that are under way: a fiber may wait inside a `catch`.
using Exceptions = std::array<char, 2 * sizeof(void*)>;

Exceptions swap_exceptions(const Exceptions& wanted) {
  Exceptions before{};
  void* const here = abi::__cxa_get_globals();
  std::memcpy(before.data(), here, before.size());
  std::memcpy(here, wanted.data(), wanted.size());
  return before;
}

// A stack outlives its process: it is given to the next one that starts.
class Stacks {
 public:
  context::stack_context take() {
    if (free_.empty()) return context::fixedsize_stack(kStack).allocate();
    const context::stack_context stack = free_.back();
    free_.pop_back();
    return stack;
  }
  void give(const context::stack_context& stack) { free_.push_back(stack); }

 private:
  std::vector<context::stack_context> free_;
};

Stacks& stacks() {
  static Stacks stacks;
  return stacks;
}

struct Borrowed {
  context::stack_context stack;
  context::stack_context allocate() const { return stack; }
  void deallocate(context::stack_context& /*stack*/) const {}
};

}  // namespace

struct Process::Fiber {
  context::stack_context stack = stacks().take();
  context::fiber inside;   // the process, while it does not run
  context::fiber outside;  // the world, while it does
  Exceptions exceptions{};
  int error = 0;
  zk::Wire* wire = nullptr;
#ifdef ZKLOCK_SANITIZE
  void* fake_stack = nullptr;
  const void* outer_bottom = nullptr;
  size_t outer_size = 0;
#endif
};

Process::Process(int its_number, std::string its_name, std::function<int()> body)
    : number(its_number), name(std::move(its_name)), body_(std::move(body)), fiber_(new Fiber) {
  fiber_->inside =
      context::fiber(std::allocator_arg, context::preallocated(fiber_->stack.sp, fiber_->stack.size, fiber_->stack),
                     Borrowed{fiber_->stack}, [this](context::fiber&& outside) {
#ifdef ZKLOCK_SANITIZE
                       __sanitizer_finish_switch_fiber(nullptr, &fiber_->outer_bottom, &fiber_->outer_size);
#endif
                       fiber_->outside = std::move(outside);
                       status = body_();
                       finish(State::ended);
#ifdef ZKLOCK_SANITIZE
                       __sanitizer_start_switch_fiber(nullptr, fiber_->outer_bottom, fiber_->outer_size);
#endif
                       return std::move(fiber_->outside);
                     });
}

// A process that has not ended keeps its fiber for ever: to take it apart would unwind it.
Process::~Process() {
  if (state == State::ended) delete fiber_;
}

void Process::resume() {
  const Exceptions ours = swap_exceptions(fiber_->exceptions);
  zk::Wire* const wire = std::exchange(zk::WireScope::current, fiber_->wire);
  errno = fiber_->error;
#ifdef ZKLOCK_SANITIZE
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, static_cast<char*>(fiber_->stack.sp) - fiber_->stack.size,
                                 fiber_->stack.size);
#endif
  fiber_->inside = std::move(fiber_->inside).resume();
#ifdef ZKLOCK_SANITIZE
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
  fiber_->error = errno;
  fiber_->wire = std::exchange(zk::WireScope::current, wire);
  fiber_->exceptions = swap_exceptions(ours);
  if (state == State::ended) stacks().give(fiber_->stack);
}

void Process::yield() {
#ifdef ZKLOCK_SANITIZE
  __sanitizer_start_switch_fiber(&fiber_->fake_stack, fiber_->outer_bottom, fiber_->outer_size);
#endif
  fiber_->outside = std::move(fiber_->outside).resume();
#ifdef ZKLOCK_SANITIZE
  __sanitizer_finish_switch_fiber(fiber_->fake_stack, &fiber_->outer_bottom, &fiber_->outer_size);
#endif
}

// On a busy machine it takes a while.
void Process::wake() {
  if (state != State::waiting || scheduled) return;
  const bool busy = world->preemption > 0 && world->random.chance(0.02);
  world->schedule(*this, world->now + (busy ? world->random.below(30 * ms) : world->random.between(5 * us, 200 * us)));
}

void Process::kill() {
  if (lives()) finish(State::killed);
}

void Process::feed(const std::string& text, bool open) {
  input += text;
  input_open = open;
  if (lives()) wake();
}

void Process::stop(int64_t until) {
  stood_still += std::max<int64_t>(0, until - std::max(world->now, stopped_until));
  stopped_until = std::max(stopped_until, until);
}

void Process::stop_in_a_call(int calls, int64_t span) {
  calls_until_stop_ = calls;
  stop_span_ = span;
}

void Process::count_call() {
  if (calls_until_stop_ > 0 && --calls_until_stop_ == 0) stop(world->now + stop_span_);
}

void Process::finish(State how) {
  state = how;
  ended_at = world->now;
  if (how == State::ended) {
    note("{} ends with {} {}", name, status, error);
  } else {
    note("{} is killed", name);
  }
  for (const auto& [fd, file] : std::exchange(files, {})) file->closed();
  if (at_end) world->in(0, at_end);
}

}  // namespace zklock::sim
