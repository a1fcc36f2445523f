// SPDX-License-Identifier: Apache-2.0
// A simulated process: a fiber that runs zklock's own code. It runs until it waits in poll() or sleeps; then the world
// goes on. All processes share the program's static variables, as threads would.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace zklock::sim {

class Process;

// What a simulated descriptor stands for.
class File {
 public:
  File() = default;
  File(const File&) = delete;
  virtual ~File() = default;
  // The events of poll(2) that it has.
  virtual short ready() const { return 0; }
  // The last descriptor of it was closed, by the process or by its end.
  virtual void closed() {}

  Process* owner = nullptr;
};

class Process {
 public:
  enum class State {
    running,  // or ready to
    waiting,  // in poll
    ended,    // by itself
    killed,
  };

  Process(int number, std::string name, std::function<int()> body);
  Process(const Process&) = delete;
  ~Process();

  const int number;  // also that of the host that it runs on
  const std::string name;
  bool lives() const { return state == State::running || state == State::waiting; }
  pid_t pid() const { return 100 + number; }

  // Something that it may wait for has come. Does nothing while it does not wait.
  void wake();
  // As SIGKILL. It is never unwound, because guards and pages point into it.
  void kill();
  // Until `until` it gets no processor.
  void stop(int64_t until);
  // As stop(), for `span`, in the middle of a turn: at its `calls`th system call from now.
  void stop_in_a_call(int calls, int64_t span);
  // By the kernel, at each system call that may be one of these.
  void count_call();
  // More input for it, which is `input_open` until it has all.
  void feed(const std::string& text, bool open);
  // It reads them by signalfd(2).
  void send_signal(int signal);

  // Called by the world and by the kernel.
  void resume();
  void yield();  // by itself

  State state = State::running;
  bool scheduled = false;  // an event that resumes it is due
  int status = -1;         // once it has ended
  int64_t started_at = 0;
  int64_t ended_at = 0;
  int64_t stopped_until = 0;
  int64_t stood_still = 0;  // so long, at most
  std::map<int, std::shared_ptr<File>> files;
  std::deque<int> signals;                    // that have arrived
  std::string error;                          // the text of the failure that it ended with
  std::string said;                           // on standard error
  std::string printed;                        // on standard output
  std::vector<std::string> environment = {};  // NAME=VALUE; what is not there is as in the simulation's own
  std::string input;                          // what is left of its standard input
  bool input_open = false;                    // more input may come
  std::function<void()> at_end;               // called once it has ended or was killed
  int idle_polls = 0;                         // polls that returned since time has passed
  int64_t polled_at = 0;

 private:
  struct Fiber;
  void finish(State how);

  int calls_until_stop_ = 0;  // 0: none
  int64_t stop_span_ = 0;
  std::function<int()> body_;
  Fiber* fiber_;
};

}  // namespace zklock::sim
