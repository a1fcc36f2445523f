// SPDX-License-Identifier: Apache-2.0
#include "command/cli/metrics.h"

#include "base/text.h"

#include <fmt/format.h>

namespace zklock::command {

// Line ends need no care here, because printable() escapes them.
std::string label_of(std::string_view name, std::string_view text) {
  std::string value;
  for (const char c : printable(text)) {
    if (c == '\\' || c == '"') value += '\\';
    value += c;
  }
  return fmt::format("{}=\"{}\"", name, value);
}

std::optional<double> timestamp_of(int64_t moment_ms) {
  return moment_ms == 0 ? std::nullopt : std::optional(static_cast<double>(moment_ms) / 1e3);
}

std::string sample_of(const char* name, const std::string& labels, double value) {
  return labels.empty() ? fmt::format("{} {}\n", name, value) : fmt::format("{}{{{}}} {}\n", name, labels, value);
}

std::string family_of(const char* name, const char* type, const char* help, const std::string& samples) {
  if (samples.empty()) return "";
  return fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n{3}", name, help, type, samples);
}

}  // namespace zklock::command
