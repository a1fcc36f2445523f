// SPDX-License-Identifier: Apache-2.0
// The log of the C library. Its callback has no context, so there is one log for the whole process. The lines are shown
// with --verbose, repeated ones less often. Only they say why a connection failed.
#pragma once

#include "base/time.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace zklock::zk {

// Sets whether lines go to standard error.
void show_library_log(bool shown);

// Hides them until show_library_log() is called again: what the library reports from now on is no trouble.
void hide_library_log();

// The library's log callback.
void take_library_log(const char* line);

// Notes what answered the last connection, if it is recognizably something else than a ZooKeeper server: "it speaks
// TLS, …". Otherwise `what` is "".
void note_stranger(std::string_view what);

// Notes whether zklock itself is ending a connection. Then the library's lines do not show that a stranger has accepted
// the connection: the server may just be far away.
void note_cut(bool cutting);

// Returns true if the last connection was accepted but led to nothing, and no more is known.
bool is_taken_by_stranger();

// Returns why the last connection failed ("Connection refused"), as far as is known; otherwise "".
const std::string& last_trouble();

// Decides which lines to show. While no server answers, the library logs the same few lines with each attempt, fifteen
// a second. A repeated line is shown again after one second, then after two, four and so on, up to half a minute. This
// class is pure.
class LogThinner {
 public:
  // Returns how many such lines were left out since the last one shown; no value if this one is to be left out too.
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
