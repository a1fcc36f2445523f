// SPDX-License-Identifier: Apache-2.0
// zklock run: one command under one lock or several.
#pragma once

#include "command/cli/arguments.h"
#include "command/cli/options.h"
#include "command/cli/subcommand.h"
#include "command/lock/job.h"

#include <string>
#include <vector>

namespace zklock::command {

class Run {
 public:
  // Adds the subcommand with its options to `root`.
  explicit Run(CLI::App& root);

  GlobalOptions& global() { return global_; }

  // Takes the lock, runs the command, gives the lock back; returns the command's status. Nothing is created in
  // ZooKeeper before all of the input is known to be good.
  int execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited& inherited,
              ExitPolicy& policy) const;

 private:
  void add_lock_options();
  void add_command_options();
  std::vector<std::string> paths(const Arguments& arguments) const;
  std::vector<std::string> command_of(const Arguments& arguments, const std::string& path) const;
  int busy_status() const;
  recipe::Patience patience() const;
  recipe::LockType lock_type() const;
  int64_t slots() const;
  std::optional<Duration> grace() const;
  JobOptions job_options(const Arguments& arguments) const;
  void check_job(const JobOptions& job) const;

  CLI::App* app_;
  GlobalOptions global_;
  bool nonblock_ = false;
  CLI::Option* shared_ = nullptr;  // which of the two was given last is asked of the parser
  CLI::Option* exclusive_ = nullptr;
  bool given_ = false;
  Value peer_;
  Value timeout_;
  Value conflict_status_;
  Value shell_command_;
  Value label_;
  Value grace_;
  Value slots_;
  Value min_hold_;
  Value once_per_;
  bool wait_all_ = false;
  bool restart_ = false;
};

}  // namespace zklock::command
