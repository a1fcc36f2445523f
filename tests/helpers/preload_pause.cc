// SPDX-License-Identifier: Apache-2.0
// For LD_PRELOAD: if the file $TEST_PAUSE exists, the next send() of at least 12 bytes removes it, waits for the
// milliseconds in it, and then sends. So does a process that is stopped between reading the clock and sending.
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <sys/socket.h>
#include <unistd.h>

extern "C" ssize_t send(int fd, const void* data, size_t size, int flags) {
  using Send = ssize_t (*)(int, const void*, size_t, int);
  static const auto real = reinterpret_cast<Send>(dlsym(RTLD_NEXT, "send"));
  const char* file = std::getenv("TEST_PAUSE");
  unsigned milliseconds = 0;
  if (file && size >= 12 && std::ifstream(file) >> milliseconds && unlink(file) == 0) usleep(milliseconds * 1000);
  return real(fd, data, size, flags);
}
