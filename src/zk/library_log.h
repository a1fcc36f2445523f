// SPDX-License-Identifier: Apache-2.0
// What the C library logs. Its callback has no context, so this is one for the whole process. The lines are for
// --verbose, the same one not all the time; but they alone say why a connection failed.
#pragma once

#include "base/time.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace zklock::zk {

// Whether lines go to standard error.
void show_library_log(bool shown);

// The callback.
void take_library_log(const char* line);

// What took the last connection is no such server: "it speaks TLS, …". Or "", it is one.
void note_stranger(std::string_view what);

// While it is we who end a connection: then nothing is known of who took it, which may only be far away.
void note_cut(bool cutting);

// Whether that is all that is known: the last connection was taken, and led to nothing.
bool is_taken_by_stranger();

// Why the last connection failed ("Connection refused"), as far as the library said; "" if it has not.
const std::string& last_trouble();

// While no server answers, the library logs the same few lines with each attempt, fifteen a second. This tells which of
// them to show: the same one again after a second, then after two, four and so on up to half a minute. Pure.
class LogThinner {
 public:
  // How many like it were left out since the last one that was shown; nothing: leave this one out too.
  std::optional<int64_t> show(std::string_view line, Deadline now);

 private:
  struct Said {
    Deadline next{};
    Duration pause{};
    int64_t left_out = 0;
  };

  std::map<std::string, Said, std::less<>> said_;
};

}  // namespace zklock::zk
