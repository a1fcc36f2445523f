// SPDX-License-Identifier: Apache-2.0
// host/terminal: remarks never wait. Each test runs in a process of its own, whose standard error is not read.
#include "host/terminal.h"

#include "host/fd.h"
#include "support/process.h"

#include <array>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace zklock::host {
namespace terminal_test {

// Writes more than any output takes, in pieces whose sizes do not add up to what it takes.
void remark_for_long() {
  for (size_t i = 0; i < 2000; ++i) remark(std::string(100 + i % 7, 'x') + '\n');
}

bool is_blocking(int fd) {
  return (fcntl(fd, F_GETFL) & O_NONBLOCK) == 0;
}

struct Terminal {
  Fd master{posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)};
  Fd slave;

  Terminal() {
    if (!master || grantpt(master.get()) != 0 || unlockpt(master.get()) != 0) return;
    slave = Fd(open(ptsname(master.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
    dup2(slave.get(), STDERR_FILENO);
  }
};

ISOLATED_TEST(Remark, NeverWaitsForATerminal) {
  const Terminal terminal;
  if (!terminal.slave) GTEST_SKIP() << "there are no terminals here: /dev/pts is not mounted";
  remark_for_long();
  EXPECT_TRUE(is_blocking(STDERR_FILENO));
}

ISOLATED_TEST(Remark, NeverWaitsForSomebodyElsesTerminal) {
  const Terminal terminal;
  if (!terminal.slave) GTEST_SKIP() << "there are no terminals here: /dev/pts is not mounted";
  // The terminal is open, but may not be opened again.
  ASSERT_EQ(fchmod(terminal.slave.get(), 0), 0);
  ASSERT_EQ(geteuid() == 0 ? setuid(65534) : 0, 0);
  remark_for_long();
}

ISOLATED_TEST(Remark, NeverWaitsForAPipe) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  dup2(ends[1], STDERR_FILENO);
  remark_for_long();
  EXPECT_TRUE(is_blocking(ends[1]));
}

// A socket cannot be opened again.
ISOLATED_TEST(Remark, NeverWaitsForASocket) {
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  dup2(ends[1], STDERR_FILENO);
  remark_for_long();
  EXPECT_TRUE(is_blocking(ends[1]));
}

// Messages contain what servers and other programs have written.
ISOLATED_TEST(SayError, CannotSteerATerminal) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  dup2(ends[1], STDERR_FILENO);
  say_error("bad\n\x1b[2J");
  std::array<char, 100> read_bytes{};
  const ssize_t length = read(ends[0], read_bytes.data(), read_bytes.size());
  ASSERT_GT(length, 0);
  EXPECT_EQ(std::string(read_bytes.data(), static_cast<size_t>(length)), "zklock: bad\\x0a\\x1b[2J\n");
}

ISOLATED_TEST(Remark, IsReadWhole) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  dup2(ends[1], STDERR_FILENO);
  remark("zklock: one\n");
  remark("zklock: two\n");
  std::array<char, 100> read_bytes{};
  const ssize_t length = read(ends[0], read_bytes.data(), read_bytes.size());
  EXPECT_EQ(std::string_view(read_bytes.data(), static_cast<size_t>(length)), "zklock: one\nzklock: two\n");
}

}  // namespace terminal_test
}  // namespace zklock::host
