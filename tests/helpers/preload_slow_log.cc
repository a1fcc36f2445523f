// SPDX-License-Identifier: Apache-2.0
// For LD_PRELOAD into a ZooKeeper server: each write to its transaction log takes as many milliseconds longer as the
// file $SLOW_LOG says now, like a disk that is busy with others.
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace {

long delay() {
  const char* file = std::getenv("SLOW_LOG");
  const int fd = file ? open(file, O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0) return 0;
  char text[32] = "";
  static_cast<void>(!read(fd, text, sizeof text - 1));
  close(fd);
  return std::atol(text);
}

bool is_log(int fd) {
  struct stat status {};
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return false;
  char path[4096] = "";
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  return readlink(link.c_str(), path, sizeof path - 1) > 0 && std::strstr(path, "/version-2/log.");
}

}  // namespace

extern "C" ssize_t write(int fd, const void* data, size_t length) {
  using Write = ssize_t (*)(int, const void*, size_t);
  static const auto next = reinterpret_cast<Write>(dlsym(RTLD_NEXT, "write"));
  if (is_log(fd)) {
    const long milliseconds = delay();
    const timespec pause{milliseconds / 1000, milliseconds % 1000 * 1'000'000};
    if (milliseconds > 0) nanosleep(&pause, nullptr);
  }
  return next(fd, data, length);
}
