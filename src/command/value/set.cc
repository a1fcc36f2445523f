// SPDX-License-Identifier: Apache-2.0
// zklock value set: writes bytes to a node, as they are.
#include "base/text.h"
#include "command/child/nesting.h"
#include "command/cli/output.h"
#include "command/value/value.h"
#include "host/streams.h"
#include "zk/path.h"

#include <cstring>
#include <memory>
#include <unistd.h>

#include <fmt/format.h>

namespace zklock::command {

namespace {

constexpr const char* kSetFooter =
    "Examples:\n"
    "  zklock value set /app/config <config.json\n"
    "  zklock run /locks/deploy -- zklock value set --fenced /app/version 1.2\n\n"
    "Without VALUE, or with -, the value is read from standard input.\n\n"
    "Exit status: 0 it is written; 64 usage, 65 too large, or the path is used for\n"
    "something else, 69 no server, or the outcome is unknown, 75 not\n"
    "written: it has changed, 76 not written: the lock is lost, 77 refused.\n"
    "Manual: zklock-value(1)";

struct ValueSetOptions {
  Value version;
  bool missing = false;
  bool fenced = false;
  bool print_version = false;
};

Failure too_large(const std::string& path, size_t most) {
  return {ExitStatus::bad_data,
          fmt::format("cannot set {}: the value is too large: ZooKeeper takes at most {}", path, most)};
}

// Returns all of standard input. There is no session meanwhile. Throws a Failure (65) as soon as it is more than
// ZooKeeper takes, so no more than that is kept.
std::string read_whole(const std::string& path, size_t most) {
  host::Loop loop;
  host::StandardInput input(STDIN_FILENO);
  const host::Attached reading(loop, input);
  std::string text;
  while (!input.is_ended()) {
    input.want(true);
    loop.turn(kNever);
    text += input.take();
    if (text.size() > most) throw too_large(path, most);
  }
  if (input.error() != 0) {
    throw Failure(ExitStatus::input_output,
                  fmt::format("cannot read standard input: {}", std::strerror(input.error())));
  }
  return text;
}

recipe::ValueChange change_of(const Call& call, const ValueSetOptions& options, const zk::ServerList& servers) {
  const std::vector<std::string> words = operands_of(call.app, call.arguments);
  recipe::ValueChange change{recipe::ChangeKind::set, first_path(words, call, kValuePath)};
  if (words.size() > 2) throw second_path(words[2], kValuePath);
  if (options.version && options.missing) throw usage_error("give either --if-version or --if-missing, not both");
  if (options.missing) change.kind = recipe::ChangeKind::create;
  if (options.version) {
    change.kind = recipe::ChangeKind::set_version;
    change.version = version_of(*options.version, "--if-version");
  }
  if (options.fenced) change.held = held_nodes(servers);
  change.is_last = true;
  const size_t most = zk::largest_data(servers.chroot, change.path);
  change.data = words.size() == 2 && words[1] != "-" ? words[1] : read_whole(change.path, most);
  if (change.data.size() > most) throw too_large(change.path, most);
  return change;
}

int set(const Call& call, const ValueSetOptions& options) {
  zk::SessionOptions asked = session_options(call.global);
  const recipe::ValueChange change = change_of(call, options, asked.servers);
  Task task(std::move(asked), "cannot set " + change.path);
  task.session.open();
  const recipe::ChangeResult result = recipe::change_value(task.session, change, task.tried);
  task.session.close();
  check_end(result, task.tried);
  if (options.print_version) print(fmt::format("{}\n", result.version));
  return 0;
}

}  // namespace

Execute add_value_set(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<ValueSetOptions>();
  add_value(app, "--if-version", options->version, "Only if it has version N, else exit 75", "N");
  add_flag(app, "--if-missing", options->missing, "Only if there is no such node, else exit 75");
  add_flag(app, "--fenced", options->fenced, "Only while the lock around it is held, else 76");
  add_flag(app, "--print-version", options->print_version, "Print the new version");
  finish(app, global, "Usage: zklock value set [OPTIONS] PATH [VALUE]", kSetFooter);
  return execute_with(set, options);
}

}  // namespace zklock::command
