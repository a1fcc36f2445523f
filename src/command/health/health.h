// SPDX-License-Identifier: Apache-2.0
// zklock health: is the ensemble well? Its exit statuses are those of monitoring plugins.
#pragma once

#include "command/cli/arguments.h"
#include "command/cli/options.h"
#include "command/command_line.h"
#include "command/health/report.h"

#include <optional>

namespace zklock::command {

class Health {
 public:
  static constexpr int kFailureStatus = static_cast<int>(Level::unknown);  // in place of zklock's own statuses

  // Adds the subcommand with its options to `root`.
  explicit Health(CLI::App& root);

  GlobalOptions& global() { return global_; }

  // Prints a look, or one after the other.
  int execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited& inherited,
              ExitPolicy& policy) const;

 private:
  CheckupOptions checkup_options(const Arguments& arguments, const GlobalOptions& global) const;
  Thresholds thresholds(size_t servers) const;
  HealthFormat format() const;
  std::optional<Duration> interval(HealthFormat format, bool quiet) const;
  [[noreturn]] void watch(host::Loop& loop, Checkup& checkup, HealthFormat format, Duration interval) const;

  CLI::App* app_;
  GlobalOptions global_;
  Value timeout_;
  Value max_latency_;
  Value max_outstanding_;
  Value min_servers_;
  Value format_;
  Value probe_;
  Value interval_;
  bool json_ = false;
};

}  // namespace zklock::command
