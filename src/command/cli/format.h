// SPDX-License-Identifier: Apache-2.0
// --format and --json: the form in which a subcommand prints what it has found.
#pragma once

#include "command/cli/options.h"

#include <span>

namespace zklock::command {

enum class Format { text, json, nagios, prometheus };

const char* name_of(Format format);

struct FormatOptions {
  Value format;
  bool json = false;  // the same as --format json
};

inline constexpr Format kTextOrJson[] = {Format::text, Format::json};
inline constexpr Format kTextJsonOrPrometheus[] = {Format::text, Format::json, Format::prometheus};

// Adds both options, for a subcommand that has those `formats`; `json_help` says what --json prints.
void add_format_options(CLI::App& app, FormatOptions& options, const char* json_help,
                        std::span<const Format> formats = kTextOrJson);

// The one that was asked for, else text. Throws a Failure (64) for one that is not among `formats`, and where --json
// and --format disagree.
Format format_of(const FormatOptions& options, std::span<const Format> formats = kTextOrJson);

// The same for a subcommand that has those two.
inline bool is_json(const FormatOptions& options) {
  return format_of(options) == Format::json;
}

// Throws a Failure (64) where --long, which is about a table, was given with a `format` that is none.
void check_long(bool long_form, Format format);

}  // namespace zklock::command
