// SPDX-License-Identifier: Apache-2.0
// What was asked for: text and JSON on standard output, and the question before something that cannot be undone.
#pragma once

#include "host/loop.h"

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace zklock::command {

// All of it, waiting as long as that takes: only without a session, whose heartbeat would stop meanwhile. Throws a
// Failure (74) if it could not be written.
void print(std::string_view text);

// The same in the loop, whose other sources go on meanwhile.
void print(host::Loop& loop, std::string_view text);

// On one line, with its end, in ASCII, so that nothing that was read can steer a terminal.
std::string json_line(const nlohmann::ordered_json& json);

// Members that are left out where there is nothing to say. Templates, so that only who makes JSON includes its library,
// which takes seconds to compile.
template <typename Json, typename Member>
void put(Json& json, const char* name, const std::optional<Member>& value) {
  if (value) json[name] = *value;
}

template <typename Json>
void put(Json& json, const char* name, const std::string& text) {
  if (!text.empty()) json[name] = text;
}

// Throws a Failure (64) where there is no terminal to ask at.
void check_can_ask();

// Asks `question`, with "[y/N]" behind it; throws a Failure (1) for a no, which leaves `path` as it is. Takes as long
// as the person does, and the loop stands still: not with a session.
void confirm(const std::string& question, const std::string& path);

}  // namespace zklock::command
