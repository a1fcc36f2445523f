// SPDX-License-Identifier: Apache-2.0
// Watches that do not end: each state of the subject is printed on standard output, or a command is run for it. A slow
// reader or command gets the latest state when it is ready, and never holds up the session. Reconnects and expired
// sessions do not end a watch, nor does a lack of servers once it has begun.
#pragma once

#include "command/child/console.h"
#include "command/cli/subcommand.h"
#include "host/process/guard.h"
#include "host/signals.h"
#include "host/streams.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace zklock::command {

// The subject of a WatchJob, in the session of that job.
class WatchSubject {
 public:
  virtual ~WatchSubject() = default;

  // Reads the subject and sets watches; from its return on, no change is missed. Throws what the session throws, and a
  // Failure if the subject cannot be watched. After SessionOver, call it again in the next session.
  virtual void look() = 0;
  // Returns when the next look() is due because there may be a change or the session is over; else kNever. Call it
  // after look().
  virtual Deadline due() const = 0;
  // Returns whether the state seen last differs from the one reported last. At first none was reported.
  virtual bool has_news() const = 0;

  // Returns the state seen last, for standard output. From then on it counts as reported.
  virtual std::string tell() = 0;
  // Does the same for a command: returns its variables and its standard input.
  virtual host::Launch tell_command() = 0;
};

class WatchJob {
 public:
  // Forks the guard if `call` has a command, so there must be no ZooKeeper handle yet. From then on signals are
  // blocked. Messages name `path`. Throws a Failure: 64, also for `halt` without a command; 126 or 127 for a command
  // that is not found.
  WatchJob(const Call& call, const std::string& path, bool halt);
  // Prints on standard output only: the caller handles the words after "--".
  WatchJob(const Call& call, const std::string& path) : WatchJob(call, path, std::nullopt, false) {}

  // The session is not open before run().
  zk::Session& session() { return session_; }
  bool has_command() const { return program_.has_value(); }

  // Watches without end; with `halt`, returns the status of a command that has failed. Otherwise only a Failure ends
  // it: by SIGPIPE if the reader has gone, by another signal, 69 if no server answers at the start, 74, 76 if the guard
  // was killed, 77, 126, and what the subject throws.
  int run(WatchSubject& subject);

 private:
  WatchJob(const Call& call, const std::string& path, std::optional<host::Program> program, bool halt);
  int watch(WatchSubject& subject);
  void look(WatchSubject& subject);
  void write(std::string_view text);
  int run_command(WatchSubject& subject);
  void attend_command();
  void pass_on_signals();
  int judge_end() const;
  void wait(const WatchSubject& subject);

  std::string path_;
  bool halt_;
  std::optional<host::Program> program_;
  zk::SessionOptions asked_;  // read before signals are blocked, because credentials may be in a pipe
  host::SignalLoop loop_;
  zk::Session session_;
  Console console_{session_};
  std::optional<host::StandardOutput> outlet_;
  std::unique_ptr<host::Guard> guard_;
  std::optional<host::Attached> attached_;  // whichever of these two there is
  int end_signal_ = 0;                      // ends zklock once the command has ended; 0: none
};

}  // namespace zklock::command
