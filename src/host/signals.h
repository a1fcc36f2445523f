// SPDX-License-Identifier: Apache-2.0
// Signals as data: they are blocked, read from a signalfd in the loop, and kept until somebody takes them. Signals
// that were ignored at the start stay ignored and never appear here. And what zklock was started with in that respect.
#pragma once

#include "host/fd.h"
#include "host/loop.h"

#include <csignal>
#include <deque>
#include <initializer_list>
#include <optional>

namespace zklock::host {

// What zklock was started with and the command must get: the signal mask, what happened to SIGCHLD, SIGPIPE and
// SIGXFSZ, and which of the standard descriptors were closed.
struct Inherited {
  sigset_t mask;
  sigset_t ignored;     // of those three
  bool closed[3] = {};  // by descriptor number

  // The first thing in main: records all that and sets it as zklock needs it: standard descriptors open (on
  // /dev/null where they were closed, so that no socket of ours gets the number 2; to read or to write there fails with
  // EBADF), SIGCHLD default (ignored, it would lose exit statuses), SIGPIPE and SIGXFSZ ignored (a write then fails
  // with EPIPE or EFBIG).
  static Inherited take_over();

  // In a new child, between fork and exec: puts everything back.
  void restore() const;
};

struct Arrival {
  int signal;
  bool reached_group;        // from the terminal, or our own continue_group(): the command has it already
  bool of_terminal = false;  // the kernel's: by a key, or because the terminal has gone away
};

class Signals : public Source {
 public:
  // From now on the signals that would end zklock are recorded. Ctrl-Z still stops it.
  Signals();
  Signals(const Signals&) = delete;
  // Ctrl-Z stops zklock again. The signals that end it stay blocked: what has come to its end is not ended once more.
  ~Signals() { sigprocmask(SIG_SETMASK, &before_job_control_, nullptr); }

  // Also those that a running command should see or that must not stop a holder: TSTP, CONT, TTOU, WINCH.
  void take_job_control() { block({SIGTSTP, SIGCONT, SIGTTOU, SIGWINCH}); }

  // The oldest signal that nobody has taken yet.
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

// Which signals end what zklock waits for. All others change nothing.
enum class EndedBy {
  usual,   // those that end a program by default; a window that was resized does not
  people,  // is_ending()
};

// While it is in the loop, a signal ends whatever zklock waits for: thrown once, so that cleaning up can wait too.
class EndOnSignal : public Source {
 public:
  explicit EndOnSignal(Signals& signals, EndedBy ended_by = EndedBy::usual) : signals_(signals), ended_by_(ended_by) {}
  void decide() override;

 private:
  Signals& signals_;
  EndedBy ended_by_;
  bool ended_ = false;
};

// While it is in the loop, the first signal is kept for whoever asks, so that what has begun can be finished; the
// second one ends it.
class EndOnSecondSignal : public Source {
 public:
  explicit EndOnSecondSignal(Signals& signals) : signals_(signals) {}
  int signal() const { return signal_; }  // 0: none yet
  void decide() override;

 private:
  Signals& signals_;
  int signal_ = 0;
};

// SIGCHLD as a descriptor to poll: some child has ended, was stopped or continued. Blocks the signal.
class ChildSignal {
 public:
  ChildSignal();

  int fd() const { return fd_.get(); }
  // Takes what has come. Look at the children afterwards, not before.
  void drain() const;

 private:
  Fd fd_;
};

// SIGCONT for our process group, the command and its pipeline among it.
inline void continue_group() {
  ::kill(0, SIGCONT);
}

// Dies of `signal` with its default action and without a core, as if zklock had never caught it.
[[noreturn]] void die_of(int signal);

// HUP, INT, QUIT, TERM or PIPE: the signals by which people and shells end a program.
constexpr bool is_ending(int signal) {
  return signal == SIGHUP || signal == SIGINT || signal == SIGQUIT || signal == SIGTERM || signal == SIGPIPE;
}

}  // namespace zklock::host
