// SPDX-License-Identifier: Apache-2.0
// The exit statuses of zklock itself, each with one meaning (the one of sysexits.h if it has one). zklock passes a
// command's own status through unchanged. zklock-compatibility(7) promises these statuses. For each of them except
// `done`, zklock prints one line on standard error. With -q, it prints none for `busy`, nor for `no` from `show` and
// `group list`.
#pragma once

namespace zklock {

enum class ExitStatus : int {
  done = 0,
  no = 1,                // the answer is no
  usage = 64,            // bad option, path or duration
  bad_data = 65,         // an item is too large, the path is used for something else, or the lock is of another family
  unavailable = 69,      // no server could be reached, or the session ended before there was a result
  internal = 70,         // an error inside zklock, or a counter that is used up
  input_output = 74,     // standard input or output failed
  busy = 75,             // not obtained in time (-E changes the status)
  lost = 76,             // a lock, claim or member was lost: a command was ended or not started, a write refused
  refused = 77,          // refused by authentication, an ACL or the whitelist
  items_failed = 123,    // some of the queue's items were not done (xargs has the same number)
  not_executable = 126,  // the command could not be executed
  not_found = 127,       // the command was not found
};

}  // namespace zklock
