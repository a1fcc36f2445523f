// SPDX-License-Identifier: Apache-2.0
// The ZooKeeper C client alone, for the subcommands of `bare`. They handle no failure: they run on a healthy server,
// and end with a message if it is not.
#pragma once

#include <string>
#include <vector>

#include <zookeeper/zookeeper.h>

namespace bare {

// The result of a request. It must live until it is done.
struct Answer {
  bool done = false;
  int code = ZOK;
  std::string data;  // or the path of a node that was made
  std::vector<std::string> names;
};

// Prints a message and ends the program.
[[noreturn]] void die(const std::string& what, int code = ZOK);

// Reads a line of standard input, without its end; returns false if there is none left.
bool next_line(std::string& line);

// An established session with the servers in ZKLOCK_SERVERS; their chroot is `chroot`.
class Client {
 public:
  Client();
  ~Client();

  // Waits for an answer that must be good; `what` is for the message.
  void await(const Answer& answer, const std::string& what);
  // Like await(), but returns false if there is no such node.
  bool await_node(const Answer& answer, const std::string& what);
  // Ends the session in the flight of the last request, whose answer is `last`, and waits for both answers. Nothing may
  // be called after it.
  void end_behind(const Answer& last, const std::string& what);
  // Sends and receives what is ready; waits for that only if `wait`.
  void turn(bool wait);

  void create(const std::string& path, const std::string& data, int flags, Answer& answer);
  void remove(const std::string& path, Answer& answer);
  void children(const std::string& path, Answer& answer);
  // An empty path is the root.
  void exists(const std::string& path, Answer& answer);
  // `watched`: sets a watch that does nothing.
  void read(const std::string& path, bool watched, Answer& answer);
  void write(const std::string& path, const std::string& data, Answer& answer);
  void sync(const std::string& path, Answer& answer);
  // Sets `fired` when what was read has changed.
  void read_watched(const std::string& path, bool& fired, Answer& answer);

  // A transaction is filled with add_…, then sent; another one can be filled at once.
  void add_check(const std::string& path, int version);
  void add_create(const std::string& path, const std::string& data, int flags);
  void add_write(const std::string& path, int version);
  void add_remove(const std::string& path);
  void transact(Answer& answer);

 private:
  zhandle_t* handle_ = nullptr;
  int fd_ = -1;
  const Answer* last_ = nullptr;  // the session's end was sent behind the request for it
  std::string chroot_;
  std::vector<zoo_op_t> operations_;
  std::vector<std::string> paths_;  // of the operations, and their data
  std::vector<std::string> datas_;
};

}  // namespace bare
