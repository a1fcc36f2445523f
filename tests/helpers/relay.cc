// SPDX-License-Identifier: Apache-2.0
// relay [-n PORTS | -l ADDRESS] [-w FILE] [-a N] [-r N] ADDRESS: prints "port P", on which it relays connections to
// ADDRESS (127.0.0.1:PORT). Then it prints what passes, by the wall clock: "MICROSECONDS request P" and "MICROSECONDS
// answer P". FILE gets the bytes. A stopped relay is a silent network. USR1: right after the next answer, the port in
// use falls silent ("silent P"). With three ports or more, so does the next one that is tried. The kernel still accepts
// connections to them. USR2: the next answer is lost with its connection ("lost P"). -a N loses the Nth answer, -r N
// the Nth request; then the relay stops itself, so a test can act before it continues it. Without them, what is
// received at once counts as one answer or request. -l: listens on that address (IPv4:PORT, 0 for any), not on
// 127.0.0.1.
#include <algorithm>
#include <arpa/inet.h>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace {

struct Port {
  int number;
  int listener;
  bool silent = false;
};

struct Pair {
  const Port* port;
  int client;
  int server;
  bool ended = false;
};

volatile sig_atomic_t armed = 0;
volatile sig_atomic_t to_lose = 0;

void print_passed(const char* what, const Port& port) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  std::printf("%lld%06ld %s %d\n", static_cast<long long>(now.tv_sec), now.tv_nsec / 1000, what, port.number);
}

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  return address;
}

// Parses "IPv4:PORT".
sockaddr_in address_of(const std::string& text) {
  const size_t colon = text.rfind(':');
  sockaddr_in address = loopback(std::atoi(text.c_str() + colon + 1));
  if (colon == std::string::npos || inet_pton(AF_INET, text.substr(0, colon).c_str(), &address.sin_addr) != 1) {
    std::exit(64);
  }
  return address;
}

Port open_port(sockaddr_in address) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int again = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &again, sizeof again);
  socklen_t length = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(fd, generic, length) != 0 || listen(fd, 64) != 0 || getsockname(fd, generic, &length) != 0) std::exit(70);
  std::printf("port %d\n", ntohs(address.sin_port));
  return {ntohs(address.sin_port), fd};
}

// The number of the message to be lost, counted down; 0: none.
struct Losses {
  int answer = 0;
  int request = 0;
};

class Relay {
 public:
  Relay(int ports, sockaddr_in place, int target, std::FILE* capture, Losses losses)
      : target_(target), capture_(capture), losses_(losses) {
    for (int i = 0; i < ports; ++i) ports_.push_back(open_port(place));
  }

  void turn() {
    std::vector<pollfd> fds;
    for (const Port& port : ports_) fds.push_back({port.silent ? -1 : port.listener, POLLIN, 0});
    for (const Pair& pair : pairs_) {
      fds.push_back({pair.port->silent ? -1 : pair.client, POLLIN, 0});
      fds.push_back({pair.port->silent ? -1 : pair.server, POLLIN, 0});
    }
    if (poll(fds.data(), fds.size(), -1) < 0) return;
    const size_t pairs = pairs_.size();
    for (size_t i = 0; i < ports_.size(); ++i) {
      if (fds[i].revents != 0) accept_at(ports_[i]);
    }
    for (size_t i = 0; i < pairs; ++i) {
      Pair& pair = pairs_[i];
      const size_t at = ports_.size() + 2 * i;
      if (fds[at].revents != 0) pass(pair, pair.client, pair.server, "request");
      if (!pair.ended && fds[at + 1].revents != 0) {
        pass(pair, pair.server, pair.client, "answer");
        if (armed) fall_silent(*pair.port);
      }
    }
    for (const Pair& pair : pairs_) {
      if (!pair.ended) continue;
      close(pair.client);
      close(pair.server);
    }
    std::erase_if(pairs_, [](const Pair& pair) { return pair.ended; });
    if (stops_) std::raise(SIGSTOP);
    stops_ = false;
  }

 private:
  void accept_at(const Port& port) {
    if (next_is_dead_) {
      next_is_dead_ = false;
      return silence(port);
    }
    const int client = accept4(port.listener, nullptr, nullptr, SOCK_CLOEXEC);
    const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in target = loopback(target_);
    const bool connected = connect(server, reinterpret_cast<sockaddr*>(&target), sizeof target) == 0;
    pairs_.push_back({&port, client, server, !connected});
  }

  // Receives one message at a time if they are counted: a frame of ZooKeeper's, or a record of TLS.
  static ssize_t receive(int from, char* bytes, size_t size, bool one) {
    uint8_t head[5];
    if (!one || recv(from, head, sizeof head, MSG_PEEK | MSG_WAITALL) != sizeof head) return recv(from, bytes, size, 0);
    const bool is_record = head[0] >= 20 && head[0] <= 23;
    const auto number = [&head](size_t first, size_t end) {
      size_t value = 0;
      for (size_t i = first; i < end; ++i) value = value << 8U | head[i];
      return value;
    };
    const size_t length = is_record ? 5 + number(3, 5) : 4 + number(0, 4);
    return recv(from, bytes, std::min(length, size), MSG_WAITALL);
  }

  void pass(Pair& pair, int from, int to, const char* what) {
    char bytes[65536];
    const ssize_t length = receive(from, bytes, sizeof bytes, losses_.answer > 0 || losses_.request > 0);
    const bool is_answer = from == pair.server;
    stops_ |= is_last(is_answer ? losses_.answer : losses_.request);
    if (stops_ || (to_lose && is_answer)) {
      to_lose = 0;
      pair.ended = true;
      std::printf("lost %d\n", pair.port->number);
      return;
    }
    if (capture_ && length > 0) std::fwrite(bytes, 1, static_cast<size_t>(length), capture_);
    pair.ended = length <= 0 || send(to, bytes, static_cast<size_t>(length), MSG_NOSIGNAL) != length;
    if (!pair.ended) print_passed(what, *pair.port);
  }

  static bool is_last(int& left) { return left > 0 && --left == 0; }

  void fall_silent(const Port& port) {
    armed = 0;
    next_is_dead_ = ports_.size() > 2;
    silence(port);
  }

  void silence(const Port& port) {
    for (Port& one : ports_) one.silent |= &one == &port;
    std::printf("silent %d\n", port.number);
  }

  int target_;
  std::FILE* capture_;  // or none
  std::vector<Port> ports_;
  std::vector<Pair> pairs_;
  Losses losses_;
  bool next_is_dead_ = false;
  bool stops_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  int ports = 1;
  sockaddr_in place = loopback(0);
  std::FILE* capture = nullptr;
  Losses losses;
  for (int option = 0; (option = getopt(argc, argv, "n:l:w:a:r:")) != -1;) {
    if (option == 'n') ports = std::atoi(optarg);
    if (option == 'l') place = address_of(optarg);
    if (option == 'w') capture = std::fopen(optarg, "w");
    if (option == 'a') losses.answer = std::atoi(optarg);
    if (option == 'r') losses.request = std::atoi(optarg);
    if (option == '?' || (option == 'w' && !capture)) return 64;
  }
  const char* colon = argc == optind + 1 ? std::strrchr(argv[optind], ':') : nullptr;
  if (!colon) return 64;
  if (capture) std::setvbuf(capture, nullptr, _IONBF, 0);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::signal(SIGUSR1, [](int) { armed = 1; });
  std::signal(SIGUSR2, [](int) { to_lose = 1; });
  Relay relay(ports, place, std::atoi(colon + 1), capture, losses);
  for (;;) relay.turn();
}
