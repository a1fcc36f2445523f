// SPDX-License-Identifier: Apache-2.0
#include "support/process.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <poll.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

namespace zklock::support {

using namespace std::chrono_literals;

namespace {

constexpr Duration kIsolatedBound = 60s;
constexpr int kSkipped = 77;

[[noreturn]] void leave(int status) {
  std::cout.flush();
  std::fflush(nullptr);
  _exit(status);
}

}  // namespace

bool wait_until(const std::function<bool()>& fact, Duration bound) {
  const Deadline until = deadline_in(bound);
  while (!fact()) {
    if (left_until(until) == Duration::zero()) return false;
    ::poll(nullptr, 0, 1);
  }
  return true;
}

TempDir::TempDir() {
  const char* parent = std::getenv("TMPDIR");
  path_ = std::string(parent ? parent : "/tmp") + "/zklock-unit-XXXXXX";
  if (!mkdtemp(path_.data())) ADD_FAILURE() << "cannot make " << path_;
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TempDir::write(const std::string& name, const std::string& text, mode_t mode) const {
  std::ofstream(file(name)) << text;
  chmod(file(name).c_str(), mode);
  return file(name);
}

std::string contents_of(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

bool exists(const std::string& file) {
  return access(file.c_str(), F_OK) == 0;
}

pid_t pid_in(const std::string& file) {
  wait_until([&] { return contents_of(file).ends_with('\n'); });
  return std::atoi(contents_of(file).c_str());
}

bool is_alive(pid_t pid) {
  const std::string stat = contents_of(fmt::format("/proc/{}/stat", pid));
  const size_t name_end = stat.rfind(')');
  return name_end != std::string::npos && stat[name_end + 2] != 'Z' && stat[name_end + 2] != 'X';
}

pid_t start_process(const std::function<int()>& body) {
  std::cout.flush();
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid != 0) return pid;
  try {
    leave(body());
  } catch (const std::exception& error) {
    std::cout << "unexpected exception: " << error.what() << std::endl;
    leave(99);
  }
}

Ended run_process(const std::function<int()>& body) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {-1, ""};
  const pid_t pid = start_process([&] {
    dup2(ends[1], STDOUT_FILENO);
    return body();
  });
  close(ends[1]);
  Ended ended{-1, ""};
  char part[4096];
  for (ssize_t length = 0; (length = read(ends[0], part, sizeof part)) > 0;) {
    ended.output.append(part, static_cast<size_t>(length));
  }
  close(ends[0]);
  waitpid(pid, &ended.wait_status, 0);
  return ended;
}

OwnProcess result_in_own_process(void (*body)()) {
  const pid_t pid = start_process([body] {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    body();
    return testing::Test::HasFailure() ? 1 : testing::Test::IsSkipped() ? kSkipped : 0;
  });
  int wait_status = 0;
  const auto ended = [&] { return waitpid(pid, &wait_status, WNOHANG) == pid; };
  if (wait_until(ended, kIsolatedBound)) {
    if (!WIFEXITED(wait_status)) return OwnProcess::failed;
    const int status = WEXITSTATUS(wait_status);
    return status == 0 ? OwnProcess::passed : status == kSkipped ? OwnProcess::skipped : OwnProcess::failed;
  }
  ::kill(-pid, SIGKILL);
  waitpid(pid, &wait_status, 0);
  ADD_FAILURE() << "the test's own process did not end";
  return OwnProcess::failed;
}

}  // namespace zklock::support
