// SPDX-License-Identifier: Apache-2.0
#include "kernel.h"

#include "network.h"
#include "world.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <unistd.h>

namespace zklock::sim {

namespace {

constexpr int kFirst = 1000;          // no real descriptor is that high
constexpr int kMostIdlePolls = 5000;  // that return at once, without any time: it spins

class TimerFile : public File, public std::enable_shared_from_this<TimerFile> {
 public:
  void set(Time moment) {
    const uint64_t setting = ++setting_;
    expired_ = moment != 0 && moment <= world->now;
    if (moment == 0 || expired_) return;
    world->at(moment, [weak = weak_from_this(), setting] {
      const auto timer = weak.lock();
      if (timer && timer->setting_ == setting) timer->expire();
    });
  }
  short ready() const override { return expired_ ? POLLIN : 0; }

 private:
  void expire() {
    expired_ = true;
    owner->wake();
  }
  bool expired_ = false;
  uint64_t setting_ = 0;
};

class SignalFile : public File {
 public:
  short ready() const override { return owner->signals.empty() ? 0 : POLLIN; }
};

int next_fd = kFirst;

bool is_simulated() {
  return world && world->current;
}

File* file_of(int fd) {
  if (fd < kFirst || !is_simulated()) return nullptr;
  const auto found = world->current->files.find(fd);
  return found == world->current->files.end() ? nullptr : found->second.get();
}

template <class Kind>
Kind* file_as(int fd) {
  return dynamic_cast<Kind*>(file_of(fd));
}

template <class... Arguments>
auto real(long number, Arguments... arguments) {
  return syscall(number, arguments...);
}

short ready(int fd) {
  if (const File* file = file_of(fd)) return file->ready();
  const bool dry = fd == STDIN_FILENO && is_simulated() && world->current->input.empty() && world->current->input_open;
  if (dry) return 0;
  return fd < kFirst ? POLLIN | POLLOUT : POLLNVAL;
}

int count_ready(pollfd* fds, nfds_t count) {
  int found = 0;
  for (pollfd* one = fds; one != fds + count; ++one) {
    one->revents = 0;
    if (one->fd < 0) continue;
    one->revents = static_cast<short>(ready(one->fd) & (one->events | POLLHUP | POLLERR | POLLNVAL));
    found += one->revents != 0;
  }
  return found;
}

void note_idle_poll(Process& self) {
  if (world->now != self.polled_at) self.idle_polls = 0;
  self.polled_at = world->now;
  if (++self.idle_polls < kMostIdlePolls) return;
  world->violation(self.name + " spins");
  for (;;) world->sleep(second);
}

ssize_t read_input(Process& self, void* to, size_t size) {
  if (self.input.empty() && self.input_open) {
    errno = EAGAIN;
    return -1;
  }
  const size_t given = std::min(size, self.input.size());
  std::memcpy(to, self.input.data(), given);
  self.input.erase(0, given);
  return static_cast<ssize_t>(given);
}

ssize_t print(Process& self, int fd, std::string_view text) {
  if (fd == STDOUT_FILENO) {
    self.printed.append(text);
  } else {
    self.said.append(text);
    while (text.ends_with('\n')) text.remove_suffix(1);
    note("{} says: {}", self.name, text);
  }
  return static_cast<ssize_t>(text.size());
}

}  // namespace

int add_file(const std::shared_ptr<File>& file) {
  file->owner = world->current;
  world->current->files[next_fd] = file;
  return next_fd++;
}

double cpu_seconds() {
  timespec now{};
  real(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// zklock blocks signals, so one that comes while it has no descriptor for them is there afterwards.
void Process::send_signal(int signal) {
  signals.push_back(signal);
  wake();
}

}  // namespace zklock::sim

using namespace zklock::sim;

extern "C" {

// --- the environment

char* getenv(const char* name) noexcept {
  const std::string head = std::string(name) + "=";
  if (world && world->current) {
    for (std::string& variable : world->current->environment) {
      if (variable.starts_with(head)) return variable.data() + head.size();
    }
  }
  for (char** variable = environ; variable && *variable; ++variable) {
    if (std::string_view(*variable).starts_with(head)) return *variable + head.size();
  }
  return nullptr;
}

// --- time

int clock_gettime(clockid_t clock, timespec* to) noexcept {
  if (!world) return static_cast<int>(real(SYS_clock_gettime, clock, to));
  if (clock == CLOCK_BOOTTIME) world->maybe_preempt();
  const Time now = world->now + (clock == CLOCK_REALTIME ? kWallClock : 0);
  to->tv_sec = now / second;
  to->tv_nsec = now % second;
  return 0;
}

int gettimeofday(timeval* to, void* /*zone*/) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  to->tv_sec = now.tv_sec;
  to->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* to) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (to) *to = now.tv_sec;
  return now.tv_sec;
}

int usleep(useconds_t span) {
  if (is_simulated()) world->sleep(static_cast<Time>(span) * us);
  return 0;
}

int timerfd_create(int /*clock*/, int /*flags*/) noexcept {
  return add_file(std::make_shared<TimerFile>());
}

int timerfd_settime(int fd, int /*flags*/, const itimerspec* setting, itimerspec* /*before*/) noexcept {
  file_as<TimerFile>(fd)->set(setting->it_value.tv_sec * second + setting->it_value.tv_nsec);
  return 0;
}

// --- waiting

int poll(pollfd* fds, nfds_t count, int timeout) {
  if (!is_simulated()) return static_cast<int>(real(SYS_poll, fds, count, timeout));
  Process& self = *world->current;
  const Time until = timeout < 0 ? kNever : world->now + timeout * ms;
  world->maybe_preempt();
  for (;;) {
    const int found = count_ready(fds, count);
    if (found > 0 || world->now >= until) {
      note_idle_poll(self);
      return found;
    }
    self.state = Process::State::waiting;
    if (until != kNever) world->at(until, [&self] { self.wake(); });
    self.yield();
    self.state = Process::State::running;
  }
}
int __poll_chk(pollfd* fds, nfds_t count, int timeout, size_t /*size*/) {
  return poll(fds, count, timeout);
}

int signalfd(int fd, const sigset_t* /*mask*/, int /*flags*/) noexcept {
  return fd >= 0 ? fd : add_file(std::make_shared<SignalFile>());
}

int sigprocmask(int /*how*/, const sigset_t* /*mask*/, sigset_t* before) noexcept {
  if (before) sigemptyset(before);
  return 0;
}

// --- descriptors

int close(int fd) {
  if (fd < kFirst || !is_simulated()) return static_cast<int>(real(SYS_close, fd));
  auto& files = world->current->files;
  const auto found = files.find(fd);
  if (found == files.end()) {
    errno = EBADF;
    return -1;
  }
  const auto file = found->second;
  files.erase(found);
  file->closed();
  return 0;
}

ssize_t read(int fd, void* to, size_t size) {
  if (is_simulated() && fd == STDIN_FILENO) return read_input(*world->current, to, size);
  if (!file_of(fd)) return real(SYS_read, fd, to, size);
  auto& signals = world->current->signals;
  if (!file_as<SignalFile>(fd) || signals.empty()) {
    errno = EAGAIN;
    return -1;
  }
  signalfd_siginfo info{};
  info.ssi_signo = static_cast<uint32_t>(signals.front());
  info.ssi_code = SI_USER;
  info.ssi_pid = 1;
  signals.pop_front();
  std::memcpy(to, &info, sizeof info);
  return sizeof info;
}
ssize_t __read_chk(int fd, void* to, size_t size, size_t /*room*/) {
  return read(fd, to, size);
}

ssize_t write(int fd, const void* data, size_t size) {
  if (!is_simulated() || (fd != STDOUT_FILENO && fd != STDERR_FILENO)) return real(SYS_write, fd, data, size);
  print(*world->current, fd, {static_cast<const char*>(data), size});
  return static_cast<ssize_t>(size);
}

// libc's own calls of write() do not come by here.
size_t fwrite(const void* data, size_t size, size_t count, FILE* stream) {
  if (!is_simulated() || (stream != stdout && stream != stderr)) return fwrite_unlocked(data, size, count, stream);
  const int fd = stream == stdout ? STDOUT_FILENO : STDERR_FILENO;
  print(*world->current, fd, {static_cast<const char*>(data), size * count});
  return count;
}

int isatty(int fd) noexcept {
  static_cast<void>(fd);
  errno = ENOTTY;
  return 0;
}

int fcntl(int fd, int command, ...) {
  va_list rest;
  va_start(rest, command);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  if (fd >= kFirst && is_simulated()) return 0;
  return static_cast<int>(real(SYS_fcntl, fd, command, argument));
}

// --- the network

int socket(int domain, int type, int protocol) noexcept {
  if (!is_simulated() || domain == AF_UNIX) return static_cast<int>(real(SYS_socket, domain, type, protocol));
  return add_file(std::make_shared<Socket>());
}

int setsockopt(int fd, int level, int name, const void* value, socklen_t size) noexcept {
  return fd >= kFirst ? 0 : static_cast<int>(real(SYS_setsockopt, fd, level, name, value, size));
}

int getsockopt(int fd, int /*level*/, int /*name*/, void* value, socklen_t* size) noexcept {
  auto* const socket = file_as<Socket>(fd);
  const int error = socket ? socket->take_error() : EBADF;
  std::memcpy(value, &error, sizeof error);
  *size = sizeof error;
  return 0;
}

int getpeername(int fd, sockaddr* to, socklen_t* size) noexcept {
  const auto* const socket = file_as<Socket>(fd);
  if (!socket || !socket->connected()) {
    errno = ENOTCONN;
    return -1;
  }
  std::memcpy(to, &socket->peer(), std::min<size_t>(*size, sizeof(sockaddr_in)));
  *size = sizeof(sockaddr_in);
  return 0;
}

int connect(int fd, const sockaddr* to, socklen_t /*size*/) {
  world->maybe_preempt();
  sockaddr_in peer{};
  std::memcpy(&peer, to, sizeof peer);
  return file_as<Socket>(fd)->connect(peer);
}

ssize_t send(int fd, const void* data, size_t size, int /*flags*/) {
  world->maybe_preempt();
  return file_as<Socket>(fd)->send({static_cast<const char*>(data), size});
}

ssize_t recv(int fd, void* to, size_t size, int /*flags*/) {
  world->maybe_preempt();
  if (auto* const socket = file_as<Socket>(fd)) return socket->receive(static_cast<char*>(to), size);
  errno = EAGAIN;
  return -1;
}
ssize_t __recv_chk(int fd, void* to, size_t size, size_t /*room*/, int flags) {
  return recv(fd, to, size, flags);
}

int shutdown(int fd, int /*how*/) noexcept {
  if (auto* const socket = file_as<Socket>(fd)) socket->shut_down();
  return 0;
}

// For numbers only. The real one asks the kernel for its interfaces each time (AI_ADDRCONFIG), which costs more than
// all the rest.
int getaddrinfo(const char* node, const char* service, const addrinfo* hints, addrinfo** out) {
  struct Found {
    addrinfo info;
    sockaddr_in address;
  };
  in_addr number{};
  if (!node || inet_pton(AF_INET, node, &number) != 1) return EAI_NONAME;
  auto* const found = static_cast<Found*>(std::calloc(1, sizeof(Found)));
  found->address.sin_family = AF_INET;
  found->address.sin_addr = number;
  found->address.sin_port = htons(static_cast<uint16_t>(service ? std::atoi(service) : 0));
  found->info.ai_family = AF_INET;
  found->info.ai_socktype = hints && hints->ai_socktype ? hints->ai_socktype : SOCK_STREAM;
  found->info.ai_protocol = IPPROTO_TCP;
  found->info.ai_addrlen = sizeof(sockaddr_in);
  found->info.ai_addr = reinterpret_cast<sockaddr*>(&found->address);
  *out = &found->info;
  return 0;
}
void freeaddrinfo(addrinfo* list) noexcept {
  std::free(list);
}

// --- chance and identity

ssize_t getrandom(void* to, size_t size, unsigned /*flags*/) {
  if (!world) return real(SYS_getrandom, to, size, 0);
  for (size_t i = 0; i < size; ++i)
    static_cast<unsigned char*>(to)[i] = static_cast<unsigned char>(world->random.next());
  return static_cast<ssize_t>(size);
}

pid_t getpid() noexcept {
  return is_simulated() ? world->current->pid() : static_cast<pid_t>(real(SYS_getpid));
}

int gethostname(char* to, size_t size) noexcept {
  const std::string name = "host" + std::to_string(is_simulated() ? world->current->number : 0);
  std::strncpy(to, name.c_str(), size);
  return 0;
}
int __gethostname_chk(char* to, size_t size, size_t /*room*/) noexcept {
  return gethostname(to, size);
}

// std::random_device asks the processor, not the kernel.
unsigned __wrap__ZNSt13random_device9_M_getvalEv(void* /*self*/) {
  return static_cast<unsigned>(world->random.next());
}

}  // extern "C"
