// SPDX-License-Identifier: Apache-2.0
#include "faults.h"

#include <algorithm>
#include <iterator>

namespace zklock::sim {

namespace {

constexpr Time kLongestOutage = 40 * second;
constexpr Time kShort = 8 * second;
constexpr Time kAmbushed = 6 * second;  // then a harmless ambush is called off
constexpr Time kElected = 2 * second;   // until a server that is back has a leader
constexpr int kTicksOfFault = 6;

// At most so many times kTicksOfFault, and half of the time a tenth of that.
Time length_of(Faults& faults, int times) {
  return faults.random.span(times * kTicksOfFault * faults.tick());
}

void break_connection(Faults& faults) {
  auto connections = faults.network().connections();
  if (connections.empty()) return;
  const auto& connection = faults.random.one_of(connections);
  note("fault: the connection of host {} to server {} breaks", connection->client, connection->server);
  connection->cut();
}

void cut_off_host(Faults& faults) {
  const Process* const process = faults.any_process();
  if (!process) return;
  const Time until = faults.world().now + length_of(faults, 1);
  const bool all = faults.random.chance(0.4);
  const int64_t way = faults.random.below(4);
  note("fault: host {} is cut off from {} servers, way {}, for {} ms", process->number, all ? "all" : "some", way,
       (until - faults.world().now) / ms);
  for (int server = 0; server < faults.servers(); ++server) {
    if (all || faults.random.chance(0.5)) faults.cut_off(*process, server, way != 0, way != 1, until);
  }
}

void stop_process(Faults& faults) {
  Process* const process = faults.any_process();
  if (!process) return;
  const Time span = length_of(faults, 2);
  note("fault: {} stands still for {} ms", process->name, span / ms);
  process->stop(faults.world().now + span);
}

void kill_process(Faults& faults) {
  Process* const process = faults.any_process();
  if (process && process->name.find("guard") == std::string::npos && faults.random.chance(0.3)) process->kill();
}

void crash_server(Faults& faults) {
  int down = 0;
  for (int server = 0; server < faults.servers(); ++server) down += !faults.ensemble().is_up(server);
  if (down >= (faults.servers() - 1) / 2 && faults.random.chance(0.9)) return;
  const int server = faults.any_server();
  faults.ensemble().crash(server, faults.random.chance(0.3));
  Simulation* const simulation = &faults.simulation;
  faults.world().in(faults.random.below(3 * kTicksOfFault * faults.tick()), [simulation, server] {
    Faults later(*simulation);
    if (later.stormy()) later.ensemble().restart(server);
  });
}

void isolate(Faults& faults, int server) {
  const Time span = length_of(faults, 4);
  note("fault: server {} is alone for {} ms", server, span / ms);
  for (int other = 0; other < faults.servers(); ++other) {
    if (other != server) faults.part(server, other, faults.world().now + span);
  }
}

void isolate_server(Faults& faults) {
  isolate(faults, faults.any_server());
}

void isolate_leader(Faults& faults) {
  if (faults.ensemble().leader() >= 0) isolate(faults, faults.ensemble().leader());
}

// Servers and hosts are on one side or the other.
void split_network(Faults& faults) {
  const Time until = faults.world().now + length_of(faults, 4);
  std::vector<bool> far;
  for (int server = 0; server < faults.servers(); ++server) far.push_back(faults.random.chance(0.5));
  const auto is_far = [&](int server) { return far[static_cast<size_t>(server)]; };
  for (int server = 0; server < faults.servers(); ++server) {
    for (int other = 0; other < server; ++other) {
      if (is_far(server) != is_far(other)) faults.part(server, other, until);
    }
  }
  for (const Process* process : faults.processes()) {
    const bool side = faults.random.chance(0.5);
    for (int server = 0; server < faults.servers(); ++server) {
      if (is_far(server) != side) faults.cut_off(*process, server, true, true, until);
    }
  }
  note("fault: the network is in two parts for {} ms", (until - faults.world().now) / ms);
}

void slow_server(Faults& faults) {
  const int server = faults.any_server();
  const Time latency = faults.random.span(2 * second);
  note("fault: server {} is slow, {} ms", server, latency / ms);
  faults.ensemble().slow(server, latency, faults.world().now + length_of(faults, 2));
}

void slow_disks(Faults& faults) {
  const Time longest = 1 * ms + faults.random.below(2 * faults.tick());
  note("fault: disks are slow, {} ms", longest / ms);
  faults.ensemble().slow_disks(longest, faults.world().now + length_of(faults, 2));
}

// Most often the leader. Its followers may notice before it goes on.
void stop_server(Faults& faults) {
  const int leader = faults.ensemble().leader();
  const int server = leader >= 0 && faults.random.chance(0.7) ? leader : faults.any_server();
  const Time span = length_of(faults, 3);
  note("fault: server {} stands still for {} ms", server, span / ms);
  faults.ensemble().pause(server, faults.world().now + span);
  if (!faults.random.chance(0.6)) return;
  Ensemble* const ensemble = &faults.ensemble();
  for (int follower = 0; follower < faults.servers(); ++follower) {
    if (follower == server) continue;
    faults.world().in(faults.random.below(2 * faults.tick()), [ensemble, follower] { ensemble->notice(follower); });
  }
}

void slow_network(Faults& faults) {
  faults.set_latency(faults.random.chance(0.5) ? faults.usual_latency()
                                               : faults.random.span(faults.tick() / 4) + 1 * ms);
}

void lossy_network(Faults& faults) {
  faults.network().loss = faults.random.chance(0.2) ? 0 : static_cast<double>(faults.random.between(1, 20)) / 100;
}

void slow_lookups(Faults& faults) {
  faults.network().longest_lookup = faults.random.chance(0.5) ? 50 * ms : 8 * second;
  faults.network().hanging_name = faults.random.chance(0.5) ? "" : fmt::format("zk{}", faults.any_server());
}

void move_server(Faults& faults) {
  if (faults.may_move()) faults.ensemble().move(faults.any_server());
}

// Servers count what they have heard of it, so its server is often the next one to fail.
void isolate_soon(Faults& faults, int server, Time pause) {
  if (faults.random.chance(0.5)) return;
  Simulation* const simulation = &faults.simulation;
  faults.world().in(pause + faults.random.below(faults.tick()), [simulation, server] {
    Faults later(*simulation);
    if (later.stormy()) isolate(later, server);
  });
}

void isolate_ambushed(Faults& faults, Connection& connection, Process& /*process*/) {
  isolate(faults, connection.server);
}

// Behind the handshake of the next connection, or soon.
void break_ambushed(Faults& faults, Connection& connection, Process& process) {
  connection.cut();
  if (faults.random.chance(0.5)) return;
  const auto frame = static_cast<int>(faults.random.below(4));
  const Time delay = faults.random.below(faults.tick());
  faults.add({process.number, Connection::last_serial(), frame, true, delay, isolate_ambushed});
}

// Its way to all servers is long from now on, nearly too long for an attempt to connect.
void lengthen_way(Faults& faults, Connection& connection, Process& process) {
  faults.network().lags[process.number] = faults.random.between(faults.tick() / 20, faults.tick() / 5);
  break_ambushed(faults, connection, process);
}

void stop_ambushed(Faults& faults, Connection& connection, Process& process) {
  const Time span = length_of(faults, 2);
  process.stop(faults.world().now + span);
  isolate_soon(faults, connection.server, span);
}

void stop_in_a_call(Faults& faults, Connection& connection, Process& process) {
  const Time span = length_of(faults, 1);
  process.stop_in_a_call(1 + static_cast<int>(faults.random.below(20)), span);
  isolate_soon(faults, connection.server, span);
}

// The answer comes late, and now and then nothing after it counts.
void delay_answer(Faults& faults, Connection& connection, Process& process) {
  if (faults.random.chance(0.5)) isolate(faults, connection.server);
  const Time until = faults.world().now + faults.random.below(faults.tick());
  faults.cut_off(process, connection.server, false, true, until);
}

void cut_off_ambushed(Faults& faults, Connection& /*connection*/, Process& process) {
  const Time until = faults.world().now + faults.random.span(kLongestOutage);
  for (int server = 0; server < faults.servers(); ++server) faults.cut_off(process, server, true, true, until);
}

constexpr decltype(Ambush::strike) kAmbushes[] = {break_ambushed,   lengthen_way, stop_ambushed,   stop_in_a_call,
                                                  isolate_ambushed, delay_answer, cut_off_ambushed};

// Often one that has yet to start, because few live for long.
int any_client(Faults& faults) {
  const int next = static_cast<int>(faults.world().processes().size()) + static_cast<int>(faults.random.below(4));
  const Process* const process = faults.random.chance(0.5) ? nullptr : faults.any_process();
  return process ? process->number : next;
}

void lie_in_wait(Faults& faults) {
  const int client = any_client(faults);
  const bool on_one = faults.random.chance(0.7);
  const uint64_t after = on_one && faults.random.chance(0.5) ? Connection::last_serial() : 0;
  // The first frames of a connection are the most dangerous ones.
  const int64_t frame = on_one && faults.random.chance(0.5) ? faults.random.below(5) : faults.random.span(30);
  const Time delay = faults.random.chance(0.6) ? 0 : faults.random.below(faults.tick());
  faults.add({client, after, static_cast<int>(frame), on_one, delay, faults.random.one_of(kAmbushes)});
}

constexpr Faults::Kind kKinds[] = {
    {"connection breaks", break_connection, 1},
    {"host cut off", cut_off_host, 2},
    {"process stands still", stop_process, 2},
    {"process killed", kill_process, 1},
    {"server crashes", crash_server, 1},
    {"server alone", isolate_server, 1},
    {"leader alone", isolate_leader, 1},
    {"network in two parts", split_network, 3},
    {"server slow", slow_server, 1},
    {"server stands still", stop_server, 2},
    {"disks slow", slow_disks, 2},
    {"network slow", slow_network, 1},
    {"server moves", move_server, 1},
    {"lookups slow", slow_lookups, 1},
    {"packets lost", lossy_network, 4},
    {"ambush", lie_in_wait, 10},
};

}  // namespace

std::span<const Faults::Kind> Faults::kinds() {
  return kKinds;
}

void Faults::strike() {
  int64_t left = 0;
  for (const Kind& kind : kKinds) left += kind.weight;
  left = random.below(left);
  for (size_t index = 0; index < std::size(kKinds); ++index) {
    left -= kKinds[index].weight;
    if (left >= 0) continue;
    if ((simulation.kinds_ >> index & 1) == 0) return;
    ++simulation.figures_.faults;
    return kKinds[index].strike(*this);
  }
}

namespace {

void restart(Faults& faults, int server, bool silently, Time longest) {
  faults.ensemble().crash(server, silently);
  Simulation* const of = &faults.simulation;
  faults.world().in(faults.random.below(longest), [of, server] { Faults(*of).ensemble().restart(server); });
}

// A follower stops in the middle of something: behind one of its first answers to the next zklock that starts.
void lie_in_wait_harmlessly(Faults& faults) {
  const auto strike = [](Faults& later, Connection& connection, Process& /*process*/) {
    if (connection.server != later.ensemble().leader())
      restart(later, connection.server, false, kBetween - kAmbushed - kElected);
  };
  const auto next = static_cast<int>(faults.world().processes().size());
  const int frame = faults.random.chance(0.5) ? 0 : static_cast<int>(faults.random.below(4));
  faults.add({next, 0, frame, true, faults.random.below(8 * ms), strike});
  Simulation* const of = &faults.simulation;
  faults.world().in(kAmbushed, [of] { Faults(*of).forget_ambushes(); });
}

}  // namespace

void Faults::strike_harmlessly() {
  int server = any_server();
  if (server == ensemble().leader()) server = (server + 1) % servers();
  const Time until = world().now + random.below(kShort);
  Process* const process = any_process();
  const int64_t kind = random.below(process ? 6 : 5);
  network().hanging_name.clear();
  note("fault: one alone, kind {}, server {}, for {} ms", kind, server, (until - world().now) / ms);
  ++simulation.figures_.faults;
  switch (kind) {
    case 0: return break_connection(*this);
    case 1:
      return random.chance(0.8) ? lie_in_wait_harmlessly(*this) : restart(*this, server, random.chance(0.5), kShort);
    case 2: return ensemble().pause(server, until);
    case 3:
      for (int other = 0; other < servers(); ++other) {
        if (other != server) part(server, other, until);
      }
      return;
    case 4: return static_cast<void>(network().hanging_name = fmt::format("zk{}", server));
    default: return cut_off(*process, server, random.chance(0.7), random.chance(0.7), until);
  }
}

// Not at once: the server is in the middle of something.
void Faults::on_frame(Connection& connection) {
  for (size_t index = 0; index < simulation.ambushes_.size(); ++index) {
    Ambush& ambush = simulation.ambushes_[index];
    if (ambush.client != connection.client || connection.serial <= ambush.after) continue;
    if (ambush.on_one ? connection.frames - 1 != ambush.frame : ambush.frame-- > 0) continue;
    note("fault: an ambush at frame {} of server {} to host {}", connection.frames, connection.server,
         connection.client);
    Process& process = *world().processes()[static_cast<size_t>(connection.client)];
    world().in(ambush.delay,
               [&of = simulation, strike = ambush.strike, self = connection.shared_from_this(), &process] {
                 Faults faults(of);
                 if (process.lives() && faults.stormy()) strike(faults, *self, process);
               });
    simulation.ambushes_.erase(simulation.ambushes_.begin() + static_cast<std::ptrdiff_t>(index));
    return;
  }
}

Process* Faults::any_process() {
  auto list = processes();
  return list.empty() ? nullptr : random.one_of(list);
}

void Faults::cut_off(const Process& process, int server, bool up, bool down, Time until) {
  if (up) network().block(process.number, server, true, until);
  if (down) network().block(process.number, server, false, until);
}

}  // namespace zklock::sim
