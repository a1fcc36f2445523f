// SPDX-License-Identifier: Apache-2.0
// pty SCREEN CMD [ARG…]: runs CMD as the leader of a session on a terminal of 80 columns. It types its standard input,
// to its end, and appends what the terminal shows to the file SCREEN. Ends with CMD's status, 128+N for a signal. If
// the terminal goes away, CMD gets HUP, as when a window is closed.
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

// Copies what can be read now. Returns false at the end.
bool copy(int from, int to) {
  char buffer[4096];
  const ssize_t length = read(from, buffer, sizeof buffer);
  return length > 0 && write(to, buffer, static_cast<size_t>(length)) == length;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 64;
  const int screen = open(argv[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (screen < 0) return 73;
  winsize size{};
  size.ws_row = 24;
  size.ws_col = 80;
  int terminal = -1;
  const pid_t pid = forkpty(&terminal, nullptr, nullptr, &size);
  if (pid == 0) {
    execvp(argv[2], argv + 2);
    _exit(127);
  }
  if (pid < 0) return 70;
  pollfd fds[] = {{terminal, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
  for (;;) {
    if (poll(fds, 2, -1) < 0 && errno != EINTR) return 70;
    // EIO: no process has the terminal open any more.
    if (fds[0].revents && !copy(terminal, screen)) break;
    if (fds[1].revents && !copy(STDIN_FILENO, terminal)) fds[1].fd = -1;
  }
  int status = 0;
  if (waitpid(pid, &status, 0) != pid) return 70;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
