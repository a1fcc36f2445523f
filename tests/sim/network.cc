// SPDX-License-Identifier: Apache-2.0
#include "network.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <utility>

namespace zklock::sim {

Network* network = nullptr;

namespace {

// After so long, and some round trips, TCP sends a packet again: by a tail loss probe, and after one, two and three
// retransmission timeouts.
constexpr Time kResends[] = {20 * ms, 200 * ms, 600 * ms, 1400 * ms};

uint64_t serials = 0;

}  // namespace

Connection::Connection(Socket* socket, int its_client, int its_server)
    : client(its_client), server(its_server), serial(++serials), socket_(socket) {}

uint64_t Connection::last_serial() {
  return serials;
}

void Connection::begin() {
  push(true, Kind::syn, "");
}

void Connection::send_up(std::string_view bytes) {
  push(true, Kind::data, bytes);
}

void Connection::close_up() {
  socket_ = nullptr;
  push(true, Kind::end, "");
}

void Connection::send_down(std::string_view bytes) {
  if (!server_open) return;
  push(false, Kind::data, bytes);
  ++frames;
  if (network->on_frame) network->on_frame(*this);
}

void Connection::close_down() {
  if (std::exchange(server_open, false)) push(false, Kind::end, "");
}

void Connection::push(bool up, Kind kind, std::string_view bytes) {
  Way& way = up ? up_ : down_;
  Time arrives = world->now + world->random.between(network->latency_min, network->latency_max);
  arrives += network->distance(client, server);
  if (const auto lag = network->lags.find(client); lag != network->lags.end()) arrives += lag->second;
  if (world->random.chance(network->loss))
    arrives += world->random.one_of(kResends) + world->random.below(4 * network->latency_max);
  // A large write arrives in pieces; what is sent before the last one has arrived may arrive together with it.
  if (kind == Kind::data && bytes.size() > 1 && world->random.chance(0.01)) {
    const auto cut = static_cast<size_t>(world->random.between(1, static_cast<int64_t>(bytes.size()) - 1));
    arrives = way.last = std::max(arrives, way.last);
    way.parcels.push_back({arrives, kind, std::string(bytes.substr(0, cut))});
    bytes.remove_prefix(cut);
    arrives += world->random.below(network->latency_max);
  }
  way.last = std::max(arrives, way.last);
  way.parcels.push_back({way.last, kind, std::string(bytes)});
  if (std::exchange(way.pumped, true)) return;
  world->at(way.parcels.front().at, [self = shared_from_this(), up] { self->pump(up); });
}

void Connection::pump(bool up) {
  Way& way = up ? up_ : down_;
  way.pumped = false;
  const Time blocked = network->blocked_until(client, server, up);
  while (!way.parcels.empty()) {
    Time next = way.parcels.front().at;
    // TCP sends it again some time after the network has come back.
    if (blocked > world->now) next = blocked + world->random.span(300 * ms);
    if (next > world->now) {
      way.pumped = true;
      return world->at(next, [self = shared_from_this(), up] { self->pump(up); });
    }
    const Parcel parcel = std::move(way.parcels.front());
    way.parcels.pop_front();
    up ? deliver_up(parcel) : deliver_down(parcel);
  }
}

void Connection::deliver_down(const Parcel& parcel) {
  if (!socket_) return;
  switch (parcel.kind) {
    case Kind::accepted: return socket_->on_accepted();
    case Kind::refused: return socket_->on_refused();
    case Kind::data: return socket_->on_data(parcel.bytes);
    case Kind::end: return socket_->on_end();
    case Kind::syn: return;
  }
}

void Connection::deliver_up(const Parcel& parcel) {
  if (parcel.kind == Kind::syn) {
    const auto reply = network->listener->on_connect(*this);
    if (reply == Listener::Reply::silence) return;
    server_open = reply == Listener::Reply::accept;
    return push(false, server_open ? Kind::accepted : Kind::refused, "");
  }
  if (!server_open || !network->listener->knows(*this)) {
    if (parcel.kind == Kind::data && !lost_) push(false, Kind::end, "");
    return;
  }
  if (parcel.kind == Kind::end) {
    server_open = false;
    return network->listener->on_end(*this);
  }
  unread += parcel.bytes;
  network->listener->on_bytes(*this);
}

void Connection::cut() {
  const auto self = shared_from_this();
  if (socket_ && !down_.parcels.empty() && down_.parcels.front().kind == Kind::data && world->random.chance(0.5)) {
    const std::string& bytes = down_.parcels.front().bytes;
    socket_->on_data(bytes.substr(0, static_cast<size_t>(world->random.below(static_cast<int64_t>(bytes.size())))));
  }
  up_.parcels.clear();
  down_.parcels.clear();
  if (std::exchange(server_open, false)) network->listener->on_end(*this);
  if (socket_) socket_->on_end();
}

void Connection::retry() {
  pump(true);
  pump(false);
}

Socket::~Socket() {
  if (connection_) connection_->forget_socket();
}

int Socket::connect(const sockaddr_in& peer) {
  peer_ = peer;
  state_ = State::connecting;
  connection_ = network->connect(this, owner->number, network->listener->server_at(peer));
  connection_->begin();
  errno = EINPROGRESS;
  return -1;
}

ssize_t Socket::send(std::string_view bytes) {
  if (shut_ || state_ != State::connected) {
    errno = EPIPE;
    return -1;
  }
  connection_->send_up(bytes);
  return static_cast<ssize_t>(bytes.size());
}

ssize_t Socket::receive(char* to, size_t size) {
  if (taken_ < inbox_.size()) {
    const size_t given = std::min(size, inbox_.size() - taken_);
    std::memcpy(to, inbox_.data() + taken_, given);
    taken_ += given;
    if (taken_ == inbox_.size()) inbox_.clear(), taken_ = 0;
    return static_cast<ssize_t>(given);
  }
  if (ended_ || shut_ || state_ == State::refused) return 0;
  errno = EAGAIN;
  return -1;
}

void Socket::shut_down() {
  if (std::exchange(shut_, true)) return;
  if (connection_) connection_->close_up();
}

int Socket::take_error() {
  return std::exchange(error_, 0);
}

void Socket::closed() {
  shut_down();
  if (connection_) connection_->forget_socket();
  connection_.reset();
}

short Socket::ready() const {
  if (state_ == State::refused) return POLLERR | POLLHUP | POLLIN | POLLOUT;
  if (state_ != State::connected) return 0;
  short events = POLLOUT;
  if (taken_ < inbox_.size() || ended_ || shut_) events |= POLLIN;
  if (shut_) events |= POLLHUP;
  return events;
}

void Socket::on_accepted() {
  if (state_ != State::connecting) return;
  state_ = State::connected;
  owner->wake();
}

void Socket::on_refused() {
  state_ = State::refused;
  error_ = ECONNREFUSED;
  owner->wake();
}

void Socket::on_data(std::string_view bytes) {
  if (shut_) return;
  inbox_ += bytes;
  owner->wake();
}

void Socket::on_end() {
  if (state_ == State::connecting) return on_refused();
  ended_ = true;
  owner->wake();
}

void Network::block(int client, int server, bool up, Time until) {
  Time& old = (up ? up_blocked_ : down_blocked_)[{client, server}];
  old = std::max(old, until);
}

Time Network::blocked_until(int client, int server, bool up) const {
  const auto& list = up ? up_blocked_ : down_blocked_;
  const auto found = list.find({client, server});
  return found == list.end() ? 0 : found->second;
}

Time Network::distance(int client, int server) {
  if (farthest == 0) return 0;
  const auto [found, is_new] = distances_.try_emplace({client, server});
  if (is_new) found->second = world->random.between(nearest, farthest);
  return found->second;
}

void Network::heal() {
  up_blocked_.clear();
  down_blocked_.clear();
  lags.clear();
  for (const auto& connection : connections()) connection->retry();
}

std::shared_ptr<Connection> Network::connect(Socket* socket, int client, int server) {
  const auto connection = std::make_shared<Connection>(socket, client, server);
  std::erase_if(connections_, [](const auto& old) { return old.expired(); });
  connections_.push_back(connection);
  return connection;
}

std::vector<std::shared_ptr<Connection>> Network::connections() {
  std::vector<std::shared_ptr<Connection>> found;
  for (const auto& weak : connections_) {
    if (auto connection = weak.lock()) found.push_back(std::move(connection));
  }
  return found;
}

}  // namespace zklock::sim
