// SPDX-License-Identifier: Apache-2.0
// zklock queue pull: takes items out of a queue.
#pragma once

#include "command/cli/arguments.h"
#include "command/cli/options.h"
#include "command/cli/subcommand.h"
#include "command/queue/pull_options.h"
#include "command/queue/working.h"

#include <optional>

namespace zklock::command {

class QueuePull {
 public:
  // Adds the subcommand with its options to `queue`.
  explicit QueuePull(CLI::App& queue);

  GlobalOptions& global() { return global_; }

  // Without a command items go to standard output, and are removed from the queue once written. With one it is run for
  // each item, and its status says what becomes of that.
  int execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited& inherited,
              ExitPolicy& policy) const;

 private:
  void add_work_options();
  int write_items(PullOptions options, zk::SessionOptions session, const host::Inherited& inherited) const;
  int work(PullOptions options, zk::SessionOptions session, const Arguments& arguments,
           const host::Inherited& inherited) const;
  PullOptions pull_options(const Arguments& arguments) const;
  void check_placeholder(const std::vector<std::string>& words) const;
  Duration retry_delay() const;
  std::optional<size_t> most() const;
  void check_fit(const Arguments& arguments) const;

  CLI::App* app_;
  GlobalOptions global_;
  Value count_;
  Value timeout_;
  bool all_ = false;
  bool follow_ = false;
  bool nul_ = false;
  bool whole_ = false;
  Value placeholder_;
  Value jobs_;
  Value most_attempts_;
  Value retry_delay_;
  bool halt_ = false;
};

}  // namespace zklock::command
