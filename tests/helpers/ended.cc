// SPDX-License-Identifier: Apache-2.0
// ended FILE CMD [ARG…]: runs CMD and writes to FILE "pid N", then how CMD ended: "exit N", "signal NAME", or
// "signal NAME with a core". To a shell, status 130 and a death by SIGINT look the same.
#include <csignal>
#include <cstdio>
#include <cstring>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 3) return 64;
  FILE* file = std::fopen(argv[1], "we");
  if (!file) return 73;
  std::setvbuf(file, nullptr, _IOLBF, 0);
  const pid_t pid = fork();
  if (pid == 0) {
    // A core is written if the limits allow it, so a core that is missing was not wanted.
    rlimit limit{};
    getrlimit(RLIMIT_CORE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_CORE, &limit);
    execvp(argv[2], argv + 2);
    _exit(127);
  }
  // Keys that are typed at a terminal are for CMD.
  std::signal(SIGINT, [](int) {});
  std::signal(SIGQUIT, [](int) {});
  std::fprintf(file, "pid %d\n", pid);
  int status = 0;
  if (waitpid(pid, &status, 0) != pid) return 70;
  if (WIFEXITED(status)) {
    std::fprintf(file, "exit %d\n", WEXITSTATUS(status));
  } else {
    std::fprintf(file, "signal %s%s\n", sigabbrev_np(WTERMSIG(status)), WCOREDUMP(status) ? " with a core" : "");
  }
  return 0;
}
