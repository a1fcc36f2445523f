// SPDX-License-Identifier: Apache-2.0
// words_server MANNER...: stands for servers that are asked four-letter words, one a MANNER, on free ports of
// 127.0.0.1. Prints "port N" for each and serves until it is killed. Manners:
//   say:PREFIX    the file PREFIX.WORD; nothing if there is none
//   cut:N:PREFIX  the first N bytes of it
//   open:PREFIX   like say, but does not close
//   text:TEXT     TEXT, whatever the word
//   close         nothing
//   reset         a reset
//   silent        no answer, and the connection stays
//   random:N      N bytes, random but the same each time
//   endless       such bytes without an end
#include <arpa/inet.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <poll.h>
#include <random>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace {

std::string file(const std::string& name) {
  std::ifstream in(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string random_bytes(size_t count) {
  std::mt19937 engine(7);
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(engine());
  return bytes;
}

void say(int fd, const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const ssize_t sent = send(fd, text.data() + at, text.size() - at, MSG_NOSIGNAL);
    if (sent <= 0) _exit(0);
    at += static_cast<size_t>(sent);
  }
}

[[noreturn]] void stay() {
  for (;;) pause();
}

void reset(int fd) {
  const linger at_once{1, 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

void serve(int fd, const std::string& manner) {
  char word[5] = "";
  if (recv(fd, word, 4, MSG_WAITALL) != 4) return;
  const auto rest = [&](size_t from) { return manner.substr(from); };
  if (manner.starts_with("say:")) say(fd, file(rest(4) + "." + word));
  if (manner.starts_with("cut:")) {
    const size_t colon = manner.find(':', 4);
    say(fd, file(rest(colon + 1) + "." + word).substr(0, std::stoul(rest(4))));
  }
  if (manner.starts_with("open:")) {
    say(fd, file(rest(5) + "." + word));
    stay();
  }
  if (manner.starts_with("text:")) say(fd, rest(5));
  if (manner.starts_with("random:")) say(fd, random_bytes(std::stoul(rest(7))));
  if (manner == "reset") reset(fd);
  if (manner == "silent") stay();
  while (manner == "endless") say(fd, random_bytes(1 << 20));
}

int listen_on_free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(fd, generic, size) != 0 || listen(fd, 64) != 0 || getsockname(fd, generic, &size) != 0) std::exit(70);
  std::printf("port %d\n", ntohs(address.sin_port));
  return fd;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGCHLD, SIG_IGN);
  std::vector<pollfd> doors;
  for (int i = 1; i < argc; ++i) doors.push_back({listen_on_free_port(), POLLIN, 0});
  std::fflush(stdout);
  const pid_t parent = getpid();
  while (poll(doors.data(), doors.size(), -1) > 0) {
    for (size_t i = 0; i < doors.size(); ++i) {
      if (!(doors[i].revents & POLLIN)) continue;
      const int fd = accept(doors[i].fd, nullptr, nullptr);
      if (fd >= 0 && fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(0);
        serve(fd, argv[i + 1]);
        _exit(0);
      }
      if (fd >= 0) close(fd);
    }
  }
}
