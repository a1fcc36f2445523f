// SPDX-License-Identifier: Apache-2.0
#include "command/cli/format.h"

#include "base/text.h"

#include <string>

#include <fmt/format.h>

namespace zklock::command {

namespace {

constexpr const char* kNames[] = {"text", "json", "nagios", "prometheus"};  // in the order of Format

// Returns "text, json or prometheus".
std::string list_of(std::span<const Format> formats) {
  std::string list;
  for (size_t i = 0; i < formats.size(); ++i) {
    if (i > 0) list += i + 1 == formats.size() ? " or " : ", ";
    list += name_of(formats[i]);
  }
  return list;
}

}  // namespace

const char* name_of(Format format) {
  return kNames[static_cast<size_t>(format)];
}

void add_format_options(CLI::App& app, FormatOptions& options, const char* json_help, std::span<const Format> formats) {
  add_value(app, "--format", options.format, list_of(formats).c_str(), "FORMAT");
  add_flag(app, "--json", options.json, json_help);
}

Format format_of(const FormatOptions& options, std::span<const Format> formats) {
  const std::string name = options.format.value_or(options.json ? "json" : "text");
  if (options.json && name != "json") throw usage_error("give either --json or --format, not both");
  for (const Format format : formats) {
    if (name == name_of(format)) return format;
  }
  throw usage_error(fmt::format("bad value '{}' for --format: write {}", printable(name), list_of(formats)));
}

void check_long(bool long_form, Format format) {
  if (!long_form || format == Format::text) return;
  throw usage_error(fmt::format("give either --long or --format {}, not both", name_of(format)));
}

}  // namespace zklock::command
