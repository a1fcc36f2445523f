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

// Adds both options, for a subcommand that has these `formats`. `json_help` says what --json prints.
void add_format_options(CLI::App& app, FormatOptions& options, const char* json_help,
                        std::span<const Format> formats = kTextOrJson);

// Returns the format that was asked for, else text. Throws a Failure (64) if it is not among `formats`, or if --json
// and --format disagree.
Format format_of(const FormatOptions& options, std::span<const Format> formats = kTextOrJson);

// Returns whether the format is JSON, for a subcommand that has only text and JSON. Throws as format_of() does.
inline bool is_json(const FormatOptions& options) {
  return format_of(options) == Format::json;
}

// Throws a Failure (64) if --long was given with a `format` other than text, because it is about tables.
void check_long(bool long_form, Format format);

}  // namespace zklock::command
