// SPDX-License-Identifier: Apache-2.0
#include "zk/client.h"

#include "host/fd.h"
#include "host/net/resolver.h"
#include "zk/library_log.h"
#include "zk/timing.h"

#include <algorithm>
#include <fcntl.h>
#include <memory>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <fmt/format.h>
#include <zookeeper/zookeeper.h>

namespace zklock::zk {

namespace {

constexpr int kMostForgiven = 10;       // pauses in a row for which no request is blamed
constexpr size_t kSequenceLength = 11;  // the longest number that the server appends
constexpr int kMostAnswersAtOnce = 64;  // then the loop checks the clock and signals again

// The library takes this for the only server; the wire knows the real one. With a list of its own, the library would
// try only every second server of an even number (ZOOKEEPER-2466). It would also take servers that differ only in the
// port for the same.
constexpr const char* kAnyServer = "127.0.0.1:1";

constexpr Duration kLongestRefusal = std::chrono::milliseconds(500);  // after a refusal that passes

Code code_of(int number) {
  switch (number) {
    case ZOK: return Code::ok;
    case ZNONODE: return Code::no_node;
    case ZNODEEXISTS: return Code::node_exists;
    case ZNOTEMPTY: return Code::not_empty;
    case ZBADVERSION: return Code::bad_version;
    case ZNOAUTH:
    case ZINVALIDACL: return Code::no_auth;
    case ZUNIMPLEMENTED: return Code::unsupported;
    case ZSESSIONEXPIRED:
    case ZINVALIDSTATE: return Code::expired;
    case ZSYSTEMERROR:
    case ZRUNTIMEINCONSISTENCY:
    case ZCONNECTIONLOSS:
    case ZOPERATIONTIMEOUT:
    case ZAUTHFAILED:
    case ZCLOSING:
    case ZSESSIONMOVED:  // is_moved()
    case ZTHROTTLEDOP:   // not executed, but callers find that out by reading, as for the others
      return Code::unknown;
  }
  return Code::unexpected;
}

// The library reports these for all requests of a lost connection. Wire lets no server report them.
bool is_lost(int number) {
  return number == ZCONNECTIONLOSS || number == ZOPERATIONTIMEOUT;
}

Support support_of(int number) {
  if (number == ZUNIMPLEMENTED) return Support::refused;
  return is_lost(number) ? Support::doubtful : Support::given;
}

const ACL_vector* acl_of(Acl acl) {
  static ACL creator_world_read[] = {{ZOO_PERM_ALL, ZOO_AUTH_IDS}, {ZOO_PERM_READ, ZOO_ANYONE_ID_UNSAFE}};
  static const ACL_vector creator_world_read_vector = {2, creator_world_read};
  if (acl == Acl::open) return &ZOO_OPEN_ACL_UNSAFE;
  return acl == Acl::creator ? &ZOO_CREATOR_ALL_ACL : &creator_world_read_vector;
}

bool is_sequential(const Step& step) {
  return step.kind == Op::create &&
         (step.mode == CreateMode::persistent_sequential || step.mode == CreateMode::ephemeral_sequential);
}

// `made` receives the path of the node that a create has made; it may be empty. `written` receives the Stat after a
// write.
void fill(zoo_op_t& operation, const Step& step, const char* path, const ACL_vector* acl, std::string& made,
          ::Stat& written) {
  const int size = static_cast<int>(step.data.size());
  if (step.kind == Op::create) {
    zoo_create_op_init(&operation, path, step.data.data(), size, acl, static_cast<int>(step.mode),
                       made.empty() ? nullptr : made.data(), static_cast<int>(made.size()));
  } else if (step.kind == Op::write) {
    zoo_set_op_init(&operation, path, step.data.data(), size, step.version, &written);
  } else if (step.kind == Op::remove) {
    zoo_delete_op_init(&operation, path, step.version);
  } else {
    zoo_check_op_init(&operation, path, step.version);
  }
}

Stat stat_of(const ::Stat& stat) {
  return {stat.czxid,    stat.ctime,       stat.mtime,      stat.version, stat.ephemeralOwner,
          stat.cversion, stat.numChildren, stat.dataLength, stat.pzxid,   stat.mzxid};
}

// The library hands this back with the answer to a request.
struct Completion {
  Client* client;
  Call call;
  NumberedWatch watch;
  // The library writes to these until the answer is there.
  std::vector<zoo_op_result_t> results = {};
  std::string made = {};
  ::Stat written = {};
};

}  // namespace

std::string name_of_code(int number) {
  return fmt::format("{} ({})", zerror(number), number);
}

// The library's callbacks. They run inside interest(), process() and the library's close.
struct Completions {
  static std::unique_ptr<Completion> finish(int number, const void* data, const ::Stat* stat = nullptr) {
    std::unique_ptr<Completion> completion(static_cast<Completion*>(const_cast<void*>(data)));
    completion->client->note_answer(number);
    completion->call->done = true;
    Answer& answer = completion->call->answer;
    answer.number = number;
    answer.code = completion->client->meaning_of(number);
    if (stat) answer.stat = stat_of(*stat);
    return completion;
  }

  static void take_path(Completion& completion, const char* path) {
    const std::string& chroot = completion.client->options_.servers.chroot;
    if (path && std::string_view(path).starts_with(chroot)) completion.call->answer.path = path + chroot.size();
  }

  // A request that the server does not know was not carried out, but those sent after it were. So it counts as lost,
  // and is not sent again from here.
  template <Feature feature>
  static void on_created(int number, const char* path, const ::Stat* stat, const void* data) {
    static_cast<const Completion*>(data)->client->learn(feature, support_of(number));
    take_path(*finish(number == ZUNIMPLEMENTED ? ZCONNECTIONLOSS : number, data, stat), path);
  }

  // The server has not sent the Stat, so this asks for it as part of the same request.
  static void on_created_plainly(int number, const char* path, const void* data) {
    Completion& completion = *static_cast<Completion*>(const_cast<void*>(data));
    if (number != ZOK || !path) return static_cast<void>(finish(number == ZOK ? ZRUNTIMEINCONSISTENCY : number, data));
    take_path(completion, path);
    Client& client = *completion.client;
    const Deadline before = BootClock::now();
    const int asked = zoo_aexists(client.handle_, path, 0, on_made_stat, data);
    if (asked != ZOK) return static_cast<void>(finish(asked, data));
    client.note_answer(ZOK);
    client.outstanding_.note_sent({Op::exists, path, 0}, before);
  }

  // If the node is already gone, it was created all the same. So the answer is `unknown`, and the caller searches for
  // the node.
  static void on_made_stat(int number, const ::Stat* stat, const void* data) {
    finish(number == ZNONODE ? ZCONNECTIONLOSS : number, data, stat);
  }

  static void on_transacted(int number, const void* data) {
    const auto completion = finish(number, data);
    if (number != ZOK) return;
    if (!completion->made.empty()) take_path(*completion, completion->made.c_str());
    completion->call->answer.stat = stat_of(completion->written);
  }

  static void on_done(int number, const void* data) { finish(number, data); }

  static void on_synced(int number, const char*, const void* data) { finish(number, data); }

  static void on_read(int number, const char* value, int length, const ::Stat* stat, const void* data) {
    const auto completion = finish(number, data, stat);
    // A failed read registers no watch.
    if (number != ZOK) completion->client->watches_.drop(completion->watch);
    if (value && length > 0) completion->call->answer.data.assign(value, static_cast<size_t>(length));
  }

  static void on_stat(int number, const ::Stat* stat, const void* data) {
    const auto completion = finish(number, data, stat);
    // exists() sets a watch even if there is no node.
    if (number != ZOK && number != ZNONODE) completion->client->watches_.drop(completion->watch);
  }

  static void on_children(int number, const String_vector* names, const ::Stat* stat, const void* data) {
    const auto completion = finish(number, data, stat);
    if (number != ZOK) completion->client->watches_.drop(completion->watch);
    for (int i = 0; names && i < names->count; ++i) completion->call->answer.names.emplace_back(names->data[i]);
  }

  static Client& client_of(zhandle_t* handle) {
    return *static_cast<Client*>(const_cast<void*>(zoo_get_context(handle)));
  }

  static void on_session(zhandle_t* handle, int type, int state, const char*, void*) {
    if (type != ZOO_SESSION_EVENT || state != ZOO_CONNECTED_STATE) return;
    ++client_of(handle).connections_.count;
    client_of(handle).again_at_ = {};
  }

  static void on_node(zhandle_t* handle, int type, int, const char*, void* context) {
    // Session events come to every node watcher too and leave the watch in place.
    if (type == ZOO_SESSION_EVENT) return;
    client_of(handle).watches_.fire(reinterpret_cast<uintptr_t>(context), type == ZOO_DELETED_EVENT);
  }
};

Client::Client(const SessionOptions& options, const SessionKey& resumed)
    : options_(options),
      outstanding_(options.connect_timeout),
      wire_([this](std::string_view frame) { return is_good(frame); }, options_.tls.get()) {
  show_library_log(options_.verbose);
  zoo_set_debug_level(options_.verbose ? ZOO_LOG_LEVEL_WARN : ZOO_LOG_LEVEL_ERROR);
  // With one server there is nothing to shuffle, for which the library would read random numbers.
  zoo_deterministic_conn_order(1);
  const auto timeout = std::chrono::duration_cast<std::chrono::milliseconds>(options_.session_timeout).count();
  clientid_t key{resumed.id, {}};
  std::ranges::copy(resumed.password, key.passwd);
  handle_ = zookeeper_init2(kAnyServer, Completions::on_session, static_cast<int>(timeout),
                            resumed.id == 0 ? nullptr : &key, this, ZOO_NO_LOG_CLIENTENV, take_library_log);
  if (!handle_) throw host::system_error("cannot start the ZooKeeper client");
  // Otherwise the library asks the resolver again at every turn, and stops pinging while that fails.
  zoo_set_servers_resolution_delay(handle_, -1);
  const std::string& secret = options_.credentials;
  if (secret.empty()) return;
  zoo_add_auth(handle_, "digest", secret.data(), static_cast<int>(secret.size()), nullptr, nullptr);
}

void Client::aim(const Server& server, const std::vector<std::string>& names) {
  server_ = to_string(server);
  wire_.aim(host::socket_address_of(server.host, server.port), names);
}

Client::~Client() {
  cork(false);
  if (wire_.is_ending()) {
    hide_library_log();  // the server is about to close the connection, as it was asked to
    cut(fd_, false);
  }
  // A server that has owed an answer for so long would also keep us waiting for its answer to the close.
  const std::optional<Stuck> waits = stuck();
  if (waits && waits->losses.end != ConnectionEnd::closed && state() == ClientState::connected) cut(fd_, false);
  const WireScope scope(wire_);
  zookeeper_close(handle_);
}

const char* Client::version() {
  return ZOO_VERSION;
}

// The library writes each request to the socket at once, and its length separately. While the socket is corked,
// requests that are made in a row are sent together, which saves packets and wake-ups here and on the server.
void Client::cork(bool corked) {
  if (corked == corked_ || fd_ < 0) return;
  const int value = corked;
  wire_.hold(corked);
  setsockopt(fd_, IPPROTO_TCP, TCP_CORK, &value, sizeof value);
  corked_ = corked;
}

std::string Client::full(const std::string& path) const {
  return path == "/" && !options_.servers.chroot.empty() ? options_.servers.chroot : options_.servers.chroot + path;
}

template <typename Submit>
Call Client::send(Request request, Submit submit, const NumberedWatch& watch) {
  auto completion = std::make_unique<Completion>(Completion{this, std::make_shared<Pending>(), watch});
  const Call call = completion->call;
  int result = state() == ClientState::expired ? ZSESSIONEXPIRED : ZCONNECTIONLOSS;
  const Deadline before = BootClock::now();
  if (state() == ClientState::connected && !wire_.is_ending()) {
    cork(true);
    const WireScope scope(wire_);
    result = submit(request, completion.get());
  }
  if (result == ZOK) {
    static_cast<void>(completion.release());  // comes back in its callback
    outstanding_.note_sent(std::move(request), before);
    return call;
  }
  watches_.drop(watch);
  call->done = true;
  call->answer.number = result;
  call->answer.code = code_of(result);
  return call;
}

// One loss of the connection is one doubt, however many requests were on their way.
void Client::learn(Feature feature, Support support) {
  uint64_t& doubted = connections_.doubted[static_cast<size_t>(feature)];
  if (support == Support::doubtful && std::exchange(doubted, connections_.count) == connections_.count) return;
  note_support(feature, support);
}

std::optional<Stuck> Client::stuck() const {
  return BootClock::now() < stuck_at() ? std::nullopt : outstanding_.stuck(wire_.progressed());
}

void Client::end_session() {
  if (state() != ClientState::connected) return;
  const Deadline before = BootClock::now();
  cork(true);
  if (!wire_.is_ending() && wire_.send_end(fd_)) ending_since_ = before;
}

void Client::ping() {
  cork(true);
  wire_.send_ping(fd_);
}

Deadline Client::silent_since() const {
  const Deadline since = outstanding_.silent_since(wire_.progressed());
  return since == kNever && is_ending() ? std::max(ending_since_, outstanding_.last_answer()) : since;
}

// A server that has fallen silent is left after T/6 only. Then another one has half of the patience at least.
Deadline Client::stuck_at() const {
  const Deadline at = outstanding_.stuck_at(wire_.progressed());
  const Duration least = patience_of(session_timeout()) + patience() / 2;
  return at == kNever ? kNever : at + std::max<Duration>(least - patience(), Duration::zero());
}

// Only the handshake tells that a session is over. ClickHouse Keeper says so also of requests that it no longer carries
// out when it stops serving, and a leader says it of a session that a follower keeps to itself.
Code Client::meaning_of(int number) const {
  const Code code = code_of(number);
  return code == Code::expired && state() != ClientState::expired ? Code::unknown : code;
}

// If a connection is lost, the library reports that for each of its requests, but it was only the first one's turn.
void Client::note_answer(int number) {
  const Code code = meaning_of(number);
  turned_away_ |= number == kTurnedAway;
  if (code != Code::unknown && code != Code::expired) {
    ++answers_;
    connections_.forgiven = 0;
    return outstanding_.note_answer();
  }
  if (number == ZSESSIONMOVED) connections_.moved = connections_.count;
  if (number == ZSESSIONEXPIRED) connections_.over = connections_.count;
  if (code == Code::unknown && !is_lost(number)) {
    again_at_ = deadline_in(std::min<Duration>(least_pause_of(session_timeout()), kLongestRefusal));
  }
  const bool to_blame = !is_lost(number) || connections_.blamed != connections_.count;
  outstanding_.note_loss(to_blame, number == ZRUNTIMEINCONSISTENCY ? ConnectionEnd::nonsense : wire_.end());
  if (to_blame) connections_.blamed = connections_.count;
}

Call Client::create(const std::string& path, const std::string& data, CreateMode mode) {
  check_request_size(full(path), data.size());
  return make(full(path), data, mode);
}

Call Client::make(const std::string& full_path, const std::string& data, CreateMode mode) {
  const int size = static_cast<int>(data.size());
  const ACL_vector* acl = acl_of(options_.acl);
  const bool container = mode == CreateMode::container;
  if (is_supported(container ? Feature::container : Feature::create_with_stat)) {
    return send({Op::create_with_stat, full_path, data.size()}, [&](const Request& sent, Completion* completion) {
      const auto created =
          container ? Completions::on_created<Feature::container> : Completions::on_created<Feature::create_with_stat>;
      return zoo_acreate2(handle_, sent.path.c_str(), data.data(), size, acl, static_cast<int>(mode), created,
                          completion);
    });
  }
  const CreateMode known = container ? CreateMode::persistent : mode;
  return send({Op::create, full_path, data.size()}, [&](const Request& sent, Completion* completion) {
    return zoo_acreate(handle_, sent.path.c_str(), data.data(), size, acl, static_cast<int>(known),
                       Completions::on_created_plainly, completion);
  });
}

Call Client::remove(const std::string& path) {
  return send({Op::remove, full(path)}, [&](const Request& sent, Completion* completion) {
    return zoo_adelete(handle_, sent.path.c_str(), -1, Completions::on_done, completion);
  });
}

// `ask` is the library's call for it.
template <typename Ask, typename Completed>
Call Client::look(Op op, const std::string& path, const Watch& watch, Ask ask, Completed completed) {
  const NumberedWatch numbered = watches_.keep(op, path, watch);
  const auto submit = [&](const Request& sent, Completion* completion) {
    return ask(handle_, sent.path.c_str(), watch ? Completions::on_node : nullptr,
               reinterpret_cast<void*>(numbered.number), completed, completion);
  };
  return send({op, full(path)}, submit, numbered);
}

Call Client::read(const std::string& path, const Watch& watch) {
  return look(Op::read, path, watch, zoo_awget, Completions::on_read);
}

Call Client::exists(const std::string& path, const Watch& watch) {
  return look(Op::exists, path, watch, zoo_awexists, Completions::on_stat);
}

Call Client::children(const std::string& path, const Watch& watch) {
  return look(Op::children, path, watch, zoo_awget_children2, Completions::on_children);
}

Call Client::write(const std::string& path, const std::string& data, int version) {
  check_request_size(full(path), data.size());
  return send({Op::write, full(path), data.size()}, [&](const Request& sent, Completion* completion) {
    return zoo_aset(handle_, sent.path.c_str(), data.data(), static_cast<int>(data.size()), version,
                    Completions::on_stat, completion);
  });
}

Call Client::sync(const std::string& path) {
  return send({Op::sync, full(path)}, [&](const Request& sent, Completion* completion) {
    return zoo_async(handle_, sent.path.c_str(), Completions::on_synced, completion);
  });
}

Call Client::check(const std::vector<std::string>& paths) {
  std::vector<Step> steps;
  for (const std::string& path : paths) steps.push_back({Op::check, path});
  return transact(steps);
}

Call Client::transact(const std::vector<Step>& steps) {
  Request request{Op::check, steps.empty() ? "" : full(steps.front().path)};
  size_t last = steps.size();  // the index of the last sequential create; steps.size(): none
  for (const Step& step : steps) {
    if (is_sequential(step)) last = request.steps.size();
    if (step.kind != Op::check) request.op = Op::transaction;
    request.steps.push_back({step.kind, full(step.path)});
    request.bytes += request.steps.back().path.size() + step.data.size() + kStepOverhead;
  }
  if (!steps.empty()) check_request_size(steps.front().path, request.bytes);
  return send(std::move(request), [&](const Request& sent, Completion* completion) {
    std::vector<zoo_op_t> operations(steps.size());
    completion->results.resize(operations.size());
    if (last < steps.size()) completion->made.resize(sent.steps[last].path.size() + kSequenceLength + 1);
    std::string none;
    for (size_t i = 0; i < steps.size(); ++i) {
      const char* path = sent.steps[i].path.c_str();
      fill(operations[i], steps[i], path, acl_of(options_.acl), i == last ? completion->made : none,
           completion->written);
    }
    return zoo_amulti(handle_, static_cast<int>(operations.size()), operations.data(), completion->results.data(),
                      Completions::on_transacted, completion);
  });
}

Client::Interest Client::interest() {
  const WireScope scope(wire_);
  cork(false);
  int fd = -1;
  int wanted = 0;
  timeval within{};
  // If it fails, what it returns is garbage: a closed descriptor, or nothing at all.
  fd_ = -1;
  if (zookeeper_interest(handle_, &fd, &wanted, &within) != ZOK) return {};
  // The first call may only ask for a pause after the only server that the library knows. zk::Link decides when to try
  // again.
  if (fd < 0 && zookeeper_interest(handle_, &fd, &wanted, &within) != ZOK) return {};
  if (fd < 0) return {};
  fd_ = fd;
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  const int events = (wanted & ZOOKEEPER_READ ? POLLIN : 0) | (wanted & ZOOKEEPER_WRITE ? POLLOUT : 0);
  const Duration pause = std::chrono::seconds(within.tv_sec) + std::chrono::microseconds(within.tv_usec);
  return {fd, wire_.events(static_cast<short>(events)), wire_.has_unread() ? Duration::zero() : pause};
}

// The first frame of a connection is the handshake.
bool Client::is_good(std::string_view frame) const {
  const bool good = state() == ClientState::connected
                        ? fits(frame, outstanding_.oldest(), !options_.credentials.empty(), wire_.is_ending())
                        : is_handshake(frame, session_id() != 0);
  if (good) note_stranger("");
  return good;
}

void Client::process(short revents) {
  const WireScope scope(wire_);
  if (!wire_.advance()) return;
  const bool broken = revents & (POLLHUP | POLLERR);
  const bool readable = revents & POLLIN || broken || wire_.has_unread();
  int events = (readable ? ZOOKEEPER_READ : 0) | (revents & POLLOUT || broken ? ZOOKEEPER_WRITE : 0);
  // Each call takes one answer.
  for (int n = 0; n < kMostAnswersAtOnce && zookeeper_process(handle_, events) == ZOK; ++n) {
    if (state() != ClientState::connected) return;
    events = ZOOKEEPER_READ;
  }
}

void Client::cut(int fd, bool paused) {
  if (paused && ++connections_.forgiven <= kMostForgiven) connections_.blamed = connections_.count;
  const WireScope scope(wire_);
  wire_.note_cut();
  shutdown(fd, SHUT_RDWR);
  note_cut(true);
  zookeeper_process(handle_, ZOOKEEPER_READ | ZOOKEEPER_WRITE);
  note_cut(false);
}

ClientState Client::state() const {
  if (given_up_ || has_ended()) return ClientState::expired;
  const int state = zoo_state(handle_);
  if (state == ZOO_CONNECTED_STATE) return ClientState::connected;
  if (state == ZOO_EXPIRED_SESSION_STATE) return ClientState::expired;
  if (state == ZOO_AUTH_FAILED_STATE) return ClientState::auth_failed;
  if (state == ZOO_CONNECTING_STATE || state == ZOO_ASSOCIATING_STATE) return ClientState::connecting;
  return ClientState::unconnected;  // 0 and 999, which have no public names
}

int64_t Client::session_id() const {
  return zoo_client_id(handle_)->client_id;
}

std::array<char, 16> Client::password() const {
  return std::to_array(zoo_client_id(handle_)->passwd);
}

Duration Client::session_timeout() const {
  const int negotiated = zoo_recv_timeout(handle_);
  return negotiated > 0 ? Duration(std::chrono::milliseconds(negotiated)) : options_.session_timeout;
}

}  // namespace zklock::zk
