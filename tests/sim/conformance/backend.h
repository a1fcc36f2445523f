// SPDX-License-Identifier: Apache-2.0
// Where the conformance test's clients connect to: real servers, or a simulated ensemble.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::sim {

// One connection to a server.
class Channel {
 public:
  virtual ~Channel() = default;
  virtual void send(std::string_view bytes) = 0;
  // Waits for more bytes, for a few seconds at most. Empty if it has ended; nothing if none came in time.
  virtual std::optional<std::string> receive(int64_t within_ms) = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::unique_ptr<Channel> connect(int server) = 0;
  virtual int servers() const = 0;
  virtual int64_t now_ms() const = 0;
  virtual void sleep(int64_t span_ms) = 0;
};

// "host:port,…"; what follows a slash is ignored. The hosts are numeric.
std::unique_ptr<Backend> make_real(const std::string& servers);
// One at a time. Ticks are in ms.
std::unique_ptr<Backend> make_simulated(uint64_t seed, int servers, int64_t tick);

}  // namespace zklock::sim
