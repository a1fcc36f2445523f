// SPDX-License-Identifier: Apache-2.0
#include "zk/session_page.h"

#include "host/fd.h"
#include "host/loop.h"
#include "host/terminal.h"
#include "zk/link.h"

#include <array>
#include <atomic>
#include <cstring>
#include <new>
#include <sys/mman.h>

namespace zklock::zk {

namespace {

using namespace std::chrono_literals;

constexpr Duration kToReach = 3s;       // to resume the session; the library's close may take 1.5 s more
constexpr size_t kMostServers = 1024;   // more than in any list; entries that are never written take no memory
constexpr size_t kLongestAddress = 64;  // INET6_ADDRSTRLEN and a zone (IFNAMSIZ)
constexpr size_t kLongestName = 256;    // RFC 1035: 255

}  // namespace

// zklock may be killed at any moment. As long as `id` is 0, the rest does not count.
struct SessionPage::Content {
  struct Address {
    char host[kLongestAddress];
    char name[kLongestName];
    uint16_t port;
  };

  std::atomic<int> guards{0};  // guards that have not ended yet
  std::atomic<int64_t> id{0};
  std::array<char, 16> password{};
  std::array<Address, kMostServers> servers;  // not initialized, so that unused entries take no memory
  size_t server_count = 0;
  std::atomic<size_t> in_use{0};  // index of the server in use

  Server server(size_t i) const { return {servers[i].host, servers[i].port, servers[i].name}; }
  void put(const std::vector<Server>& list);
  void close_session(SessionOptions options);
};

std::function<void()> SessionPage::closer(const SessionOptions& options) {
  if (!content_) {
    void* memory = mmap(nullptr, sizeof(Content), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw host::system_error("cannot map memory");
    madvise(memory, sizeof(Content), MADV_DONTDUMP);
    content_.reset(new (memory) Content, [](Content* content) { munmap(content, sizeof *content); });
  }
  ++content_->guards;
  return [content = content_.get(), options] {
    if (--content->guards == 0 && content->id != 0) content->close_session(options);
  };
}

void SessionPage::note(const Client& client, const std::vector<Server>& servers) {
  if (!content_) return;
  if (content_->id != client.session_id() || servers != noted_) {
    content_->id = 0;
    content_->password = client.password();
    content_->put(servers);
    content_->id = client.session_id();
    noted_ = servers;
  }
  for (size_t i = 0; i < content_->server_count; ++i) {
    if (to_string(content_->server(i)) == client.server()) content_->in_use = i;
  }
}

void SessionPage::Content::put(const std::vector<Server>& list) {
  server_count = 0;
  for (const auto& [host, port, name] : list) {
    if (server_count == kMostServers || host.size() >= kLongestAddress || name.size() >= kLongestName) continue;
    Address& address = servers[server_count++];
    std::memcpy(address.host, host.c_str(), host.size() + 1);
    std::memcpy(address.name, name.c_str(), name.size() + 1);
    address.port = port;
  }
}

void SessionPage::clear() {
  if (content_) content_->id = 0;
}

// Runs in a guard. The session is resumed with a short timeout, so it ends soon even if the close is lost.
void SessionPage::Content::close_session(SessionOptions options) {
  host::drop_remarks(true);  // standard error is closed, and its number may be the socket's
  options.session_timeout = kToReach;
  // The server in use comes first, because it is known to answer.
  std::vector<Server> list;
  for (size_t i = 0; i < server_count; ++i) list.push_back(server((in_use + i) % server_count));
  try {
    host::Loop loop;
    Client client(options, {id, password});
    Link link(client, list);
    const host::Attached attached(loop, link);
    const Deadline until = deadline_in(kToReach);
    const auto is_connecting = [&] {
      return client.state() == ClientState::unconnected || client.state() == ClientState::connecting;
    };
    while (is_connecting() && left_until(until) > Duration::zero()) loop.turn(until);
  } catch (const Failure&) {  // there is no way to report it
  }
}

}  // namespace zklock::zk
