// SPDX-License-Identifier: Apache-2.0
// Runs the command line and turns a Failure into one line and an exit status.
#include "base/failure.h"
#include "command/start.h"
#include "host/net/resolver.h"
#include "host/signals.h"
#include "host/terminal.h"
#include "host/trace.h"

#include <exception>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

namespace {

// On less it would crash in the middle of something: a command under a lock, when it is started.
constexpr rlim_t kLeastStack = 64 * 1024;

void check_stack() {
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kLeastStack) return;
  throw zklock::Failure(zklock::ExitStatus::internal,
                        "cannot start: the stack may have less than 64 KiB, see ulimit -s");
}

int tell(const zklock::Failure& failure, const zklock::command::ExitPolicy& policy) {
  if (failure.signal() != 0) zklock::host::die_of(failure.signal());
  const bool busy = failure.status() == zklock::ExitStatus::busy;
  if (!busy || !policy.quiet) zklock::host::say_error(failure.text());
  return policy.status_of(failure);
}

int run(int argc, char** argv) {
  const auto inherited = zklock::host::Inherited::take_over();
#ifdef ZKLOCK_STATIC
  zklock::host::keep_to_own_lookup_modules();
#endif
  zklock::command::ExitPolicy policy;
  try {
    check_stack();
    zklock::host::open_trace();
    return zklock::command::run_command_line(argc, argv, inherited, policy);
  } catch (const zklock::Failure& failure) {
    return tell(failure, policy);
  } catch (const std::exception& error) {
    zklock::host::say_error(std::string("an error inside zklock: ") + error.what() + "; please report it " +
                            zklock::command::where_to_report());
    return policy.failure_status.value_or(static_cast<int>(zklock::ExitStatus::internal));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int status = run(argc, argv);
#ifdef ZKLOCK_SANITIZE
  return status;  // leaks are looked for behind it
#else
  // Nothing is left to do but to free memory: what was printed was flushed, sessions are closed, children are gone.
  _exit(status);
#endif
}
