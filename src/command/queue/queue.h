// SPDX-License-Identifier: Apache-2.0
// zklock queue: its subcommands (push.cc, pull.cc, admin.cc, change.cc) and what they share on the command line. A
// list of items is made by report.cc: in columns for people and awk, with --json as an object per line and item.
#pragma once

#include "command/cli/subcommand.h"
#include "recipe/queue/admin.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zklock::command {

Execute add_queue(CLI::App& app, GlobalOptions& global);  // does nothing by itself

Execute add_queue_push(CLI::App& app, GlobalOptions& global);
Execute add_queue_pull(CLI::App& app, GlobalOptions& global);
Execute add_queue_list(CLI::App& app, GlobalOptions& global);
Execute add_queue_count(CLI::App& app, GlobalOptions& global);
Execute add_queue_requeue(CLI::App& app, GlobalOptions& global);
Execute add_queue_purge(CLI::App& app, GlobalOptions& global);
Execute add_queue_delete(CLI::App& app, GlobalOptions& global);

inline constexpr PathOperand kQueuePath{"queue", "/queues/work"};

// Returns the path of the queue and the operands after it. Throws a Failure (64) for a missing or bad queue.
std::pair<std::string, std::vector<std::string>> queue_words(const Call& call);

// Returns the path of the queue. Throws a Failure (64) also for a word after it.
std::string path_of_queue(const Call& call);

// Returns "1 item is" or "5 items are", for messages.
std::string items_are(int64_t count);

class Table;

// Formats items or dead letters in pieces, so that only one piece has to be kept.
class QueueReport {
 public:
  // A table is fitted to the `columns` of a terminal, if there is one.
  QueueReport(bool dead, bool json, std::optional<size_t> columns = {}) : dead_(dead), json_(json), columns_(columns) {}

  // Returns the text of the next items. The first call adds the heads of the table.
  std::string text_of(const std::vector<recipe::QueueItem>& items);

 private:
  void fit(Table& table);
  std::vector<std::string> row_of(const recipe::QueueItem& item);
  std::string line_of(const recipe::QueueItem& item);

  bool dead_;
  bool json_;
  std::optional<size_t> columns_;
  std::vector<std::string> heads_;  // of the columns in the pieces so far
  size_t listed_ = 0;
};

}  // namespace zklock::command
