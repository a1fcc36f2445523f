// SPDX-License-Identifier: Apache-2.0
// What the C library logs. Its callback has no context, so this is one for the whole process. The lines are for
// --verbose, the same one not all the time; but they alone say why a connection failed.
#pragma once

#include <string>
#include <string_view>

namespace zklock::zk {

// Whether lines go to standard error.
void show_library_log(bool shown);

// The callback.
void take_library_log(const char* line);

// What took the last connection is no such server: "it speaks TLS, …". Or "", it is one.
void note_stranger(std::string_view what);

// Why the last connection failed ("Connection refused"), as far as the library said; "" if it has not.
const std::string& last_trouble();

}  // namespace zklock::zk
