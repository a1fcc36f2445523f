// SPDX-License-Identifier: Apache-2.0
// What watches for ever: each state of its subject is told, on standard output or to a command that is run for it. A
// reader or a command that is slow gets what there is when it is ready; it never holds up the session. Reconnects and
// expired sessions do not end it, nor does a lack of servers once it has begun.
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

// In the session of a WatchJob.
class WatchSubject {
 public:
  virtual ~WatchSubject() = default;

  // From when it returns on, no change is missed. False when the session has expired: once more in the next one. Throws
  // what the session throws, and a Failure for what cannot be watched.
  virtual bool look() = 0;
  // After look(): when the next one is due, as there may be a change, or the session is over; else kNever.
  virtual Deadline due() const = 0;
  // What was seen last is not what was told last; nothing was told at first.
  virtual bool has_news() const = 0;

  // Both tell it. For standard output:
  virtual std::string tell() = 0;
  // For a command: variables, and its standard input.
  virtual host::Launch tell_command() = 0;
};

class WatchJob {
 public:
  // Forks the guard, if `call` has a command: before there is a ZooKeeper handle. From then on signals are blocked.
  // `path` is what messages name. Throws a Failure (64), for `halt` without a command too, and for a command that is
  // not to be found (126, 127).
  WatchJob(const Call& call, const std::string& path, bool halt);
  // For standard output only: what stands behind "--" is the caller's.
  WatchJob(const Call& call, const std::string& path) : WatchJob(call, path, std::nullopt, false) {}

  // Not open before run().
  zk::Session& session() { return session_; }
  bool has_command() const { return program_.has_value(); }

  // The status of a command that has failed, with `halt`: nothing else ends it well. Throws a Failure: by SIGPIPE when
  // nobody reads any more, by a signal, 69 when no server answers at the start, 74, 76 when the guard was killed, 77,
  // 126, and what the subject throws.
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
  zk::SessionOptions asked_;  // read before signals are blocked: the credentials may be in a pipe
  host::Loop loop_;
  host::Signals signals_;
  host::EndOnSignal end_on_signal_{signals_};
  host::Attached receiving_{loop_, signals_};
  host::Attached ending_{loop_, end_on_signal_};
  zk::Session session_;
  Console console_{session_};
  std::optional<host::StandardOutput> outlet_;
  std::unique_ptr<host::Guard> guard_;
  std::optional<host::Attached> attached_;  // the one of these two that there is
  int end_signal_ = 0;                      // that shall end us, once the command has ended
};

}  // namespace zklock::command
