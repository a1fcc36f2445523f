// SPDX-License-Identifier: Apache-2.0
#include "command/cli/format.h"

#include <string>
#include <vector>

#include <fmt/format.h>

namespace zklock::command {

namespace {

constexpr const char* kNames[] = {"text", "json", "nagios", "prometheus"};  // in the order of Format

std::vector<const char*> names_of(std::span<const Format> formats) {
  std::vector<const char*> names;
  for (const Format format : formats) names.push_back(name_of(format));
  return names;
}

}  // namespace

const char* name_of(Format format) {
  return kNames[static_cast<size_t>(format)];
}

void add_format_options(CLI::App& app, FormatOptions& options, const char* json_help, std::span<const Format> formats) {
  const std::vector<const char*> names = names_of(formats);
  add_choice(app, "--format", options.format, choices_text(names).c_str(), "FORMAT", names);
  add_flag(app, "--json", options.json, json_help);
}

Format format_of(const FormatOptions& options, std::span<const Format> formats) {
  if (options.json && options.format.value_or("json") != "json") {
    throw usage_error("give either --json or --format, not both");
  }
  if (options.json) return Format::json;
  return formats[choice_of(options.format, "--format", names_of(formats))];
}

void check_long(bool long_form, Format format) {
  if (!long_form || format == Format::text) return;
  throw usage_error(fmt::format("give either --long or --format {}, not both", name_of(format)));
}

}  // namespace zklock::command
