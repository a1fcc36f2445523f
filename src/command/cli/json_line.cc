// SPDX-License-Identifier: Apache-2.0
#include "command/cli/json_line.h"

#include <nlohmann/json.hpp>

namespace zklock::command {

std::string json_line(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace zklock::command
