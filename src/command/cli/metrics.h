// SPDX-License-Identifier: Apache-2.0
// Prometheus' text format, which its node exporter reads from files too: families of samples. Names and units are by
// its rules: base units, _total for counters alone, and timestamps instead of ages, so that a file that is no longer
// renewed stays true. https://prometheus.io/docs/instrumenting/exposition_formats/ and /docs/practices/naming/.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace zklock::command {

// Returns name="text" for any `text`; what cannot be printed is escaped.
std::string label_of(std::string_view name, std::string_view text);

// Returns a moment in ms as seconds, both since 1970; nothing for 0, which means unknown.
std::optional<double> timestamp_of(int64_t moment_ms);

// A name, and how to get its value from an object. An object without a value has no sample.
template <typename Of>
struct MetricFamily {
  const char* name;
  const char* type;
  const char* help;
  std::optional<double> (*value)(const Of& of);
  std::string (*labels)(const Of& of) = nullptr;  // separated by commas; null: none
};

// Returns the line of a sample. `labels` may be empty.
std::string sample_of(const char* name, const std::string& labels, double value);

// Returns `samples` with the head of their family; "" without samples.
std::string family_of(const char* name, const char* type, const char* help, const std::string& samples);

// Returns a family with a sample for each of `all` that has a value. A family may be in a file only once, so all
// objects go into one call.
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
