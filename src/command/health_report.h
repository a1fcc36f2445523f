// SPDX-License-Identifier: Apache-2.0
// A look at an ensemble for people, for programs, for monitoring plugins and for Prometheus. Pure.
#pragma once

#include "command/checkup.h"
#include "host/colour.h"

#include <string>

namespace zklock::command {

enum class HealthFormat { text, json, nagios, prometheus };

// A table, and below it the verdict; with rates once there are any.
std::string text_of(const Look& look, host::Colours colours = host::Colours::off);

// An object on a line.
std::string json_of(const Look& look);

// A line with the verdict and performance data, as monitoring plugins print it.
std::string nagios_of(const Look& look, const Thresholds& thresholds);

// The text format that Prometheus and its node exporter read.
std::string prometheus_of(const Look& look);

// `colours` are for the format text alone.
std::string report_of(const Look& look, HealthFormat format, const Thresholds& thresholds, host::Colours colours);

// "warning: quorum: …; missing: …"
std::string line_of(const HealthVerdict& verdict);

}  // namespace zklock::command
