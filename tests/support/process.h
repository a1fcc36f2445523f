// SPDX-License-Identifier: Apache-2.0
// Helpers of unit tests with real processes, files and failures.
#pragma once

#include "base/failure.h"
#include "base/time.h"

#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>

#include <gtest/gtest.h>

namespace zklock::support {

inline constexpr Duration kBound = std::chrono::seconds(10);

// Waits for a fact, at most `bound`; returns whether it came true.
bool wait_until(const std::function<bool()>& fact, Duration bound = kBound);

// Returns the Failure that `attempt` throws, if it throws one.
template <class Attempt>
std::optional<Failure> failure_of(Attempt&& attempt) {
  try {
    attempt();
  } catch (const Failure& failure) {
    return failure;
  }
  return std::nullopt;
}

// A folder that is removed with all it holds.
class TempDir {
 public:
  TempDir();
  TempDir(const TempDir&) = delete;
  ~TempDir();
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }
  // Returns the new file's path.
  std::string write(const std::string& name, const std::string& text, mode_t mode = 0644) const;

 private:
  std::string path_;
};

std::string contents_of(const std::string& file);
bool exists(const std::string& file);

// Returns the pid that a process writes into `file` with "echo $! >file"; 0 if none comes.
pid_t pid_in(const std::string& file);

// True if the process exists and is no zombie.
bool is_alive(pid_t pid);

// Forks; the child calls `body`, whose result is its exit status. Throws nothing; -1 if there is no child.
pid_t start_process(const std::function<int()>& body);

struct Ended {
  int wait_status;
  std::string output;  // standard output
};

// Does the same, and waits for its end.
Ended run_process(const std::function<int()>& body);

// Runs `body` in a process and a process group of its own, where it may change signals, descriptors, the environment
// and the subreaper. Returns `failed` if an expectation failed there or it did not end in time; `skipped` after
// GTEST_SKIP, whose reason has been printed.
enum class OwnProcess { passed, skipped, failed };
OwnProcess result_in_own_process(void (*body)());

// Defines TEST(suite, name) in a process of its own.
#define ISOLATED_TEST(suite, name)                                                          \
  static void suite##_##name##_in_own_process();                                            \
  TEST(suite, name) {                                                                       \
    const auto result = support::result_in_own_process(suite##_##name##_in_own_process);    \
    if (result == support::OwnProcess::skipped) GTEST_SKIP() << "its own process says why"; \
    EXPECT_EQ(result, support::OwnProcess::passed);                                         \
  }                                                                                         \
  static void suite##_##name##_in_own_process()

}  // namespace zklock::support
