// SPDX-License-Identifier: Apache-2.0
// The exit statuses that are zklock's own, one meaning each (sysexits where it has one). A command's own status
// is passed through as it is; a status from this table always comes with one line on standard error, except for the
// answer no of a program that was asked to print nothing.
#pragma once

namespace zklock {

enum class ExitStatus : int {
  done = 0,
  no = 1,                // the answer is no
  usage = 64,            // bad option, path or duration
  bad_data = 65,         // an item too large, a path used for something else, a lock of another family
  unavailable = 69,      // no server could be reached, or the session ended before there was a result
  internal = 70,         // an error inside zklock, a counter used up
  input_output = 74,     // standard input or output failed
  busy = 75,             // not had in time (-E changes it)
  lost = 76,             // the lock or claim was lost while the command ran; the command was stopped
  refused = 77,          // authentication, ACL, whitelist
  items_failed = 123,    // of many items of a queue some were not done (xargs has the same number)
  not_executable = 126,  // the command could not be executed
  not_found = 127,       // the command was not found
};

}  // namespace zklock
