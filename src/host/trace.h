// SPDX-License-Identifier: Apache-2.0
// Writes what zklock does as events, a line of JSON each, to the file that ZKLOCK_TRACE names. The tests check them
// against the models afterwards (tests/model/). tests/model/README.md lists the events. Without ZKLOCK_TRACE, a call
// only reads a flag.
#pragma once

#include "base/time.h"

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <variant>

namespace zklock::host {

struct TraceField {
  using Value = std::variant<std::nullptr_t, bool, int64_t, std::string_view>;

  TraceField(const char* of, std::string_view text) : name(of), value(text) {}
  TraceField(const char* of, const char* text) : name(of), value(std::string_view(text)) {}
  TraceField(const char* of, Deadline moment) : name(of), value(moment.time_since_epoch().count()) {}
  TraceField(const char* of, bool truth) : name(of), value(truth) {}
  TraceField(const char* of, std::nullptr_t nothing) : name(of), value(nothing) {}
  template <std::integral Number>
  TraceField(const char* of, Number number) : name(of), value(static_cast<int64_t>(number)) {}

  const char* name;
  Value value;
};

// Opens the file that ZKLOCK_TRACE names, if it is set. To be called before zklock has child processes. Throws a
// Failure (64) if the file cannot be opened.
void open_trace();
bool is_traced();
// Sets the session that all later events name.
void set_traced_session(int64_t id);
// Appends an event. If that fails, the event is left out without an error: tracing never disturbs zklock.
void trace(const char* event, std::initializer_list<TraceField> fields = {});

}  // namespace zklock::host
