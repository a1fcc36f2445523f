// SPDX-License-Identifier: Apache-2.0
// zklock queue pull: takes items out of a queue.
#pragma once

#include "command/arguments.h"
#include "command/cli.h"
#include "command/options.h"
#include "command/pulling.h"

#include <optional>

namespace zklock::command {

class QueuePull {
 public:
  // Adds the subcommand with its options to `queue`.
  explicit QueuePull(CLI::App& queue);

  GlobalOptions& global() { return global_; }

  // Items go to standard output, and are removed from the queue once written.
  int execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited& inherited,
              Manner& manner) const;

 private:
  PullOptions pull_options(const Arguments& arguments) const;
  std::optional<size_t> most() const;

  CLI::App* app_;
  GlobalOptions global_;
  Value count_;
  Value timeout_;
  bool all_ = false;
  bool follow_ = false;
  bool nul_ = false;
  bool whole_ = false;
};

}  // namespace zklock::command
