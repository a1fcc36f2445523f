// SPDX-License-Identifier: Apache-2.0
// black_hole: prints a port at which the kernel accepts connections, but nothing ever answers. Runs until it is killed.
#include <arpa/inet.h>
#include <cstdio>
#include <sys/socket.h>
#include <unistd.h>

int main() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(fd, generic, length) != 0 || listen(fd, 64) != 0 || getsockname(fd, generic, &length) != 0) return 70;
  std::printf("%d\n", ntohs(address.sin_port));
  std::fflush(stdout);
  for (;;) pause();
}
