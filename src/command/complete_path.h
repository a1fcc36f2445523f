// SPDX-License-Identifier: Apache-2.0
// zklock complete-path PREFIX [-- WORD...]: what the shells' completions ask. Prints the paths one level deep that
// begin with PREFIX and may be a lock, a queue, a group or on the way to one, a line each. The words are those before
// the cursor: --servers and --auth-file among them count. Not for people, so no help shows it.
#pragma once

#include "command/cli/arguments.h"
#include "command/cli/options.h"
#include "command/command_line.h"

namespace zklock::command {

class CompletePath {
 public:
  explicit CompletePath(CLI::App& root);

  GlobalOptions& global() { return global_; }

  // Returns 0 within half a second, whatever happens, and says nothing of what goes wrong: there is no place for that
  // where a person types.
  int execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited& inherited,
              ExitPolicy& policy) const;

 private:
  CLI::App* app_;
  GlobalOptions global_;
};

}  // namespace zklock::command
