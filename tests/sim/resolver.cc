// SPDX-License-Identifier: Apache-2.0
// In place of src/host/net/resolver.cc: the network knows the names, and answers after a while.
#include "host/net/resolver.h"

#include "kernel.h"
#include "network.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>

namespace zklock::sim {

namespace {

class AnswerFile : public File {
 public:
  bool come = false;
  short ready() const override { return come ? POLLIN : 0; }
};

int open_answer(const std::string& name) {
  const auto answer = std::make_shared<AnswerFile>();
  if (name == network->hanging_name) return add_file(answer);
  world->in(world->random.below(network->longest_lookup), [weak = std::weak_ptr<AnswerFile>(answer)] {
    const auto file = weak.lock();
    if (!file) return;
    file->come = true;
    file->owner->wake();
  });
  return add_file(answer);
}

}  // namespace

}  // namespace zklock::sim

namespace zklock::host {

bool is_numeric_address(const std::string& host) {
  in_addr address{};
  return inet_pton(AF_INET, host.c_str(), &address) == 1;
}

std::optional<sockaddr_storage> socket_address_of(const std::string& address, uint16_t port) {
  sockaddr_storage found{};
  auto& wanted = reinterpret_cast<sockaddr_in&>(found);
  wanted.sin_family = AF_INET;
  wanted.sin_port = htons(port);
  if (inet_pton(AF_INET, address.c_str(), &wanted.sin_addr) != 1) return std::nullopt;
  return found;
}

Lookup::Lookup(std::string host) : host_(std::move(host)), output_(sim::open_answer(host_)) {}

void Lookup::end_child() {}

void Lookup::arm(PollSet& set) {
  if (!done_) set.watch(output_.get(), POLLIN);
}

void Lookup::record(const PollSet& set) {
  if (done_ || set.seen(output_.get()) == 0) return;
  result_ = {sim::network->resolve(host_), "the name is not known"};
  output_.reset();
  done_ = true;
}

void Lookup::decide() {}

}  // namespace zklock::host
