// SPDX-License-Identifier: Apache-2.0
// await_file FILE: ends when FILE exists. A shell would start a `sleep` for each check.
#include <ctime>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  const timespec pause{0, 10'000'000};
  while (access(argv[1], F_OK) != 0) nanosleep(&pause, nullptr);
  return 0;
}
