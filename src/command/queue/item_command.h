// SPDX-License-Identifier: Apache-2.0
// The command that is run for each item, and what an item turns it into.
#pragma once

#include "host/process/guard.h"
#include "recipe/queue/layout.h"

#include <optional>
#include <string>
#include <vector>

namespace zklock::command {

class ItemCommand {
 public:
  // `placeholder`: what is replaced by the item in the words behind the first; nothing: the item is the command's
  // standard input. `queue` and `servers` are for its environment.
  ItemCommand(std::vector<std::string> words, std::optional<std::string> placeholder, std::string queue,
              std::string servers);

  const std::vector<std::string>& words() const { return words_; }

  // Why no command can be run for it; nothing: one can.
  std::optional<std::string> unfit(const recipe::Item& item) const;
  host::Launch launch(const recipe::Item& item) const;

 private:
  std::vector<std::string> arguments(const recipe::Item& item) const;
  std::vector<std::string> variables(const recipe::Item& item) const;

  std::vector<std::string> words_;
  std::optional<std::string> placeholder_;
  std::string queue_;
  std::string servers_;
};

}  // namespace zklock::command
