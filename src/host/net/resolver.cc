// SPDX-License-Identifier: Apache-2.0
#include "host/net/resolver.h"

#include "base/text.h"
#include "host/net/lookup_modules.h"

#include <algorithm>
#include <arpa/inet.h>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <netdb.h>
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

// Returns what the child writes for `host`: a line "+address" or "-reason" for each answer, and then an empty line.
std::string describe(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error = getaddrinfo(host.c_str(), nullptr, &hints, &list);
  if (error != 0) return fmt::format("-{}\n\n", gai_strerror(error));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(list, freeaddrinfo);
  std::string lines;
  for (const addrinfo* item = list; item; item = item->ai_next) {
    char text[NI_MAXHOST];
    if (getnameinfo(item->ai_addr, item->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0) {
      lines += fmt::format("+{}\n", text);
    }
  }
  return lines + "\n";
}

void answer(const std::vector<std::string>& hosts, int fd) {
  for (const std::string& host : hosts) {
    const std::string lines = describe(host);
    if (write(fd, lines.data(), lines.size()) < 0) break;
  }
}

std::vector<Resolved> parse(std::string_view text, size_t count) {
  std::vector<Resolved> results(1);
  for (const std::string_view line : split(text, '\n')) {
    Resolved& current = results.back();
    const std::string rest(line.substr(line.empty() ? 0 : 1));
    const bool known = std::count(current.addresses.begin(), current.addresses.end(), rest) > 0;
    if (line.empty()) results.emplace_back();
    if (line.starts_with('+') && !known) current.addresses.push_back(rest);
    if (line.starts_with('-')) current.error = rest;
  }
  results.resize(count);
  return results;
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

// Returns the addresses from lines "ADDRESS STREAM NAME". getent also has a line for datagrams for each address.
std::vector<std::string> addresses_of_getent(std::string_view text) {
  std::vector<std::string> addresses;
  for (const std::string_view line : split(text, '\n')) {
    const std::string address(line.substr(0, line.find(' ')));
    const bool known = std::count(addresses.begin(), addresses.end(), address) > 0;
    if (line.find(" STREAM") != std::string_view::npos && !known) addresses.push_back(address);
  }
  return addresses;
}

}  // namespace

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

Lookup::Lookup(std::vector<std::string> hosts) : hosts_(std::move(hosts)) {
  start([this](int output) { answer(hosts_, output); });
}

void Lookup::start(const std::function<void(int output)>& child) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw system_error("cannot make a pipe");
  output_ = Fd(ends[0]);
  const Fd input(ends[1]);
  text_.clear();
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
  note_answer();
  while (asked_ < results_.size() && results_[asked_].error.empty()) ++asked_;
  done_ = asked_ == results_.size() || !keeps_to_own_lookup_modules();
  if (!done_) start([this](int output) { become_getent(hosts_[asked_], output); });
}

void Lookup::note_answer() {
  if (results_.empty()) {
    results_ = parse(text_, hosts_.size());
    return;
  }
  auto addresses = addresses_of_getent(text_);
  if (!addresses.empty()) results_[asked_] = {std::move(addresses), ""};
  ++asked_;
}

std::vector<Resolved> resolve(Loop& loop, const std::vector<std::string>& hosts, Deadline until) {
  Lookup lookup(hosts);
  const Attached attached(loop, lookup);
  while (!lookup.done()) {
    if (left_until(until) == Duration::zero()) {
      throw Failure(ExitStatus::unavailable,
                    fmt::format("cannot resolve {}: no answer in time; look at the resolver", fmt::join(hosts, ", ")));
    }
    loop.turn(until);
  }
  return lookup.results();
}

}  // namespace zklock::host
