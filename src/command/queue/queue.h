// SPDX-License-Identifier: Apache-2.0
// zklock queue: its subcommands (push.cc, pull.cc, the others in admin.cc), what they share on the
// command line, and what is shown of a queue (report.cc, metrics.cc): for people and awk in columns, with --json an
// object on a line of its own for each item.
#pragma once

#include "command/cli/subcommand.h"
#include "recipe/queue/admin.h"

#include <cstdint>
#include <optional>
#include <string>
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

// The queue that is named among the words of `app`, and the words behind it. Throws a Failure (64) for a bad one.
struct QueueWords {
  std::string path;
  std::vector<std::string> rest;
};
QueueWords queue_words(const CLI::App& app, const Arguments& arguments);

// The same where nothing may stand behind it.
std::string path_of_queue(const Call& call);

// For messages: "1 item is", "5 items are".
std::string items_are(int64_t count);

// "items 3", "dead 0", and with `exact` "in_work 1", a line each.
std::string text_of(const recipe::QueueCounts& count, bool exact);
std::string json_of(const recipe::QueueCounts& count, bool exact);

// The text format that Prometheus and its node exporter read. Moments are by the servers' clock. `oldest_ms`: when the
// oldest item was pushed; 0: not known, or none.
std::string prometheus_of(const std::string& queue, const recipe::QueueCounts& count, bool exact, int64_t oldest_ms);

class Table;

// Takes the items in pieces, so that no more than one has to be kept.
class QueueReport {
 public:
  // A table has the `columns` of a terminal, if there is one.
  QueueReport(bool dead, bool json, std::optional<size_t> columns = {}) : dead_(dead), json_(json), columns_(columns) {}

  // Those that follow the ones before.
  std::string text_of(const std::vector<recipe::QueueItem>& items);

 private:
  void fit(Table& table);
  std::vector<std::string> row_of(const recipe::QueueItem& item);
  std::string line_of(const recipe::QueueItem& item);

  bool dead_;
  bool json_;
  std::optional<size_t> columns_;
  std::vector<std::string> heads_;  // of the pieces so far
  size_t listed_ = 0;
};

}  // namespace zklock::command
