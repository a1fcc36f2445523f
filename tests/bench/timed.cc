// SPDX-License-Identifier: Apache-2.0
// timed FD COMMAND [ARG…]: runs the command, and writes its cost to that descriptor: seconds of wall time, seconds of
// CPU with its children's, and its largest memory in KiB. It is small, because a process also counts the memory of the
// one that forked it. Ends with the command's status, 128 + N after a signal.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 64;
  const int answer = std::atoi(argv[1]);
  const double start = now();
  const pid_t pid = fork();
  if (pid == 0) {
    close(answer);
    execvp(argv[2], argv + 2);
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  if (pid < 0 || wait4(pid, &status, 0, &usage) != pid) return 71;
  const double end = now();
  dprintf(answer, "%.6f %.6f %ld\n", end - start, seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
