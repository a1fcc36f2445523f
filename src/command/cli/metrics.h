// SPDX-License-Identifier: Apache-2.0
// Prometheus' text format, which its node exporter reads from files too: families of samples. Names and units are by
// its rules: base units, _total for counters alone, and moments instead of ages, so that a file that nobody renews any
// more tells no lies. https://prometheus.io/docs/instrumenting/exposition_formats/ and /docs/practices/naming/.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace zklock::command {

// name="text", for any text: what is no text is shown escaped.
std::string label_of(std::string_view name, std::string_view text);

// Seconds since 1970, of a moment in ms; nothing for 0, which is none.
std::optional<double> timestamp_of(int64_t moment_ms);

// One name, and what of each thing is its value; a thing without a value has no sample.
template <typename Of>
struct MetricFamily {
  const char* name;
  const char* type;
  const char* help;
  std::optional<double> (*value)(const Of& of);
  std::string (*labels)(const Of& of) = nullptr;  // with commas between
};

// A line. `labels` may be empty.
std::string sample_of(const char* name, const std::string& labels, double value);

// With its head; nothing without samples.
std::string family_of(const char* name, const char* type, const char* help, const std::string& samples);

// A family may be in a file only once: all of its things go in one call.
template <typename Of>
std::string exposed(const MetricFamily<Of>& family, std::span<const Of> all) {
  std::string samples;
  for (const Of& one : all) {
    const std::optional<double> value = family.value(one);
    if (value) samples += sample_of(family.name, family.labels ? family.labels(one) : "", *value);
  }
  return family_of(family.name, family.type, family.help, samples);
}

}  // namespace zklock::command
