// SPDX-License-Identifier: Apache-2.0
// Connections between simulated processes and servers: streams of bytes with latency, which partitions hold up and
// resets end. A client's end is a Socket, a File of its process; a server's end is the Connection.
#pragma once

#include "world.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <netinet/in.h>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::sim {

class Socket;

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Socket* socket, int client, int server);
  static uint64_t last_serial();

  const int client;       // the number of the process
  const int server;       // the server's number, from 0
  const uint64_t serial;  // grows with each connection

  // The client's side.
  void begin();
  void send_up(std::string_view bytes);
  void close_up();

  // The server's side.
  void send_down(std::string_view bytes);
  void close_down();
  std::string unread;           // what the server has not taken yet
  std::shared_ptr<void> state;  // the server's own
  uint64_t incarnation = 0;     // of the server's process
  bool server_open = false;
  int frames = 0;  // that the server has sent

  // Both ends break at once. What is on its way is lost, but for a part of the next answer, now and then.
  void cut();
  // The server's host is gone without a word: nothing comes from there any more.
  void lose_server() { server_open = false, lost_ = true; }
  // Partitions have ended.
  void retry();
  void forget_socket() { socket_ = nullptr; }

 private:
  enum class Kind { syn, accepted, refused, data, end };
  struct Parcel {
    Time at;
    Kind kind;
    std::string bytes;
  };
  struct Way {
    std::deque<Parcel> parcels;
    Time last = 0;  // when the last one arrives
    bool pumped = false;
  };
  void push(bool up, Kind kind, std::string_view bytes);
  void pump(bool up);
  void deliver_up(const Parcel& parcel);
  void deliver_down(const Parcel& parcel);

  Socket* socket_;
  bool lost_ = false;
  Way up_;
  Way down_;
};

class Socket : public File {
 public:
  ~Socket() override;
  int connect(const sockaddr_in& peer);
  ssize_t send(std::string_view bytes);
  ssize_t receive(char* to, size_t size);
  void shut_down();
  int take_error();
  bool connected() const { return state_ == State::connected; }
  const sockaddr_in& peer() const { return peer_; }
  short ready() const override;
  void closed() override;

  void on_accepted();
  void on_refused();
  void on_data(std::string_view bytes);
  void on_end();

 private:
  enum class State { fresh, connecting, connected, refused };
  State state_ = State::fresh;
  sockaddr_in peer_{};
  std::string inbox_;
  size_t taken_ = 0;
  bool ended_ = false;
  bool shut_ = false;
  int error_ = 0;
  std::shared_ptr<Connection> connection_;
};

// What takes the connections: the ensemble.
class Listener {
 public:
  virtual ~Listener() = default;
  enum class Reply { accept, refuse, silence };
  virtual Reply on_connect(Connection& connection) = 0;
  virtual void on_bytes(Connection& connection) = 0;  // in `unread`
  virtual void on_end(Connection& connection) = 0;
  // False if the server was restarted since it has taken the connection.
  virtual bool knows(const Connection& connection) const = 0;
  // The server that listens at this address; -1: none.
  virtual int server_at(const sockaddr_in& address) const = 0;
};

class Network {
 public:
  Listener* listener = nullptr;
  Time latency_min = 100 * us;
  Time latency_max = 2 * ms;
  std::map<int, Time> lags;  // by host: what it takes longer, each way
  Time nearest = 0;          // how far servers are from hosts: what it takes longer, each way, in calm too
  Time farthest = 0;
  Time longest_trip = 0;  // what a request and its answer may take longer in calm than in a run with near servers
  // The addresses that a host name has now; none: it is not known.
  std::function<std::vector<std::string>(const std::string& name)> resolve;
  Time longest_lookup = 50 * ms;
  std::string hanging_name = {};  // is not answered at all
  double loss = 0;                // the chance that a packet has to be sent again, with all that follows it
  // Called with each frame that a server sends, which is on its way by then.
  std::function<void(Connection&)> on_frame;

  // Nothing passes between a client and a server, on the way up or down, until `until`; both go on afterwards.
  void block(int client, int server, bool up, Time until);
  Time blocked_until(int client, int server, bool up) const;
  // What the way between them takes longer because the server is far away.
  Time distance(int client, int server);
  void heal();

  std::shared_ptr<Connection> connect(Socket* socket, int client, int server);
  std::vector<std::shared_ptr<Connection>> connections();

 private:
  std::map<std::pair<int, int>, Time> up_blocked_;
  std::map<std::pair<int, int>, Time> down_blocked_;
  std::map<std::pair<int, int>, Time> distances_;
  std::vector<std::weak_ptr<Connection>> connections_;
};

extern Network* network;

}  // namespace zklock::sim
