// SPDX-License-Identifier: Apache-2.0
// The small subcommands for queues: list, count, requeue, purge, delete.
#include "recipe/queue/admin.h"

#include "base/text.h"
#include "command/cli/format.h"
#include "command/cli/output.h"
#include "command/cli/table.h"
#include "command/queue/queue.h"
#include "host/streams.h"
#include "host/terminal.h"
#include "recipe/queue/nodes.h"

#include <cstdint>
#include <memory>
#include <set>
#include <string_view>

#include <fmt/format.h>

namespace zklock::command {

namespace {

constexpr const char* kListFooter =
    "Exit status: 0; 64 usage, 65 the path is no queue, 69 no server,\n"
    "74 output failed, 75 no such queue, 77 refused.\n\n"
    "Examples:\n"
    "  zklock queue list -N 10 /queues/urls\n"
    "  zklock queue list --dead --json /queues/urls | jq -r .id\n"
    "Manual: zklock-queue(1)";

constexpr const char* kCountFooter =
    "Exit status: 0; 64 usage, 65 the path is no queue, 69 no server, 77 refused.\n\n"
    "Examples:\n"
    "  zklock queue count /queues/urls\n"
    "  zklock queue count --json --exact /queues/urls | jq .in_work\n"
    "Manual: zklock-queue(1)";

constexpr const char* kRequeueFooter =
    "Exit status: 0; 64 usage, 65 not a queue or an ID is unknown,\n"
    "69 no server, 75 no such queue, 77 refused.\n\n"
    "Examples:\n"
    "  zklock queue requeue /queues/urls        # all of it\n"
    "  zklock queue list --dead /queues/urls    # shows the IDs\n"
    "Manual: zklock-queue(1)";

constexpr const char* kPurgeFooter =
    "Exit status: 0; 1 you said no; 64 usage, 65 the path is no queue, 69 no server,\n"
    "75 no such queue, 77 refused.\n\n"
    "Examples:\n"
    "  zklock queue purge /queues/urls            # says how many, and asks\n"
    "  zklock queue purge --yes --dead /queues/urls\n"
    "Manual: zklock-queue(1)";

constexpr const char* kDeleteFooter =
    "Exit status: 0 it is gone; 1 you said no; 64 usage, 65 the path is no queue,\n"
    "69 no server, 75 it is in use, or no such queue, 77 refused.\n\n"
    "Examples:\n"
    "  zklock queue delete /queues/urls           # if it is empty; asks\n"
    "  zklock queue purge --yes /q && zklock queue delete --yes /q\n"
    "Manual: zklock-queue(1)";

// A look at a queue, and what is done to it on that occasion.
class QueueVisit {
 public:
  // `verb` is for messages: "list".
  QueueVisit(std::string path, std::string_view verb, const GlobalOptions& global)
      : layout_{std::move(path)},
        tried_(fmt::format("cannot {} {}", verb, layout_.queue)),
        session_(loop_, session_options(global)) {
    session_.set_purpose(tried_);
  }

  // Connects. False if there is no such queue. Throws a Failure (65) where the path is something else.
  bool look() {
    session_.open(kNever);
    const recipe::QueueState state = recipe::look_at_queue(session_, layout_, tried_, kNever);
    if (state == recipe::QueueState::expired) throw zk::expired(tried_);
    return state == recipe::QueueState::there;
  }

  // Connects. Throws a Failure where there is no such queue (75) or the path is something else (65).
  void open() {
    if (look()) return;
    session_.close();
    throw Failure(ExitStatus::busy, tried_ + ": there is no such queue");
  }

  // Asks "zklock: QUESTION [y/N]"; throws a Failure (1) for a no. There is no session meanwhile, and a new one after
  // it.
  void confirm(const std::string& question) {
    session_.close();
    command::confirm(fmt::format("zklock: {}", question), layout_.queue);
    session_.open(kNever);
  }

  // Writes to standard output as its reader takes it. The session lives on.
  void print(std::string_view text) {
    host::StandardOutput outlet;
    const host::Attached writing(loop_, outlet);
    outlet.want(true);
    for (;;) {
      text.remove_prefix(outlet.write(text));
      if (text.empty()) return;
      session_.turn(kNever);
    }
  }

  // With --verbose, a line on standard error.
  void remark(const std::string& text) const {
    if (session_.options().verbose) host::remark(fmt::format("zklock: {}\n", text));
  }

  recipe::QueueCounts count(bool exact) { return recipe::count_queue(session_, layout_, exact, kNever); }
  int64_t find_oldest(const recipe::QueueCounts& counts) {
    return recipe::find_oldest(session_, layout_, counts, kNever);
  }
  zk::Session& session() { return session_; }
  const recipe::QueueLayout& layout() const { return layout_; }

 private:
  recipe::QueueLayout layout_;
  std::string tried_;
  host::Loop loop_;
  zk::Session session_;
};

std::string queue_path(const Call& call) {
  const QueueWords words = queue_words(call.app, call.arguments);
  if (words.rest.empty()) return words.path;
  throw usage_error(fmt::format("unexpected argument '{}': one queue at a time", printable(words.rest.front())));
}

struct AdminOptions {
  Value count;
  bool long_form = false;
  bool dead = false;
  bool exact = false;
  FormatOptions format;
  bool yes = false;
};

// Hands the options over to what is done with them.
Execute execute_with(int (*execute)(const Call&, const AdminOptions&), std::shared_ptr<AdminOptions> options) {
  return [execute, options = std::move(options)](const Call& call) { return execute(call, *options); };
}

int list(const Call& call, const AdminOptions& options) {
  const size_t most = options.count ? static_cast<size_t>(number_of(*options.count, "--count", 1)) : SIZE_MAX;
  const bool json = is_json(options.format);
  check_long(options.long_form, json ? Format::json : Format::text);
  QueueVisit visit(queue_path(call), "list", call.global);
  visit.open();
  recipe::QueueWalk walk(visit.session(), visit.layout(), options.dead);
  QueueReport report(options.dead, json, table_display(options.long_form).columns);
  for (size_t listed = 0;;) {
    const std::vector<recipe::QueueItem> items = walk.next(most - listed, kNever);
    if (items.empty()) break;
    visit.print(report.text_of(items));
    listed += items.size();
  }
  visit.session().close();
  return 0;
}

// A queue that does not exist has nothing in it.
int count(const Call& call, const AdminOptions& options) {
  const Format format = format_of(options.format, kTextJsonOrPrometheus);
  QueueVisit visit(queue_path(call), "count", call.global);
  recipe::QueueCounts count;
  int64_t oldest_ms = 0;
  if (visit.look()) {
    count = visit.count(options.exact);
    if (format == Format::prometheus) oldest_ms = visit.find_oldest(count);
  } else {
    visit.remark("there is no queue " + visit.layout().queue);
  }
  visit.session().close();
  print(format == Format::prometheus ? prometheus_of(visit.layout().queue, count, options.exact, oldest_ms)
        : format == Format::json     ? json_of(count, options.exact)
                                     : text_of(count, options.exact));
  return 0;
}

int requeue(const Call& call) {
  const QueueWords words = queue_words(call.app, call.arguments);
  std::set<std::string> ids(words.rest.begin(), words.rest.end());
  QueueVisit visit(words.path, "requeue to", call.global);
  const bool all = ids.empty();
  visit.open();
  const int64_t moved = recipe::requeue(visit.session(), visit.layout(), ids, kNever);
  visit.session().close();
  visit.remark(fmt::format("{} back in {}", items_are(moved), words.path));
  if (all || ids.empty()) return 0;
  throw Failure(ExitStatus::bad_data, fmt::format("cannot requeue '{}' to {}: no dead letter has that ID; zklock "
                                                  "queue list --dead shows them",
                                                  printable(*ids.begin()), words.path));
}

int purge(const Call& call, const AdminOptions& options) {
  const std::string path = queue_path(call);
  if (!options.yes) check_can_ask();
  QueueVisit visit(path, "purge", call.global);
  visit.open();
  if (!options.yes) {
    const recipe::QueueCounts count = visit.count(false);
    visit.confirm(fmt::format("throw away {} {} of {}?", options.dead ? count.dead : count.items,
                              options.dead ? "dead items" : "items", path));
  }
  const recipe::Purged purged = recipe::purge_queue(visit.session(), visit.layout(), options.dead, kNever);
  visit.session().close();
  const std::string text = fmt::format("{} thrown away", items_are(purged.removed));
  if (purged.in_work == 0) {
    visit.remark(text);
  } else {
    host::say_error(fmt::format("{}, {} in work and left in {}", text, items_are(purged.in_work), path));
  }
  return 0;
}

int remove(const Call& call, const AdminOptions& options) {
  const std::string path = queue_path(call);
  if (!options.yes) check_can_ask();
  QueueVisit visit(path, "delete", call.global);
  visit.open();
  if (!options.yes) visit.confirm(fmt::format("delete {}?", path));
  const bool deleted = recipe::delete_queue(visit.session(), visit.layout(), kNever);
  const recipe::QueueCounts count = deleted ? recipe::QueueCounts() : visit.count(false);
  visit.session().close();
  if (deleted) return 0;
  const bool empty = count.items + count.dead == 0;
  throw Failure(
      ExitStatus::busy,
      fmt::format(
          "cannot delete {}: {}", path,
          empty ? "somebody pushes to it or waits for items"
                : fmt::format("{} in it and {} dead; zklock queue purge throws the items away, with --dead the dead",
                              items_are(count.items), count.dead)));
}

}  // namespace

Execute add_queue_list(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<AdminOptions>();
  set_usage(app, "Usage: zklock queue list [OPTIONS] QUEUE");
  add_value(app, "-N,--count", options->count, "The first N", "N");
  add_flag(app, "--dead", options->dead, "What was given up on instead");
  add_long_option(app, options->long_form);
  add_format_options(app, options->format, "An object on a line of its own for each item");
  add_global_options(app, global);
  set_footer(app, kListFooter);
  return execute_with(list, options);
}

Execute add_queue_count(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<AdminOptions>();
  set_usage(app, "Usage: zklock queue count [OPTIONS] QUEUE");
  add_flag(app, "--exact", options->exact, "Also how many are in work, which looks at each");
  add_format_options(app, options->format, "An object on one line", kTextJsonOrPrometheus);
  add_global_options(app, global);
  set_footer(app, kCountFooter);
  return execute_with(count, options);
}

Execute add_queue_requeue(CLI::App& app, GlobalOptions& global) {
  set_usage(app, "Usage: zklock queue requeue [OPTIONS] QUEUE [ID...]");
  add_global_options(app, global);
  set_footer(app, kRequeueFooter);
  return requeue;
}

Execute add_queue_purge(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<AdminOptions>();
  set_usage(app, "Usage: zklock queue purge [OPTIONS] QUEUE");
  add_flag(app, "--dead", options->dead, "What was given up on instead");
  add_flag(app, "--yes", options->yes, "Do not ask");
  add_global_options(app, global);
  set_footer(app, kPurgeFooter);
  return execute_with(purge, options);
}

Execute add_queue_delete(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<AdminOptions>();
  set_usage(app, "Usage: zklock queue delete [OPTIONS] QUEUE");
  add_flag(app, "--yes", options->yes, "Do not ask");
  add_global_options(app, global);
  set_footer(app, kDeleteFooter);
  return execute_with(remove, options);
}

}  // namespace zklock::command
