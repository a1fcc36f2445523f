// SPDX-License-Identifier: Apache-2.0
// The output that was asked for, text and JSON on standard output, and the question before an action that cannot be
// undone.
#pragma once

#include "host/loop.h"

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace zklock::command {

// Writes all of `text`, waiting as long as that takes. It may be called only without a session, whose heartbeat would
// stop meanwhile. Throws a Failure: 74 if `text` cannot be written, by SIGPIPE if the reader has gone.
void print(std::string_view text);

// Does the same in the loop, whose other sources go on meanwhile.
void print(host::Loop& loop, std::string_view text);

// Returns `json` on one line, with a line end, in ASCII, so that nothing that was read can control a terminal.
std::string json_line(const nlohmann::ordered_json& json);

// Both add a member, unless there is no value. They are templates so that only files that make JSON include its
// library, which takes seconds to compile.
template <typename Json, typename Member>
void put(Json& json, const char* name, const std::optional<Member>& value) {
  if (value) json[name] = *value;
}

template <typename Json>
void put(Json& json, const char* name, const std::string& text) {
  if (!text.empty()) json[name] = text;
}

// Throws a Failure (64) if there is no terminal to ask at.
void check_can_ask();

// Asks `question`, with "[y/N]" after it, and returns if the answer is yes. It takes as long as the person does, and
// the loop stands still, so there must be no session. Throws a Failure (1) for a no, which leaves `path` as it is.
void confirm(const std::string& question, const std::string& path);

}  // namespace zklock::command
