// SPDX-License-Identifier: Apache-2.0
#include "command/queue/verdict.h"

#include "base/exit_status.h"
#include "base/time.h"
#include "command/child/note.h"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <sys/wait.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace zklock::command {

Verdict verdict_on(const CommandEnd& end, int64_t attempt, int64_t most) {
  if (end.exec_error == E2BIG && end.item_in_arguments) return Verdict::dead;
  if (end.exec_error != 0) return Verdict::useless;
  const int status = WIFEXITED(end.wait_status) ? WEXITSTATUS(end.wait_status) : -1;
  if (status == 0) return Verdict::done;
  if (end.interrupted) return Verdict::left;
  if (status == static_cast<int>(ExitStatus::bad_data)) return Verdict::dead;
  if (status == static_cast<int>(ExitStatus::busy)) return Verdict::later;
  if (status == static_cast<int>(ExitStatus::not_executable) || status == static_cast<int>(ExitStatus::not_found)) {
    return Verdict::useless;
  }
  return attempt < most ? Verdict::failed : Verdict::dead;
}

std::string describe(const CommandEnd& end) {
  if (end.exec_error != 0) return fmt::format("could not be executed: {}", std::strerror(end.exec_error));
  if (WIFEXITED(end.wait_status)) return fmt::format("exit status {}", WEXITSTATUS(end.wait_status));
  const int signal = WTERMSIG(end.wait_status);
  const char* name = sigabbrev_np(signal);
  return name ? fmt::format("killed by SIG{}", name) : fmt::format("killed by signal {}", signal);
}

std::string why_dead(const std::string& reason, int64_t attempts) {
  nlohmann::ordered_json why;
  why["reason"] = reason;
  why["attempts"] = attempts;
  why["host"] = host_name();
  why["time"] = format_utc(std::time(nullptr) * 1000);
  return why.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace zklock::command
