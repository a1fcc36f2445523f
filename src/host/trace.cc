// SPDX-License-Identifier: Apache-2.0
#include "host/trace.h"

#include "base/failure.h"
#include "base/text.h"
#include "host/fd.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

namespace zklock::host {

namespace {

Fd trace_file;
pid_t traced_pid = 0;
int64_t traced_session = 0;

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < ' ') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string to_text(const TraceField::Value& value) {
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
  if (const auto* number = std::get_if<int64_t>(&value)) return fmt::format("{}", *number);
  if (const auto* text = std::get_if<std::string_view>(&value)) return quoted(*text);
  return "null";
}

}  // namespace

bool is_traced() {
  return static_cast<bool>(trace_file);
}

void open_trace() {
  const char* const name = std::getenv("ZKLOCK_TRACE");
  if (!name || !*name) return;
  trace_file = Fd(::open(name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666));
  if (!trace_file) {
    throw Failure(ExitStatus::usage,
                  fmt::format("cannot write to '{}' (ZKLOCK_TRACE): {}", printable(name), std::strerror(errno)));
  }
  traced_pid = getpid();
  trace("began");
}

void set_traced_session(int64_t id) {
  traced_session = id;
}

// Makes one write, so that the line stands whole between the lines of other processes.
void trace(const char* event, std::initializer_list<TraceField> fields) {
  if (!is_traced()) return;
  std::string line =
      fmt::format(R"({{"at":{},"pid":{},"session":"0x{:x}","event":"{}")", BootClock::now().time_since_epoch().count(),
                  traced_pid, static_cast<uint64_t>(traced_session), event);
  for (const TraceField& field : fields) line += fmt::format(R"(,"{}":{})", field.name, to_text(field.value));
  line += "}\n";
  static_cast<void>(!::write(trace_file.get(), line.data(), line.size()));
}

}  // namespace zklock::host
