// SPDX-License-Identifier: Apache-2.0
// fork_chains [-n CHAINS] [-s SECONDS] FILE: stands for a command that forks as fast as it can. Each process of a chain
// forks its successor and exits. All ignore TERM and HUP, have their own sessions and no descriptors, and write the
// time into FILE, which is shared memory. The command itself waits. All end by themselves after SECONDS (30).
// fork_chains -l FILE: prints their last sign of life in microseconds, by the wall clock.
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

using Sign = std::atomic<int64_t>;

constexpr int kMostChains = 64;
constexpr int kMostSeconds = 30;

int64_t now_us() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
}

[[noreturn]] void go_on(Sign& last, int64_t end) {
  syscall(SYS_close_range, 0, ~0U, 0);
  for (;;) {
    setsid();
    const int64_t now = now_us();
    last = now;
    if (now >= end) _exit(0);
    // The child goes on. If fork fails, we try again.
    if (fork() > 0) _exit(0);
  }
}

Sign* shared(const char* path) {
  const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0 || ftruncate(file, sizeof(Sign)) != 0) return nullptr;
  void* memory = mmap(nullptr, sizeof(Sign), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<Sign*>(memory);
}

int number(const char* text, int most) {
  const int value = std::atoi(text);
  return value < most ? value : most;
}

}  // namespace

int main(int argc, char** argv) {
  int chains = 8;
  int seconds = kMostSeconds;
  bool only_last = false;
  for (int option = 0; (option = getopt(argc, argv, "n:s:l")) != -1;) {
    if (option == 'n') chains = number(optarg, kMostChains);
    if (option == 's') seconds = number(optarg, kMostSeconds);
    if (option == 'l') only_last = true;
    if (option == '?') return 64;
  }
  if (optind + 1 != argc) return 64;
  Sign* last = shared(argv[optind]);
  if (!last) return 73;
  if (only_last) return std::printf("%lld\n", static_cast<long long>(*last)) < 0;
  std::signal(SIGTERM, SIG_IGN);
  std::signal(SIGHUP, SIG_IGN);
  const int64_t end = now_us() + int64_t{seconds} * 1'000'000;
  for (int i = 0; i < chains; ++i) {
    if (fork() == 0) go_on(*last, end);
  }
  while (now_us() < end) sleep(1);
}
