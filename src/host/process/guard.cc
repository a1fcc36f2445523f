// SPDX-License-Identifier: Apache-2.0
#include "host/process/guard.h"

#include "base/contains.h"
#include "host/process/tree.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <new>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace zklock::host {

namespace {

using namespace std::chrono_literals;

constexpr Duration kBetweenTries = 20ms;
constexpr Duration kReaction = 250ms;  // within which a working guard begins to kill at the fence

GuardPage* make_shared_page() {
  void* memory = mmap(nullptr, sizeof(GuardPage), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw system_error("cannot map memory");
  return new (memory) GuardPage;
}

// Throws if /proc is another PID namespace's (unshare -pf without --mount-proc). There, our pids belong to other
// processes.
void check_proc() {
  if (proc_folder() < 0 && errno == EMFILE) throw system_error("cannot look for processes");
  const std::string self = link_in_proc("self");
  if (self == std::to_string(getpid())) return;
  throw Failure(ExitStatus::internal, !self.empty()
                                          ? "cannot end commands by the /proc of another PID namespace: mount "
                                            "one for this (unshare --mount-proc)"
                                          : "cannot read /proc, by which commands are ended");
}

// Returns the children of the program that became zklock by exec. waitid() comes first, because a list of children
// takes a while.
std::vector<pid_t> children_before() {
  siginfo_t info{};
  if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) return {};
  return own_children().value_or(std::vector<pid_t>());
}

}  // namespace

Guard::Guard(Service service, Program program, const Inherited& inherited, const std::function<void()>& at_end)
    : program_(std::move(program)), page_(make_shared_page(), [](GuardPage* page) { munmap(page, sizeof *page); }) {
  check_proc();
  spared_ = children_before();
  auto [ours, its] = make_channel();
  // All that the guard needs is made before the fork, because the guard could not report a failure.
  Timer timer;
  // If the guard is killed, we inherit the command's tree.
  become_subreaper();
  const pid_t zklock = getpid();
  pid_ = fork();
  if (pid_ < 0) throw system_error("cannot start the guard");
  if (pid_ == 0) {
    ours.reset();
    be_guard({std::move(its), std::move(child_signal_), std::move(timer), *page_, service, program_, inherited, zklock,
              at_end});
  }
  channel_ = std::move(ours);
}

Guard::~Guard() {
  const bool runs = command_ > 0 && !gone() && !page_->let_go;
  if (state_ == GuardState::alive || state_ == GuardState::dismissed) {
    // The guard is our child and not reaped, so the pid is its own. It is killed at once, because it may be frozen.
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  while (runs && !end_tree()) ::poll(nullptr, 0, static_cast<int>(kBetweenTries / 1ms));
  group().remove();
}

// Does one round of killing. Returns whether nothing is left.
bool Guard::end_tree() {
  group().kill();
  kill_descendants(spared_);
  reap_children();
  const auto left = own_children(spared_);
  return left && left->empty();
}

void Guard::start(const Launch& launch) {
  const Order order = order_to_start(command_ + 1, launch);
  page_->let_go = false;
  send(channel_, order);
  ++command_;
}

void Guard::finish(Duration grace) {
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(grace).count();
  send(channel_, {OrderKind::finish, static_cast<int32_t>(milliseconds)});
}

void Guard::set_fence(Deadline moment) {
  const int64_t before = page_->fence.exchange(moment.time_since_epoch().count());
  // The guard sleeps until the old fence, so it must be woken for an earlier one.
  if (command_ > 0 && moment.time_since_epoch().count() < before) forward(0);
}

void Guard::let_go() {
  page_->let_go = true;
  page_->fence = kNever.time_since_epoch().count();
}

void Guard::dismiss() {
  if (state_ != GuardState::alive || !gone()) return;
  ::kill(pid_, SIGKILL);
  state_ = GuardState::dismissed;
}

void Guard::arm(PollSet& set) {
  if (state_ == GuardState::dismissed) return;
  set.watch(child_signal_.get(), POLLIN);
  if (channel_) set.watch(channel_.get(), POLLIN);
  if (state_ == GuardState::orphaned) set.wake_at(deadline_in(kBetweenTries));
  if (state_ == GuardState::alive) set.wake_at(stands_still_from());
}

void Guard::record(const PollSet& set) {
  if (set.seen(child_signal_.get())) {
    drain(child_signal_);
    child_changed_ = true;
  }
  if (!channel_ || !set.seen(channel_.get())) return;
  char looks[64];
  ssize_t length = 1;
  while (length > 0) length = recv(channel_.get(), looks, sizeof looks, MSG_DONTWAIT);
  if (length != 0) return;
  channel_.reset();
  child_changed_ = true;  // another Guard may have read the signal, if it came in the middle of poll()
}

void Guard::decide() {
  if (state_ == GuardState::alive && child_changed_) reap_strangers();
  if (state_ == GuardState::alive && std::exchange(child_changed_, false)) look_after_guard();
  if (state_ == GuardState::alive && !gone() && BootClock::now() >= stands_still_from()) take_over();
  if (state_ != GuardState::orphaned || !end_tree()) return;
  state_ = GuardState::cleared;
  page_->overrun = std::max(BootClock::now() - page_->fence_moment(), Duration::zero()).count();
}

// As the first process of a container, zklock inherits orphans, of `kubectl exec` for example.
void Guard::reap_strangers() {
  for (const pid_t child : own_children().value_or(std::vector<pid_t>())) {
    if (child != pid_ && !contains(spared_, child)) waitpid(child, nullptr, WNOHANG);
  }
}

// Once the command runs, a stopped guard could not keep the fence, so it is treated like a dead one.
void Guard::look_after_guard() {
  int wait_status = 0;
  const pid_t found = waitpid(pid_, &wait_status, WNOHANG | WUNTRACED);
  // Ending another guard's tree may have reaped it.
  if (found != pid_ && (found == 0 || errno != ECHILD)) return;
  const bool nothing_runs = command_ == 0 || page_->let_go;
  if (nothing_runs && found == pid_ && WIFSTOPPED(wait_status)) {
    // If our process group is orphaned, the guard is still in it. A stop of the whole group stops the guard too, and a
    // CONT may have reached us before it stopped.
    ::kill(pid_, SIGCONT);
    return;
  }
  if (command_ == 0) throw Failure(ExitStatus::internal, "the guard was killed while zklock waited");
  if (page_->let_go) {
    channel_.reset();
    state_ = GuardState::cleared;
    return;
  }
  take_over();
}

// Returns the moment at which a guard that has not killed at the fence counts as standing still, because a debugger
// holds it, or it is in a frozen cgroup; kNever: there is no fence.
Deadline Guard::stands_still_from() const {
  const Deadline fence = page_->fence_moment();
  return command_ > 0 && !page_->fenced && fence != kNever ? fence + kReaction : kNever;
}

void Guard::take_over() {
  channel_.reset();  // first: reading /proc may need its descriptor
  // If the guard was reaped already, its pid may be another process's, so only a child of ours is killed.
  const auto children = own_children();
  if (children && contains(*children, pid_)) ::kill(pid_, SIGKILL);
  state_ = GuardState::orphaned;
}

}  // namespace zklock::host
