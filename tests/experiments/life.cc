// SPDX-License-Identifier: Apache-2.0
// A command that ignores SIGTERM and notes when it lived:
//
//   experiments_life FILE SLOT SECONDS
//
// In FILE, slot SLOT has two numbers of 8 bytes: nanoseconds of CLOCK_BOOTTIME at the start of the first command with
// this slot, and at the last sign of life of any. After SECONDS, at most a minute, it ends.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

constexpr int64_t kMillisecond = 1'000'000;
constexpr int64_t kSecond = 1000 * kMillisecond;
constexpr int64_t kLongest = 60 * kSecond;

struct Slot {
  int64_t start;
  int64_t last;
};

int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

Slot* map_slot(const char* path, size_t number) {
  const int file = open(path, O_RDWR | O_CLOEXEC);
  struct stat stat {};
  if (file < 0 || fstat(file, &stat) != 0) return nullptr;
  const auto length = static_cast<size_t>(stat.st_size);
  if ((number + 1) * sizeof(Slot) > length) return nullptr;
  void* const memory = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<Slot*>(memory) + number;
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t begun = now();
  signal(SIGTERM, SIG_IGN);
  if (argc != 4) return 98;
  volatile Slot* const slot = map_slot(argv[1], strtoul(argv[2], nullptr, 10));
  if (!slot) return 98;
  if (slot->start == 0) slot->start = begun;
  const int64_t asked = static_cast<int64_t>(strtod(argv[3], nullptr) * static_cast<double>(kSecond));
  const int64_t until = begun + (asked < kLongest ? asked : kLongest);
  const timespec pause{0, kMillisecond};
  for (int64_t time = begun; time < until; time = now()) {
    slot->last = time;
    nanosleep(&pause, nullptr);
  }
  return 0;
}
