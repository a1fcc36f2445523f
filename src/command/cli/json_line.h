// SPDX-License-Identifier: Apache-2.0
// JSON as zklock prints it.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace zklock::command {

// On one line, with its end, in ASCII, so that nothing that was read can steer a terminal.
std::string json_line(const nlohmann::ordered_json& json);

}  // namespace zklock::command
