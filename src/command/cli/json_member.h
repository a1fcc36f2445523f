// SPDX-License-Identifier: Apache-2.0
// Members of a JSON object that are left out where there is nothing to say.
#pragma once

#include "zk/words/word_reply.h"

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace zklock::command {

template <typename Value>
void put(nlohmann::ordered_json& json, const char* name, const std::optional<Value>& value) {
  if (value) json[name] = *value;
}

inline void put(nlohmann::ordered_json& json, const char* name, const std::string& text) {
  if (!text.empty()) json[name] = text;
}

inline void put(nlohmann::ordered_json& json, const char* name, const std::optional<zk::Latency>& latency) {
  if (latency) json[name] = {{"min", latency->min}, {"avg", latency->average}, {"max", latency->max}};
}

}  // namespace zklock::command
