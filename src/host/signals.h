// SPDX-License-Identifier: Apache-2.0
// Signals as data: they are blocked, read from a signalfd in the loop, and kept until they are taken. Signals that were
// ignored at the start stay ignored and never appear here.
#pragma once

#include "host/fd.h"
#include "host/loop.h"

#include <csignal>
#include <deque>
#include <initializer_list>
#include <optional>

namespace zklock::host {

// What zklock was started with and must pass on to the command. This is the signal mask, how SIGCHLD, SIGPIPE and
// SIGXFSZ were handled, and which of the standard descriptors were closed.
struct Inherited {
  sigset_t mask;
  sigset_t ignored;     // of those three
  bool closed[3] = {};  // by descriptor number

  // Records all that, and then sets it as zklock needs it. To be called first in main.
  // Standard descriptors that were closed are opened on /dev/null, so that no socket of ours gets the number 2. Reading
  // or writing them fails with EBADF. SIGCHLD gets its default action, because exit statuses would be lost if it were
  // ignored. SIGPIPE and SIGXFSZ are ignored, so a write fails with EPIPE or EFBIG.
  static Inherited take_over();

  // Puts everything back. To be called just before an exec, usually in a new child after the fork.
  void restore() const;
};

struct Arrival {
  int signal;
  bool reached_group;        // by the terminal or our own continue_group(): the command has it already
  bool of_terminal = false;  // sent by the kernel: for a key, or because the terminal has gone away
};

class Signals : public Source {
 public:
  // Records, from now on, the signals that would end zklock. Ctrl-Z still stops it. Throws a Failure (70) if there can
  // be no signalfd.
  Signals();
  Signals(const Signals&) = delete;
  // Lets Ctrl-Z stop zklock again. The signals that would end it stay blocked, because the work that they would
  // end is done.
  ~Signals() { sigprocmask(SIG_SETMASK, &before_job_control_, nullptr); }

  // Also records the signals that a running command should see or that must not stop a holder: TSTP, CONT, TTOU, WINCH.
  void take_job_control() { block({SIGTSTP, SIGCONT, SIGTTOU, SIGWINCH}); }

  // Returns the oldest signal that was not taken yet, and removes it; nothing if there is none.
  std::optional<Arrival> take();

  void arm(PollSet& set) override { set.watch(fd_.get(), POLLIN); }
  void record(const PollSet& set) override;

 private:
  void block(std::initializer_list<int> signals);

  sigset_t taken_;
  sigset_t before_job_control_;  // the mask
  Fd fd_;
  std::deque<Arrival> arrived_;
};

// Returns whether `signal` ends a program by default. The others stop it, continue it, or report a change.
bool ends_by_default(int signal);

// Returns whether `signal` is HUP, INT, QUIT, TERM or PIPE, by which people and shells end a program.
constexpr bool is_ending(int signal) {
  return signal == SIGHUP || signal == SIGINT || signal == SIGQUIT || signal == SIGTERM || signal == SIGPIPE;
}

// While it is in the loop, a signal for which `ends` is true ends what zklock waits for. All others change nothing.
// Failure::by_signal() is thrown only once, so that cleaning up can wait too.
class EndOnSignal : public Source {
 public:
  explicit EndOnSignal(Signals& signals, bool (*ends)(int) = ends_by_default) : signals_(signals), ends_(ends) {}
  void decide() override;

 private:
  Signals& signals_;
  bool (*ends_)(int);
  bool ended_ = false;
};

// A loop in which a signal ends what zklock waits for, as EndOnSignal says, unless the caller takes the signals itself.
class SignalLoop : public Loop {
 public:
  SignalLoop() {
    add(signals_);
    add(ending_);
  }

  Signals& signals() { return signals_; }
  // From now on, the caller takes the signals.
  void leave_signals() { remove(ending_); }
  // After leave_signals(): from now on, signals end waits again.
  void end_on_signals() { add(ending_); }

 private:
  Signals signals_;
  EndOnSignal ending_{signals_};
};

// While it is in the loop, it keeps the first signal for the caller, so that what has begun can be finished. The second
// one ends the wait by Failure::by_signal(). Only signals that end a program by default count.
class EndOnSecondSignal : public Source {
 public:
  explicit EndOnSecondSignal(Signals& signals) : signals_(signals) {}
  int signal() const { return signal_; }  // 0: none yet
  // From now on, the first one ends zklock, too.
  void end_at_once() { at_once_ = true; }
  void decide() override;

 private:
  Signals& signals_;
  int signal_ = 0;
  bool at_once_ = false;
};

// Blocks SIGCHLD and returns it as a descriptor to poll: a child has ended, was stopped, or was continued. Throws a
// Failure (70) if there can be no signalfd.
Fd open_child_signal();
// Reads what has come there. Check the children after this call, not before.
void drain(const Fd& child_signal);

// Sends SIGCONT to our process group, to which the command and its pipeline belong.
inline void continue_group() {
  ::kill(0, SIGCONT);
}

// Ends zklock by `signal` with its default action and without a core, as if zklock had never caught it.
[[noreturn]] void die_of(int signal);

}  // namespace zklock::host
