// SPDX-License-Identifier: Apache-2.0
#include "backend.h"

#include "../ensemble.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cstring>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <system_error>
#include <time.h>
#include <unistd.h>

namespace zklock::sim {

// There are no processes here: what a socket wakes looks by itself.
Process::Process(int its_number, std::string its_name, std::function<int()> body)
    : number(its_number), name(std::move(its_name)), body_(std::move(body)), fiber_(nullptr) {}
Process::~Process() = default;
void Process::wake() {}
void Process::resume() {}
void Process::yield() {}
void Process::count_call() {}

namespace {

constexpr size_t kChunk = 65536;

class RealChannel : public Channel {
 public:
  explicit RealChannel(const sockaddr_in& address) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int on = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      throw std::system_error(errno, std::generic_category(), "cannot connect");
    }
  }
  ~RealChannel() override { close(fd_); }
  void send(std::string_view bytes) override {
    // A failure shows when it receives.
    if (::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) return;
  }
  std::optional<std::string> receive(int64_t within_ms) override {
    pollfd poll_fd{fd_, POLLIN, 0};
    if (poll(&poll_fd, 1, static_cast<int>(within_ms)) <= 0) return {};
    std::string bytes(kChunk, '\0');
    bytes.resize(static_cast<size_t>(std::max<ssize_t>(0, recv(fd_, bytes.data(), bytes.size(), 0))));
    return bytes;
  }

 private:
  int fd_;
};

class RealBackend : public Backend {
 public:
  explicit RealBackend(const std::string& servers) {
    const std::string list = servers.substr(0, servers.find('/'));
    for (size_t begin = 0; begin < list.size();) {
      const size_t end = std::min(list.find(',', begin), list.size());
      const std::string server = list.substr(begin, end - begin);
      const size_t colon = server.rfind(':');
      sockaddr_in address{};
      address.sin_family = AF_INET;
      const std::string host = server.substr(0, colon);
      if (colon == std::string::npos || inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) {
        throw std::runtime_error("not a numeric address: " + server);
      }
      address.sin_port = htons(static_cast<uint16_t>(std::stoi(server.substr(colon + 1))));
      addresses_.push_back(address);
      begin = end + 1;
    }
  }
  std::unique_ptr<Channel> connect(int server) override {
    return std::make_unique<RealChannel>(addresses_.at(static_cast<size_t>(server)));
  }
  int servers() const override { return static_cast<int>(addresses_.size()); }
  int64_t now_ms() const override {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
  }
  void sleep(int64_t span_ms) override { usleep(static_cast<useconds_t>(span_ms * 1000)); }

 private:
  std::vector<sockaddr_in> addresses_;
};

class SimulatedChannel : public Channel {
 public:
  SimulatedChannel(Process& owner, int server) {
    socket_.owner = &owner;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(10U << 24 | static_cast<uint32_t>(server + 1));
    address.sin_port = htons(2181);
    socket_.connect(address);
    run([this] { return socket_.ready() != 0; }, kPatience);
  }
  ~SimulatedChannel() override { socket_.closed(); }
  void send(std::string_view bytes) override { socket_.send(bytes); }
  std::optional<std::string> receive(int64_t within_ms) override {
    if (!run([this] { return (socket_.ready() & (POLLIN | POLLHUP)) != 0; }, within_ms * ms)) return {};
    std::string bytes(kChunk, '\0');
    bytes.resize(static_cast<size_t>(std::max<ssize_t>(0, socket_.receive(bytes.data(), bytes.size()))));
    return bytes;
  }

 private:
  static constexpr Time kPatience = 5 * second;
  // Lets time pass until `done`, and returns whether it is.
  static bool run(const std::function<bool()>& done, Time most) {
    const Time until = world->now + most;
    world->at(until, [] {});
    world->run(until, done);
    return done();
  }

  Socket socket_;
};

class SimulatedBackend : public Backend {
 public:
  SimulatedBackend(uint64_t seed, int servers, int64_t tick) : world_(seed), process_(0, "client", {}) {
    world = &world_;
    network = &network_;
    EnsembleOptions options;
    options.servers = servers;
    options.tick = tick * ms;
    options.min_timeout = static_cast<int32_t>(2 * tick);
    options.max_timeout = static_cast<int32_t>(20 * tick);
    ensemble_ = std::make_unique<Ensemble>(options);
    network_.listener = ensemble_.get();
  }
  ~SimulatedBackend() override {
    if (world_.first_violation().empty() && ensemble_->diverged().empty()) return;
    fprintf(stderr, "violation: %s %s\n", world_.first_violation().c_str(), ensemble_->diverged().c_str());
    _exit(1);
  }
  std::unique_ptr<Channel> connect(int server) override { return std::make_unique<SimulatedChannel>(process_, server); }
  int servers() const override { return ensemble_->size(); }
  int64_t now_ms() const override { return world_.now / ms; }
  void sleep(int64_t span_ms) override {
    const Time until = world_.now + span_ms * ms;
    world_.at(until, [] {});
    world_.run(until, [] { return false; });
  }

 private:
  World world_;
  Network network_;
  Process process_;
  std::unique_ptr<Ensemble> ensemble_;
};

}  // namespace

std::unique_ptr<Backend> make_real(const std::string& servers) {
  return std::make_unique<RealBackend>(servers);
}

std::unique_ptr<Backend> make_simulated(uint64_t seed, int servers, int64_t tick) {
  return std::make_unique<SimulatedBackend>(seed, servers, tick);
}

}  // namespace zklock::sim
