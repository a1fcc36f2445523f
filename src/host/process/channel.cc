// SPDX-License-Identifier: Apache-2.0
#include "host/process/channel.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

namespace zklock::host {

namespace {

constexpr size_t kMostVariables = 128 * 1024;                 // bytes; the kernel takes no more in one string either
constexpr size_t kControlSize = CMSG_SPACE(2 * sizeof(int));  // for as many descriptors

// What a message begins with. The tokens and then the variables follow.
struct Head {
  OrderKind kind;
  bool arguments;
  bool input;
  int32_t number;
  uint32_t nested;  // how many tokens follow
};

void put_descriptors(msghdr& message, const std::vector<int>& descriptors) {
  const size_t size = descriptors.size() * sizeof(int);
  message.msg_controllen = CMSG_SPACE(size);
  cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(size);
  std::memcpy(CMSG_DATA(head), descriptors.data(), size);
}

// Returns the next descriptor of the message; none if there are no more.
Fd take_descriptor(msghdr& message, size_t& taken) {
  const cmsghdr* head = CMSG_FIRSTHDR(&message);
  if (!head || head->cmsg_len < CMSG_LEN((taken + 1) * sizeof(int))) return {};
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(head) + taken++ * sizeof(int), sizeof descriptor);
  return Fd(descriptor);
}

// Puts `content` into a pipe. The limit on the size of files (ulimit -f) also counts for files in memory, but not for
// pipes.
Fd filled_pipe(const std::string& content) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw system_error("cannot make a pipe");
  Fd output(ends[0]);
  const Fd input(ends[1]);
  fcntl(input.get(), F_SETFL, O_NONBLOCK);
  fcntl(input.get(), F_SETPIPE_SZ, content.size());
  if (write(input.get(), content.data(), content.size()) != static_cast<ssize_t>(content.size())) {
    throw Failure(ExitStatus::internal, "cannot hand " + std::to_string(content.size()) +
                                            " bytes to a command: no pipe takes so many, and the limit on the size of "
                                            "files (ulimit -f) forbids all else");
  }
  return output;
}

// Returns a file in memory with `content`, to be read from its beginning.
Fd memory_file(const std::string& content) {
  Fd file(memfd_create("zklock", MFD_CLOEXEC));
  if (!file) throw system_error("cannot make a file in memory");
  for (size_t written = 0; written < content.size();) {
    const ssize_t length = write(file.get(), content.data() + written, content.size() - written);
    if (length < 0 && errno == EFBIG) return filled_pipe(content);
    if (length < 0) throw system_error("cannot write to memory");
    written += static_cast<size_t>(length);
  }
  lseek(file.get(), 0, SEEK_SET);
  return file;
}

std::string block_of(const std::vector<std::string>& strings) {
  std::string block;
  for (const std::string& string : strings) block += string + '\0';
  return block;
}

Failure too_long() {
  return {ExitStatus::usage, "the paths and servers are too long for the command's environment"};
}

}  // namespace

void check_variables(const std::vector<std::string>& variables) {
  if (block_of(variables).size() > kMostVariables) throw too_long();
}

Order order_to_start(int number, const Launch& launch) {
  Order order{OrderKind::start, number, block_of(launch.variables)};
  order.nested = launch.nested;
  if (!launch.arguments.empty()) order.arguments = memory_file(block_of(launch.arguments));
  if (launch.input) order.input = memory_file(*launch.input);
  return order;
}

std::vector<std::string> strings_of(std::string_view block) {
  std::vector<std::string> strings;
  while (!block.empty()) {
    strings.emplace_back(block.substr(0, block.find('\0')));
    block.remove_prefix(strings.back().size() + 1);
  }
  return strings;
}

std::pair<Fd, Fd> make_channel() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) throw system_error("cannot make a socket");
  return {Fd(ends[0]), Fd(ends[1])};
}

bool send(const Fd& end, const Order& order) {
  const size_t tokens = order.nested.size() * sizeof(int64_t);
  if (tokens + order.variables.size() > kMostVariables) throw too_long();
  Head head{order.kind, static_cast<bool>(order.arguments), static_cast<bool>(order.input), order.number,
            static_cast<uint32_t>(order.nested.size())};
  iovec parts[] = {{&head, sizeof head},
                   {const_cast<int64_t*>(order.nested.data()), tokens},
                   {const_cast<char*>(order.variables.data()), order.variables.size()}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 3;
  alignas(cmsghdr) char control[kControlSize]{};
  std::vector<int> descriptors;
  if (order.arguments) descriptors.push_back(order.arguments.get());
  if (order.input) descriptors.push_back(order.input.get());
  if (!descriptors.empty()) {
    message.msg_control = control;
    put_descriptors(message, descriptors);
  }
  if (sendmsg(end.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) return true;
  if (errno != EPIPE && errno != ECONNRESET && errno != EBADF && errno != EAGAIN) {
    throw system_error("cannot reach the guard");
  }
  return false;
}

std::optional<Order> receive(const Fd& end, bool& closed) {
  Head head{};
  static char variables[kMostVariables];
  iovec parts[] = {{&head, sizeof head}, {variables, sizeof variables}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  alignas(cmsghdr) char control[kControlSize]{};
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t length = recvmsg(end.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  closed = length == 0 || (length < 0 && errno == ECONNRESET);
  if (length < static_cast<ssize_t>(sizeof head)) return std::nullopt;
  Order order{head.kind, head.number, std::string(variables, static_cast<size_t>(length) - sizeof head)};
  order.nested.resize(head.nested);
  const size_t tokens = head.nested * sizeof(int64_t);
  if (tokens > 0) std::memcpy(order.nested.data(), variables, tokens);
  order.variables.erase(0, tokens);
  size_t taken = 0;
  if (head.arguments) order.arguments = take_descriptor(message, taken);
  if (head.input) order.input = take_descriptor(message, taken);
  order.whole = static_cast<bool>(order.arguments) == head.arguments && static_cast<bool>(order.input) == head.input;
  return order;
}

}  // namespace zklock::host
