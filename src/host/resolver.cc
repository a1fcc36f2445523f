// SPDX-License-Identifier: Apache-2.0
#include "host/resolver.h"

#include "base/text.h"

#include <algorithm>
#include <arpa/inet.h>
#include <csignal>
#include <fcntl.h>
#include <memory>
#include <netdb.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

namespace zklock::host {

namespace {

// What the child writes: a line "+address" or "-reason" for each answer, and an empty line behind each host's.
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

[[noreturn]] void answer(const std::vector<std::string>& hosts, int fd) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const std::string& host : hosts) {
    const std::string lines = describe(host);
    if (write(fd, lines.data(), lines.size()) < 0) break;
  }
  _exit(0);
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

}  // namespace

bool is_numeric_address(const std::string& host) {
  in6_addr address{};
  return inet_pton(AF_INET, host.c_str(), &address) == 1 || inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

Lookup::Lookup(const std::vector<std::string>& hosts) : count_(hosts.size()) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw system_error("cannot make a pipe");
  output_ = Fd(ends[0]);
  const Fd input(ends[1]);
  pid_ = fork();
  if (pid_ < 0) throw system_error("cannot start the resolver");
  if (pid_ == 0) answer(hosts, input.get());
}

Lookup::~Lookup() {
  ::kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

std::vector<Resolved> Lookup::results() const {
  return parse(text_, count_);
}

void Lookup::arm(PollSet& set) {
  if (output_) set.watch(output_.get(), POLLIN);
}

void Lookup::record(const PollSet& set) {
  if (!output_ || !set.seen(output_.get())) return;
  char part[4096];
  const ssize_t length = read(output_.get(), part, sizeof part);
  if (length > 0) text_.append(part, static_cast<size_t>(length));
  if (length <= 0) output_.reset();
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
