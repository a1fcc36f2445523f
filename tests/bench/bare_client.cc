// SPDX-License-Identifier: Apache-2.0
#include "bare_client.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <poll.h>
#include <string_view>
#include <sys/socket.h>

namespace bare {

namespace {

constexpr int kSessionTimeout = 15000;  // milliseconds

// Operations keep pointers to their texts until they are sent, so the vectors must not move.
constexpr size_t kMostOperations = 2000;

using namespace std::string_view_literals;

// The length, then the number and the type of the request.
constexpr std::string_view kEnd = "\0\0\0\x08\xff\xff\xff\xf5\xff\xff\xff\xf5"sv;
constexpr std::string_view kPing = "\0\0\0\x08\xff\xff\xff\xfe\0\0\0\x0b"sv;
constexpr int kLateEnd = 300;  // milliseconds

Answer* answer_of(const void* data) {
  return const_cast<Answer*>(static_cast<const Answer*>(data));
}

void on_void(int code, const void* data) {
  answer_of(data)->code = code;
  answer_of(data)->done = true;
}

void on_string(int code, const char* path, const void* data) {
  if (code == ZOK) answer_of(data)->data = path;
  on_void(code, data);
}

void on_data(int code, const char* value, int length, const Stat*, const void* data) {
  if (code == ZOK && length > 0) answer_of(data)->data.assign(value, static_cast<size_t>(length));
  on_void(code, data);
}

void on_children(int code, const String_vector* names, const void* data) {
  for (int i = 0; code == ZOK && i < names->count; ++i) answer_of(data)->names.emplace_back(names->data[i]);
  on_void(code, data);
}

void on_stat(int code, const Stat*, const void* data) {
  on_void(code, data);
}

void ignore_event(zhandle_t*, int, int, const char*, void*) {}

void on_event(zhandle_t*, int type, int, const char*, void* fired) {
  if (type != ZOO_SESSION_EVENT) *static_cast<bool*>(fired) = true;
}

void must_be_sent(int code) {
  if (code != ZOK) die("cannot send", code);
}

void send_frame(int fd, std::string_view frame) {
  if (send(fd, frame.data(), frame.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(frame.size())) {
    die("cannot end the session");
  }
}

}  // namespace

void die(const std::string& what, int code) {
  std::fprintf(stderr, "bare: %s%s%s\n", what.c_str(), code == ZOK ? "" : ": ", code == ZOK ? "" : zerror(code));
  std::exit(70);
}

bool next_line(std::string& line) {
  static char* text = nullptr;
  static size_t room = 0;
  ssize_t size = getline(&text, &room, stdin);
  if (size < 0) return false;
  if (size > 0 && text[size - 1] == '\n') --size;
  line.assign(text, static_cast<size_t>(size));
  return true;
}

Client::Client() {
  const char* servers = std::getenv("ZKLOCK_SERVERS");
  if (!servers) die("ZKLOCK_SERVERS is not set");
  const std::string list = servers;
  const size_t slash = std::min(list.find('/'), list.size());
  chroot_ = list.substr(slash);
  operations_.reserve(kMostOperations);
  paths_.reserve(kMostOperations);
  datas_.reserve(kMostOperations);
  zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
  handle_ = zookeeper_init2(list.substr(0, slash).c_str(), nullptr, kSessionTimeout, nullptr, nullptr,
                            ZOO_NO_LOG_CLIENTENV, nullptr);
  if (!handle_) die("cannot start the client");
  zoo_set_servers_resolution_delay(handle_, -1);
  while (zoo_state(handle_) != ZOO_CONNECTED_STATE) turn(true);
}

Client::~Client() {
  if (!last_) zookeeper_close(handle_);
}

void Client::turn(bool wait) {
  pollfd poll_fd{-1, 0, 0};
  int interest = 0;
  timeval within{};
  if (zookeeper_interest(handle_, &poll_fd.fd, &interest, &within) != ZOK) die("the connection is lost");
  if (interest & ZOOKEEPER_READ) poll_fd.events |= POLLIN;
  if (interest & ZOOKEEPER_WRITE) poll_fd.events |= POLLOUT;
  const long most = within.tv_sec * 1000 + within.tv_usec / 1000 + 1;
  fd_ = poll_fd.fd;
  poll(&poll_fd, 1, wait ? static_cast<int>(most) : 0);
  int events = 0;
  if (poll_fd.revents & (POLLIN | POLLHUP | POLLERR)) events |= ZOOKEEPER_READ;
  if (poll_fd.revents & POLLOUT) events |= ZOOKEEPER_WRITE;
  // It takes one answer at a time. The answer to the session's end would make it abort, because it has not sent that.
  while (!(last_ && last_->done) && zookeeper_process(handle_, events) == ZOK) events = ZOOKEEPER_READ;
  if (is_unrecoverable(handle_)) die("the session is over");
}

void Client::await(const Answer& answer, const std::string& what) {
  if (!await_node(answer, what)) die(what, answer.code);
}

bool Client::await_node(const Answer& answer, const std::string& what) {
  while (!answer.done) turn(true);
  if (answer.code != ZOK && answer.code != ZNONODE) die(what, answer.code);
  return answer.code == ZOK;
}

// zookeeper_close() would wait for the first answer only, and so lose the others, or even the end itself.
void Client::end_behind(const Answer& last, const std::string& what) {
  send_frame(fd_, kEnd);
  last_ = &last;
  pollfd poll_fd{fd_, POLLIN, 0};
  for (;;) {
    // Some servers keep an answer until they hear something more (ZOOKEEPER-4537).
    if (poll(&poll_fd, 1, kLateEnd) == 0) {
      send_frame(fd_, kPing);
    } else if (last.done) {
      return await(last, what);
    } else {
      turn(false);
    }
  }
}

void Client::create(const std::string& path, const std::string& data, int flags, Answer& answer) {
  must_be_sent(zoo_acreate(handle_, (chroot_ + path).c_str(), data.data(), static_cast<int>(data.size()),
                           &ZOO_OPEN_ACL_UNSAFE, flags, on_string, &answer));
}

void Client::remove(const std::string& path, Answer& answer) {
  must_be_sent(zoo_adelete(handle_, (chroot_ + path).c_str(), -1, on_void, &answer));
}

void Client::children(const std::string& path, Answer& answer) {
  const auto got = [](int code, const String_vector* names, const Stat*, const void* data) {
    on_children(code, names, data);
  };
  must_be_sent(zoo_aget_children2(handle_, (chroot_ + path).c_str(), 0, got, &answer));
}

void Client::exists(const std::string& path, Answer& answer) {
  const std::string full = chroot_ + path;
  must_be_sent(zoo_awexists(handle_, full.empty() ? "/" : full.c_str(), nullptr, nullptr, on_stat, &answer));
}

void Client::read(const std::string& path, bool watched, Answer& answer) {
  must_be_sent(
      zoo_awget(handle_, (chroot_ + path).c_str(), watched ? ignore_event : nullptr, nullptr, on_data, &answer));
}

void Client::write(const std::string& path, const std::string& data, Answer& answer) {
  must_be_sent(
      zoo_aset(handle_, (chroot_ + path).c_str(), data.data(), static_cast<int>(data.size()), -1, on_stat, &answer));
}

void Client::sync(const std::string& path, Answer& answer) {
  must_be_sent(zoo_async(handle_, (chroot_ + path).c_str(), on_string, &answer));
}

void Client::read_watched(const std::string& path, bool& fired, Answer& answer) {
  must_be_sent(zoo_awget(handle_, (chroot_ + path).c_str(), on_event, &fired, on_data, &answer));
}

void Client::add_check(const std::string& path, int version) {
  paths_.push_back(chroot_ + path);
  zoo_check_op_init(&operations_.emplace_back(), paths_.back().c_str(), version);
}

void Client::add_create(const std::string& path, const std::string& data, int flags) {
  paths_.push_back(chroot_ + path);
  datas_.push_back(data);
  zoo_create_op_init(&operations_.emplace_back(), paths_.back().c_str(), datas_.back().data(),
                     static_cast<int>(data.size()), &ZOO_OPEN_ACL_UNSAFE, flags, nullptr, 0);
}

void Client::add_write(const std::string& path, int version) {
  paths_.push_back(chroot_ + path);
  zoo_set_op_init(&operations_.emplace_back(), paths_.back().c_str(), "", 0, version, nullptr);
}

void Client::add_remove(const std::string& path) {
  paths_.push_back(chroot_ + path);
  zoo_delete_op_init(&operations_.emplace_back(), paths_.back().c_str(), -1);
}

void Client::transact(Answer& answer) {
  // The library writes to the results when the answer comes; they are not read.
  static std::vector<zoo_op_result_t> results(kMostOperations);
  if (operations_.size() > kMostOperations) die("too large a transaction");
  must_be_sent(
      zoo_amulti(handle_, static_cast<int>(operations_.size()), operations_.data(), results.data(), on_void, &answer));
  operations_.clear();
  paths_.clear();
  datas_.clear();
}

}  // namespace bare
