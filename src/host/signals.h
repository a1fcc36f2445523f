// SPDX-License-Identifier: Apache-2.0
// Signals as data: they are blocked, read from a signalfd in the loop, and kept until somebody takes them. Signals
// that were ignored at the start stay ignored and never appear here.
#pragma once

#include "host/fd.h"
#include "host/loop.h"

#include <csignal>
#include <deque>
#include <optional>

namespace zklock::host {

struct Arrival {
  int signal;
  bool reached_group;  // from the terminal, or our own continue_group(): the command has it already
};

class Signals : public Source {
 public:
  // From now on the signals that would end zklock are recorded. Ctrl-Z still stops it.
  Signals();
  Signals(const Signals&) = delete;
  // Ctrl-Z stops zklock again. The signals that end it stay blocked: what has come to its end is not ended once more.
  ~Signals();

  // Also those that a running command should see or that must not stop a holder: TSTP, CONT, TTOU, WINCH.
  void take_job_control();

  // The oldest signal that nobody has taken yet.
  std::optional<Arrival> take();

  void arm(PollSet& set) override;
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
  void arm(PollSet&) override {}
  void record(const PollSet&) override {}
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
  void arm(PollSet&) override {}
  void record(const PollSet&) override {}
  void decide() override;

 private:
  Signals& signals_;
  int signal_ = 0;
};

// SIGCONT for our process group, the command and its pipeline among it.
void continue_group();

// Dies of `signal` with its default action and without a core, as if zklock had never caught it.
[[noreturn]] void die_of(int signal);

// By default it ends a program: not what stops, continues or tells of a window.
bool ends_by_default(int signal);

// HUP, INT, QUIT, TERM or PIPE: the signals by which people and shells end a program.
bool is_ending(int signal);

}  // namespace zklock::host
