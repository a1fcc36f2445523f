// SPDX-License-Identifier: Apache-2.0
#include "host/net/resolver.h"

#include "base/contains.h"
#include "base/text.h"

#include <arpa/inet.h>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <netdb.h>
#include <nss.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace zklock::host {

namespace {

constexpr size_t kMostText = 256 * 1024;  // bytes from a child: some thousand addresses

bool own_modules_only = false;

// Returns what the child writes for `host`: lines "address STREAM", as getent does, or a line "-reason".
std::string describe(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error = getaddrinfo(host.c_str(), nullptr, &hints, &list);
  if (error != 0) return fmt::format("-{}\n", gai_strerror(error));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(list, freeaddrinfo);
  std::string lines;
  for (const addrinfo* item = list; item; item = item->ai_next) {
    char text[NI_MAXHOST];
    if (getnameinfo(item->ai_addr, item->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0) {
      lines += fmt::format("{} STREAM\n", text);
    }
  }
  return lines;
}

// Takes what a child has written. getent also has a line for datagrams for each address.
Resolved parse(std::string_view text) {
  Resolved result;
  for (const std::string_view line : split(text, '\n')) {
    const std::string address(line.substr(0, line.find(' ')));
    const bool known = contains(result.addresses, address);
    if (line.starts_with('-')) result.error = line.substr(1);
    if (line.find(" STREAM") != line.npos && !known) result.addresses.push_back(address);
  }
  return result;
}

// Becomes the system's getent, which gets none of our descriptors. Returns if there is no getent.
void become_getent(const std::string& host, int fd) {
  const int null = open("/dev/null", O_RDWR);
  dup2(null, STDIN_FILENO);
  dup2(fd, STDOUT_FILENO);
  dup2(null, STDERR_FILENO);
  close_all_but({STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO});
  execlp("getent", "getent", "ahosts", "--", host.c_str(), nullptr);
}

}  // namespace

void keep_to_own_lookup_modules() {
  own_modules_only = true;
  // zklock and the C client look up nothing else. These modules are inside libc since glibc 2.34.
  __nss_configure_lookup("passwd", "files");
  __nss_configure_lookup("hosts", "files dns");
}

bool is_numeric_address(const std::string& host) {
  in6_addr address{};
  return inet_pton(AF_INET, host.c_str(), &address) == 1 || inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

std::optional<sockaddr_storage> socket_address_of(const std::string& address, uint16_t port) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) return std::nullopt;
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, freeaddrinfo);
  sockaddr_storage result{};
  std::memcpy(&result, found->ai_addr, found->ai_addrlen);
  return result;
}

Lookup::Lookup(std::string host) : host_(std::move(host)) {
  start([this](int output) {
    const std::string lines = describe(host_);
    static_cast<void>(!write(output, lines.data(), lines.size()));
  });
}

void Lookup::start(const std::function<void(int output)>& child) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw system_error("cannot make a pipe");
  output_ = Fd(ends[0]);
  const Fd input(ends[1]);
  const pid_t zklock = getpid();
  pid_ = fork();
  if (pid_ < 0) throw system_error("cannot start the resolver");
  if (pid_ > 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() == zklock) child(input.get());
  _exit(0);
}

// If zklock ends a command in place of its guard, it reaps all our children. Then the pid may be a foreign process's.
void Lookup::end_child() {
  const pid_t child = std::exchange(pid_, 0);
  if (child <= 0 || waitpid(child, nullptr, WNOHANG) != 0) return;
  ::kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

void Lookup::arm(PollSet& set) {
  if (output_) set.watch(output_.get(), POLLIN);
}

void Lookup::record(const PollSet& set) {
  if (!output_ || !set.seen(output_.get())) return;
  char part[4096];
  const ssize_t length = read(output_.get(), part, sizeof part);
  if (length > 0) text_.append(part, static_cast<size_t>(length));
  if (length > 0 && text_.size() <= kMostText) return;
  output_.reset();
  text_.erase(text_.rfind('\n') + 1);  // half an address may look like a whole one
}

void Lookup::decide() {
  if (output_ || done_) return;
  end_child();
  const Resolved found = parse(std::exchange(text_, {}));
  if (!asks_getent_ || !found.addresses.empty()) result_ = found;
  done_ = asks_getent_ || !own_modules_only || result_.error.empty();
  if (done_) return;
  asks_getent_ = true;
  start([this](int output) { become_getent(host_, output); });
}

}  // namespace zklock::host
