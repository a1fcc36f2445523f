// SPDX-License-Identifier: Apache-2.0
// What the C library logs. Its callback has no context, so this is one for the whole process. The lines are for
// --verbose, the same one not all the time; but they alone say why a connection failed.
#pragma once

#include <string>

namespace zklock::zk {

// Whether lines go to standard error.
void show_library_log(bool shown);

// The callback.
void take_library_log(const char* line);

// Why the last connection failed ("Connection refused"), as far as the library said; "" if it has not.
const std::string& last_trouble();

}  // namespace zklock::zk
