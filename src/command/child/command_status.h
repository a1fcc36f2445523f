// SPDX-License-Identifier: Apache-2.0
// The status with which zklock ends when it is its command's.
#pragma once

namespace zklock::command {

// Of what waitpid said: the exit status, or 128 + the signal. Throws a Failure for a signal by which people and shells
// end programs: zklock then dies of it too.
int status_of_command(int wait_status);

}  // namespace zklock::command
