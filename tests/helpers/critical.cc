// SPDX-License-Identifier: Apache-2.0
// critical [-i|-f] FILE NAME: stands for a command that must be alone. Every few milliseconds it appends "MICROSECONDS
// NAME PID" to FILE, by the wall clock, like a server's log. It ends with status 0 when there is a file NAME.go. With
// -i it ignores TERM, but notes it as a fourth word, "TERM". With -f it also has three descendants that do the same: a
// child, one forked twice, and one forked twice that has its own session. When it starts, it adds "MICROSECONDS NAME
// PID overlaps PID" for each living process that has written to FILE under another name.
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <unistd.h>

namespace {

volatile sig_atomic_t terminated = 0;

void write_life(int file, const char* name, const char* word = "") {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  char line[128];
  const int length = std::snprintf(line, sizeof line, "%lld%06ld %s %d%s\n", static_cast<long long>(now.tv_sec),
                                   now.tv_nsec / 1000, name, getpid(), word);
  static_cast<void>(!write(file, line, static_cast<size_t>(length)));
}

bool is_alive(int pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  FILE* file = std::fopen(path.c_str(), "re");
  if (!file) return false;
  char state = 'X';
  static_cast<void>(!std::fscanf(file, "%*d (%*[^)]) %c", &state));
  std::fclose(file);
  return state != 'X' && state != 'Z';
}

std::set<int> others(const char* path, const std::string& name) {
  std::set<int> found;
  std::ifstream lines(path);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string moment;
    std::string who;
    int pid = 0;
    if (words >> moment >> who >> pid && who != name) found.insert(pid);
  }
  return found;
}

[[noreturn]] void live(int file, const char* name) {
  const std::string end = std::string(name) + ".go";
  for (;;) {
    if (terminated) {
      terminated = 0;
      write_life(file, name, " TERM");
    } else {
      write_life(file, name);
    }
    if (access(end.c_str(), F_OK) == 0) _exit(0);
    usleep(3000);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool has_flag = argc > 1 && argv[1][0] == '-';
  if (argc != (has_flag ? 4 : 3)) return 64;
  const char* name = argv[argc - 1];
  const int file = open(argv[argc - 2], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return 73;
  write_life(file, name);
  for (const int pid : others(argv[argc - 2], name)) {
    if (is_alive(pid)) write_life(file, name, (" overlaps " + std::to_string(pid)).c_str());
  }
  if (has_flag) {
    std::signal(SIGTERM, [](int) { terminated = 1; });
    std::signal(SIGHUP, SIG_IGN);
  }
  if (has_flag && std::strcmp(argv[1], "-f") == 0) {
    if (fork() == 0) live(file, name);
    for (const bool own_session : {false, true}) {
      if (fork() > 0) continue;
      if (own_session) setsid();
      if (fork() == 0) live(file, name);
      _exit(0);
    }
  }
  live(file, name);
}
