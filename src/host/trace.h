// SPDX-License-Identifier: Apache-2.0
// What zklock does, as events, for who holds it against the models afterwards (tests/model/): a line of JSON each,
// appended to the file that ZKLOCK_TRACE names. CONTRIBUTING.md lists them. Where nobody asks, a look at a flag.
#pragma once

#include "base/time.h"

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

namespace zklock::host {

struct TraceField {
  using Value = std::variant<std::nullptr_t, bool, int64_t, std::string_view>;

  TraceField(const char* of, std::string_view text) : name(of), value(text) {}
  TraceField(const char* of, const std::string& text) : name(of), value(std::string_view(text)) {}
  TraceField(const char* of, const char* text) : name(of), value(std::string_view(text)) {}
  TraceField(const char* of, Deadline moment) : name(of), value(moment.time_since_epoch().count()) {}
  TraceField(const char* of, bool truth) : name(of), value(truth) {}
  TraceField(const char* of, std::nullptr_t nothing) : name(of), value(nothing) {}
  template <std::integral Number>
  TraceField(const char* of, Number number) : name(of), value(static_cast<int64_t>(number)) {}

  const char* name;
  Value value;
};

// From ZKLOCK_TRACE, before there are other processes of ours. Throws a Failure (64) for a file that cannot be opened.
void open_trace();
bool is_traced();
// In whose name all that follows happens.
void set_traced_session(int64_t id);
// What cannot be written is missing, and nothing else: tracing is never in the way.
void write_trace(const char* event, std::initializer_list<TraceField> fields);

inline void trace(const char* event, std::initializer_list<TraceField> fields = {}) {
  if (is_traced()) write_trace(event, fields);
}

}  // namespace zklock::host
