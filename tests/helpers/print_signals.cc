// SPDX-License-Identifier: Apache-2.0
// print_signals END [IGNORED…]: prints "ready PID", then the name of each signal that it gets, one a line, and ends
// with status 0 on END. Signals named as IGNORED are ignored. Unlike a shell it loses none that come close together,
// and job control does not stop it.
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <unistd.h>

namespace {

int number_of(const std::string& name) {
  for (int number = 1; number < NSIG; ++number) {
    const char* found = sigabbrev_np(number);
    if (found && name == found) return number;
  }
  std::fprintf(stderr, "print_signals: unknown signal '%s'\n", name.c_str());
  _exit(64);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 64;
  const int end = number_of(argv[1]);
  for (int i = 2; i < argc; ++i) std::signal(number_of(argv[i]), SIG_IGN);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::printf("ready %d\n", getpid());
  for (int number = 0; number != end;) {
    if (sigwait(&all, &number) != 0) return 70;
    std::printf("%s\n", sigabbrev_np(number));
  }
  return 0;
}
