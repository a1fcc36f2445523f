// SPDX-License-Identifier: Apache-2.0
#include "command/lock/run_report.h"

#include "base/text.h"
#include "command/child/note.h"
#include "command/cli/output.h"
#include "host/terminal.h"

#include <cmath>
#include <cstring>
#include <sys/wait.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace zklock::command {

namespace {

// Returns the word for "end" if zklock ends with a status of its own; zklock-run(1) explains each.
const char* word_for(ExitStatus status) {
  switch (status) {
    case ExitStatus::busy: return "busy";
    case ExitStatus::lost: return "lost";
    case ExitStatus::unavailable: return "unreachable";
    case ExitStatus::refused: return "refused";
    case ExitStatus::bad_data: return "misfit";
    case ExitStatus::not_executable:
    case ExitStatus::not_found: return "not-run";
    case ExitStatus::done:
    case ExitStatus::no:
    case ExitStatus::usage:
    case ExitStatus::internal:
    case ExitStatus::input_output:
    case ExitStatus::items_failed: break;
  }
  return "error";
}

// Adds the value of a single lock as `name`, or those of several as an array: "paths", "tokens".
template <typename Value>
void put_all(nlohmann::ordered_json& json, const std::string& name, const std::vector<Value>& values) {
  if (values.size() == 1) json[name] = values.front();
  if (values.size() > 1) json[name + "s"] = values;
}

double seconds_between(Deadline from, Deadline to) {
  return std::round(std::chrono::duration<double, std::milli>(to - from).count()) / 1000;
}

}  // namespace

void Stint::grant(const std::vector<recipe::Held>& held) {
  granted = BootClock::now();
  for (const recipe::Held& one : held) {
    paths.push_back(one.path);
    tokens.push_back(one.token);
  }
}

RunReport::RunReport(const std::optional<std::string>& file, Subject subject, const ExitPolicy& policy)
    : name_(file.value_or("")), subject_(std::move(subject)), policy_(policy) {
  if (file) file_.emplace(*file);
}

int RunReport::around(Stint& stint, const std::function<int()>& attempt) {
  if (!file_) return attempt();
  began_ = BootClock::now();
  started_ = utc_now();
  stint = {};
  try {
    const int status = attempt();
    const int signal = WIFSIGNALED(stint.wait_status) ? WTERMSIG(stint.wait_status) : 0;
    write(stint, {status, signal == 0 ? "exited" : "signal", signal});
    return status;
  } catch (const Failure& failure) {
    if (failure.signal() != 0 || failure.status() != ExitStatus::usage) write(stint, end_of(failure, stint));
    throw;
  } catch (const std::exception&) {
    write(stint, end_of(Failure(ExitStatus::internal, ""), stint));
    throw;
  }
}

RunReport::End RunReport::end_of(const Failure& failure, const Stint& stint) const {
  const int status = policy_.status_of(failure);
  if (failure.signal() != 0) return {status, "signal", failure.signal()};
  return {status, stint.skipped ? "skipped" : word_for(failure.status())};
}

void RunReport::write(const Stint& stint, const End& end) {
  const int error = file_->append(line_of(stint, end));
  if (error == 0) return;
  const char* const reason = error == EAGAIN ? "its reader takes nothing" : std::strerror(error);
  host::say_error(fmt::format("cannot write the report to '{}': {}", printable(name_), reason));
}

std::string RunReport::line_of(const Stint& stint, const End& end) const {
  const Deadline now = BootClock::now();
  const Note note = own_note(subject_.command, subject_.label);
  nlohmann::ordered_json json;
  put_all(json, "path", stint.paths.empty() ? subject_.paths : stint.paths);
  json["started"] = started_;
  json["waited"] = seconds_between(began_, std::min(stint.granted, now));
  if (stint.granted != kNever) json["held"] = seconds_between(stint.granted, std::min(stint.released, now));
  json["status"] = end.status;
  json["end"] = end.how;
  if (end.signal != 0) put(json, "signal", std::string(sigabbrev_np(end.signal)));
  put_all(json, "token", stint.tokens);
  json["host"] = note.host;
  json["pid"] = note.pid;
  json["user"] = note.user;
  json["command"] = note.command;
  put(json, "label", note.label);
  return json_line(json);
}

}  // namespace zklock::command
