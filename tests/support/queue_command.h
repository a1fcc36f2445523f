// SPDX-License-Identifier: Apache-2.0
// A zklock that works on a queue of ten, as a process of its own, over a network that fails at a chosen moment.
#pragma once

#include "base/failure.h"
#include "support/process.h"
#include "support/queue_worker.h"

#include <csignal>
#include <functional>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace zklock::test {

class QueueCommandTest : public QueueOfTen {
 protected:
  ~QueueCommandTest() override {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  // Starts `command` as zklock's main would, over the proxy.
  void start(Duration session_timeout, const std::function<int(zk::SessionOptions)>& command) {
    pid_ = support::start_process([&] {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      try {
        return command(options_for(through_proxy_, session_timeout));
      } catch (const Failure& failure) {
        folder_.write("failure", failure.text());
        return static_cast<int>(failure.status());
      }
    });
  }
  // Returns the exit status; -1 if there is none in time.
  int status() {
    int wait_status = 0;
    if (!support::wait_until([&] { return waitpid(pid_, &wait_status, WNOHANG) == pid_; }, std::chrono::seconds(20)))
      return -1;
    pid_ = 0;
    return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
  }
  std::string failure() const { return support::contents_of(folder_.file("failure")); }
  bool is_claimed(int number) { return observer_.read(claim(number)).code == zk::Code::ok; }

  support::TempDir folder_;
  pid_t pid_ = 0;
};

}  // namespace zklock::test
