// SPDX-License-Identifier: Apache-2.0
// Replies to four-letter words as JSON: with names and numbers where the word has structure, else the text.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace zklock::command {

// A number where `text` is one, else the text.
nlohmann::ordered_json value_of(std::string_view text);

// Of a proper reply: an object, an array, a number or a string; null for a word without structure. What does not fit
// the word's structure is left out.
nlohmann::ordered_json structure_of(std::string_view word, std::string_view text);

}  // namespace zklock::command
