// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "command/child/note.h"
#include "command/cli/output.h"
#include "command/lock/locks.h"
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

RunReport::RunReport(const std::optional<std::string>& file, std::vector<std::string> paths, std::string command,
                     std::string label, const ExitPolicy& policy)
    : name_(file.value_or("")),
      paths_(std::move(paths)),
      command_(std::move(command)),
      label_(std::move(label)),
      policy_(policy) {
  if (file) file_.emplace(*file);
}

int RunReport::around(Course& course, const std::function<int()>& attempt) {
  if (!file_) return attempt();
  began_ = BootClock::now();
  started_ = utc_now();
  course = {.connected = course.connected, .over = course.over};
  const auto write_failed = [&](const Failure& failure) {
    const char* word = course.skipped ? "skipped" : word_for(failure.status());
    write(course, policy_.status_of(failure), word, failure.signal());
  };
  try {
    const int status = attempt();
    write(course, status, "exited", WIFSIGNALED(course.wait_status) ? WTERMSIG(course.wait_status) : 0);
    return status;
  } catch (const Failure& failure) {
    if (failure.signal() != 0 || failure.status() != ExitStatus::usage) write_failed(failure);
    throw;
  } catch (const std::exception&) {
    write_failed(Failure(ExitStatus::internal, ""));
    throw;
  }
}

void RunReport::write(const Course& course, int status, const char* how, int signal) {
  const Deadline now = BootClock::now();
  const Note note = own_note(command_, label_);
  nlohmann::ordered_json json;
  put_all(json, "path", course.paths.empty() ? paths_ : course.paths);
  json["started"] = started_;
  json["waited"] = seconds_between(began_, std::min(course.granted, now));
  if (course.granted != kNever) json["held"] = seconds_between(course.granted, std::min(course.released, now));
  json["status"] = status;
  json["end"] = signal == 0 ? how : "signal";
  if (signal != 0) put(json, "signal", std::string(sigabbrev_np(signal)));
  put_all(json, "token", course.tokens);
  json["host"] = note.host;
  json["pid"] = note.pid;
  json["user"] = note.user;
  json["command"] = note.command;
  put(json, "label", note.label);
  const int error = file_->append(json_line(json));
  if (error == 0) return;
  const char* const reason = error == EAGAIN ? "its reader takes nothing" : std::strerror(error);
  host::say_error(fmt::format("cannot write the report to '{}': {}", printable(name_), reason));
}

}  // namespace zklock::command
