// SPDX-License-Identifier: Apache-2.0
// A look at an ensemble for people, for programs, for monitoring plugins and for Prometheus. Pure.
#pragma once

#include "command/health/checkup.h"
#include "host/terminal.h"

#include <string>

namespace zklock::command {

enum class HealthFormat { text, json, nagios, prometheus };

// A table, and below it the verdict; with rates once there are any. A terminal that is too narrow for all of it gets
// the columns that matter most.
std::string text_of(const Look& look, const host::Display& display = {});

// An object on a line.
std::string json_of(const Look& look);

// A line with the verdict and performance data, as monitoring plugins print it.
std::string nagios_of(const Look& look, const Thresholds& thresholds);

// The text format that Prometheus and its node exporter read.
std::string prometheus_of(const Look& look);

// `display` is for the format text alone.
std::string report_of(const Look& look, HealthFormat format, const Thresholds& thresholds,
                      const host::Display& display);

// "warning: quorum: …; missing: …"
std::string line_of(const HealthVerdict& verdict);

}  // namespace zklock::command
