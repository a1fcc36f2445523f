// SPDX-License-Identifier: Apache-2.0
#include "host/process/guard.h"

#include "host/process/proc.h"
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
constexpr Duration kReaction = 250ms;  // in which a guard that works has begun to kill at the fence

GuardPage* make_shared_page() {
  void* memory = mmap(nullptr, sizeof(GuardPage), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw system_error("cannot map memory");
  return new (memory) GuardPage;
}

// The /proc of another PID namespace (unshare -pf without --mount-proc) has processes of our numbers that are not ours.
void check_proc() {
  if (proc_folder() < 0 && errno == EMFILE) throw system_error("cannot look for processes");
  const std::string self = link_in_proc("self");
  if (self == std::to_string(getpid())) return;
  throw Failure(ExitStatus::internal, !self.empty()
                                          ? "cannot end commands by the /proc of another PID namespace: mount "
                                            "one for this (unshare --mount-proc)"
                                          : "cannot read /proc, by which commands are ended");
}

// Those that whoever became zklock by exec had. Asked first, because a list of them takes a while.
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
  // All that the guard cannot do without is there before it is, because it could tell nobody.
  Timer timer;
  // The command's tree is ours should the guard be killed.
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
    // Our child and not reaped, so the pid is its own. Not asked to end: it may be frozen.
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  while (runs && !end_tree()) ::poll(nullptr, 0, static_cast<int>(kBetweenTries / 1ms));
  group().remove();
}

// One round; whether nothing is left.
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
  // Earlier than the guard will wake up by itself.
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
  set.watch(child_signal_.fd(), POLLIN);
  if (channel_) set.watch(channel_.get(), POLLIN);
  if (state_ == GuardState::orphaned) set.wake_at(deadline_in(kBetweenTries));
  const Deadline fence = page_->fence_moment();
  if (state_ == GuardState::alive && command_ > 0 && !page_->fenced && fence != kNever) set.wake_at(fence + kReaction);
}

void Guard::record(const PollSet& set) {
  if (set.seen(child_signal_.fd())) {
    child_signal_.drain();
    child_changed_ = true;
  }
  if (!channel_ || !set.seen(channel_.get())) return;
  char looks[64];
  ssize_t length = 0;
  do {
    length = recv(channel_.get(), looks, sizeof looks, MSG_DONTWAIT);
  } while (length > 0);
  if (length != 0) return;
  channel_.reset();
  child_changed_ = true;  // another guard may have taken the signal, between two looks of one poll
}

void Guard::decide() {
  if (state_ == GuardState::alive && std::exchange(child_changed_, false)) look_after_guard();
  if (state_ == GuardState::alive && stands_still()) take_over();
  if (state_ != GuardState::orphaned || !end_tree()) return;
  state_ = GuardState::cleared;
  page_->overrun = std::max(BootClock::now() - page_->fence_moment(), Duration::zero()).count();
}

// Once the command runs, a stopped guard could not keep the fence, so it is no better than a dead one.
void Guard::look_after_guard() {
  int wait_status = 0;
  const pid_t found = waitpid(pid_, &wait_status, WNOHANG | WUNTRACED);
  // Another guard's end may have reaped it.
  if (found != pid_ && (found == 0 || errno != ECHILD)) return;
  const bool nothing_runs = command_ == 0 || page_->let_go;
  if (nothing_runs && found == pid_ && WIFSTOPPED(wait_status)) {
    // By who stopped all of our group, in which it is where that is orphaned, and maybe has continued us first.
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

// Past the fence and not killing: held by a debugger, or in a cgroup that is frozen.
bool Guard::stands_still() const {
  const Deadline fence = page_->fence_moment();
  return command_ > 0 && !page_->fenced && !gone() && fence != kNever && BootClock::now() >= fence + kReaction;
}

void Guard::take_over() {
  channel_.reset();  // first: the next look may need its descriptor
  // If it was reaped already there is nobody with that pid but a zombie of ours at most.
  const auto children = own_children();
  if (children && std::find(children->begin(), children->end(), pid_) != children->end()) ::kill(pid_, SIGKILL);
  state_ = GuardState::orphaned;
}

}  // namespace zklock::host
