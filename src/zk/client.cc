// SPDX-License-Identifier: Apache-2.0
#include "zk/client.h"

#include "host/system_error.h"
#include "zk/library_form.h"
#include "zk/library_log.h"
#include "zk/repertoire.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <fmt/format.h>
#include <zookeeper/zookeeper.h>

namespace zklock::zk {

namespace {

constexpr size_t kSequenceLength = 11;  // of the number that the server appends, at most
constexpr int kMostAnswersAtOnce = 64;  // before the loop looks at the clock and at signals again

Code code_of(int number) {
  switch (number) {
    case ZOK:
      return Code::ok;
    case ZNONODE:
      return Code::no_node;
    case ZNODEEXISTS:
      return Code::node_exists;
    case ZNOTEMPTY:
      return Code::not_empty;
    case ZBADVERSION:
      return Code::bad_version;
    case ZNOAUTH:
    case ZINVALIDACL:
      return Code::no_auth;
    case ZUNIMPLEMENTED:
      return Code::unsupported;
    case ZSESSIONEXPIRED:
    case ZINVALIDSTATE:
      return Code::expired;
    case ZSYSTEMERROR:
    case ZRUNTIMEINCONSISTENCY:
    case ZCONNECTIONLOSS:
    case ZOPERATIONTIMEOUT:
    case ZAUTHFAILED:
    case ZCLOSING:
    case ZSESSIONMOVED:  // ours, seen through a connection that we have left
    case ZTHROTTLEDOP:   // not executed, but reading is the same way on
      return Code::unknown;
  }
  return Code::unexpected;
}

}  // namespace

std::string name_of_code(int number) {
  return fmt::format("{} ({})", zerror(number), number);
}

namespace {

const ACL_vector* acl_of(Acl acl) {
  static ACL creator_world_read[] = {{ZOO_PERM_ALL, ZOO_AUTH_IDS}, {ZOO_PERM_READ, ZOO_ANYONE_ID_UNSAFE}};
  static const ACL_vector creator_world_read_vector = {2, creator_world_read};
  switch (acl) {
    case Acl::open:
      return &ZOO_OPEN_ACL_UNSAFE;
    case Acl::creator:
      return &ZOO_CREATOR_ALL_ACL;
    case Acl::creator_world_read:
      return &creator_world_read_vector;
  }
  return nullptr;
}

int flags_of(CreateMode mode) {
  switch (mode) {
    case CreateMode::persistent:
      return ZOO_PERSISTENT;
    case CreateMode::persistent_sequential:
      return ZOO_PERSISTENT_SEQUENTIAL;
    case CreateMode::ephemeral:
      return ZOO_EPHEMERAL;
    case CreateMode::ephemeral_sequential:
      return ZOO_EPHEMERAL_SEQUENTIAL;
    case CreateMode::container:
      return ZOO_CONTAINER;
  }
  return 0;
}

Novelty novelty_of(CreateMode mode) {
  return mode == CreateMode::container ? Novelty::container : Novelty::create_with_stat;
}

// The library's word for all requests of a connection that it has lost; a server does not get to say these.
bool is_lost(int number) {
  return number == ZCONNECTIONLOSS || number == ZOPERATIONTIMEOUT;
}

Fate fate_of(int number) {
  if (number == ZUNIMPLEMENTED) return Fate::refused;
  return is_lost(number) ? Fate::lost : Fate::answered;
}

Op op_of(Step::Kind kind) {
  switch (kind) {
    case Step::Kind::check:
      return Op::check;
    case Step::Kind::create:
      return Op::create;
    case Step::Kind::write:
      return Op::write;
    case Step::Kind::remove:
      return Op::remove;
  }
  return Op::check;
}

bool is_sequential(const Step& step) {
  return step.kind == Step::Kind::create &&
         (step.mode == CreateMode::persistent_sequential || step.mode == CreateMode::ephemeral_sequential);
}

// `made` takes the path of the node that a create has made; it may be empty.
void fill(zoo_op_t& operation, const Step& step, const char* path, const ACL_vector* acl, std::string& made) {
  const int size = static_cast<int>(step.data.size());
  switch (step.kind) {
    case Step::Kind::check:
      return zoo_check_op_init(&operation, path, step.version);
    case Step::Kind::create:
      return zoo_create_op_init(&operation, path, step.data.data(), size, acl, flags_of(step.mode),
                                made.empty() ? nullptr : made.data(), static_cast<int>(made.size()));
    case Step::Kind::write:
      return zoo_set_op_init(&operation, path, step.data.data(), size, step.version, nullptr);
    case Step::Kind::remove:
      return zoo_delete_op_init(&operation, path, step.version);
  }
}

}  // namespace

struct Client::Request {
  Client* client;
  Call call;
  Watching watching;
  // The library writes to them until the answer is there.
  std::vector<zoo_op_result_t> results = {};
  std::string made = {};
};

// What the library calls. They run inside interest(), process() and the library's close.
struct Client::Callbacks {
  static std::unique_ptr<Request> finish(int number, const void* data, const ::Stat* stat = nullptr) {
    std::unique_ptr<Request> request(static_cast<Request*>(const_cast<void*>(data)));
    request->client->note_answer(number);
    request->call->done = true;
    Answer& answer = request->call->answer;
    answer.number = number;
    answer.code = code_of(number);
    if (answer.code != Code::unknown && answer.code != Code::expired) ++request->client->answers_;
    if (stat) {
      answer.stat = {stat->czxid,    stat->ctime,       stat->mtime,      stat->version, stat->ephemeralOwner,
                     stat->cversion, stat->numChildren, stat->dataLength, stat->pzxid};
    }
    return request;
  }

  static void take_path(Request& request, const char* path) {
    const std::string& chroot = request.client->options_.chroot;
    if (path && std::string_view(path).starts_with(chroot)) request.call->answer.path = path + chroot.size();
  }

  static void on_created(int number, const char* path, const ::Stat* stat, const void* data) {
    note_fate(Novelty::create_with_stat, fate_of(number));
    take_path(*finish(number_of_novelty(number), data, stat), path);
  }

  static void on_container_created(int number, const char* path, const ::Stat* stat, const void* data) {
    note_fate(Novelty::container, fate_of(number));
    take_path(*finish(number_of_novelty(number), data, stat), path);
  }

  // What the server does not know was not done; but behind it others were, so it is not sent again from here.
  static int number_of_novelty(int number) { return number == ZUNIMPLEMENTED ? ZCONNECTIONLOSS : number; }

  // The Stat is still missing. It is asked for as the same request.
  static void on_created_plainly(int number, const char* path, const void* data) {
    Request& request = *static_cast<Request*>(const_cast<void*>(data));
    if (number != ZOK || !path) return static_cast<void>(finish(number == ZOK ? ZRUNTIMEINCONSISTENCY : number, data));
    take_path(request, path);
    const int asked = zoo_aexists(request.client->handle_, path, 0, on_made_stat, data);
    if (asked != ZOK) return static_cast<void>(finish(asked, data));
    request.client->note_answer(ZOK);
    request.client->note_sent({Op::exists, path, 0});
  }

  // A node that is gone already was made all the same: whoever cares looks for it.
  static void on_made_stat(int number, const ::Stat* stat, const void* data) {
    finish(number == ZNONODE ? ZCONNECTIONLOSS : number, data, stat);
  }

  static void on_transacted(int number, const void* data) {
    const auto request = finish(number, data);
    if (number == ZOK && !request->made.empty()) take_path(*request, request->made.c_str());
  }

  static void on_done(int number, const void* data) { finish(number, data); }

  static void on_synced(int number, const char*, const void* data) { finish(number, data); }

  static void on_read(int number, const char* value, int length, const ::Stat* stat, const void* data) {
    const auto request = finish(number, data, stat);
    // A failed read registers no watch.
    if (number != ZOK) request->client->watches_.drop(request->watching);
    if (value && length > 0) request->call->answer.data.assign(value, static_cast<size_t>(length));
  }

  static void on_stat(int number, const ::Stat* stat, const void* data) {
    const auto request = finish(number, data, stat);
    // That there is no node can be watched, too.
    if (number != ZOK && number != ZNONODE) request->client->watches_.drop(request->watching);
  }

  static void on_children(int number, const String_vector* names, const ::Stat* stat, const void* data) {
    const auto request = finish(number, data, stat);
    if (number != ZOK) request->client->watches_.drop(request->watching);
    for (int i = 0; names && i < names->count; ++i) request->call->answer.names.emplace_back(names->data[i]);
  }

  static Client& client_of(zhandle_t* handle) {
    return *static_cast<Client*>(const_cast<void*>(zoo_get_context(handle)));
  }

  static void on_session(zhandle_t* handle, int type, int state, const char*, void*) {
    if (type == ZOO_SESSION_EVENT && state == ZOO_CONNECTED_STATE) ++client_of(handle).connections_;
  }

  static void on_node(zhandle_t* handle, int type, int, const char*, void* context) {
    // Session events come to every node watcher too and leave the watch in place.
    if (type == ZOO_SESSION_EVENT) return;
    client_of(handle).watches_.fire(reinterpret_cast<uintptr_t>(context));
  }
};

Client::Client(const ClientOptions& options)
    : options_(options), vain_(options.patience), wire_([this](std::string_view frame) { return is_good(frame); }) {
  show_library_log(options_.log);
  zoo_set_debug_level(options_.log ? ZOO_LOG_LEVEL_WARN : ZOO_LOG_LEVEL_ERROR);
  // The order is ours, shuffled already.
  zoo_deterministic_conn_order(1);
  const auto timeout = std::chrono::duration_cast<std::chrono::milliseconds>(options_.session_timeout).count();
  const std::vector<std::string> addresses = odd_number_of(options_.addresses);
  round_ = addresses.size();
  handle_ = zookeeper_init2(library_list(addresses).c_str(), Callbacks::on_session, static_cast<int>(timeout), nullptr,
                            this, ZOO_NO_LOG_CLIENTENV, take_library_log);
  if (!handle_) throw host::system_error("cannot start the ZooKeeper client");
  // Else the library asks the resolver again at every turn, and stops pinging while that fails.
  zoo_set_servers_resolution_delay(handle_, -1);
  const std::string& secret = options_.credentials.secret;
  if (secret.empty()) return;
  zoo_add_auth(handle_, "digest", secret.data(), static_cast<int>(secret.size()), nullptr, nullptr);
}

Client::~Client() {
  cork(false);
  // Who has owed an answer for so long would have us wait for that to the close, too.
  const std::optional<Stuck> waits = stuck();
  if (waits && waits->last != Wire::End::closed && state() == ClientState::connected) cut(fd_);
  zookeeper_close(handle_);
}

const char* Client::version() {
  return ZOO_VERSION;
}

// The library writes each request to the socket at once, its length alone. Corked, those that are asked for in a row
// go together, which spares us and the server packets and wake-ups.
void Client::cork(bool corked) {
  if (corked == corked_ || fd_ < 0) return;
  const int value = corked;
  setsockopt(fd_, IPPROTO_TCP, TCP_CORK, &value, sizeof value);
  corked_ = corked;
}

std::string Client::full(const std::string& path) const {
  return path == "/" && !options_.chroot.empty() ? options_.chroot : options_.chroot + path;
}

template <typename Submit>
Call Client::send(Asked asked, Submit submit, const Watching& watching) {
  auto request = std::make_unique<Request>(Request{this, std::make_shared<Pending>(), watching});
  const Call call = request->call;
  int result = state() == ClientState::expired ? ZSESSIONEXPIRED : ZCONNECTIONLOSS;
  if (state() == ClientState::connected) {
    cork(true);
    result = submit(asked, request.get());
  }
  if (result == ZOK) {
    static_cast<void>(request.release());  // comes back in its callback
    note_sent(std::move(asked));
    return call;
  }
  watches_.drop(watching);
  call->done = true;
  call->answer.number = result;
  call->answer.code = code_of(result);
  return call;
}

void Client::note_sent(Asked asked) {
  last_sent_ = BootClock::now();
  unanswered_.push_back({last_sent_, std::move(asked)});
}

// The oldest has an answer, or was lost. Of a connection's loss all learn one after the other, but only the oldest had
// its turn.
void Client::note_answer(int number) {
  const Asked& asked = unanswered_.front().asked;
  const Code code = code_of(number);
  if (code != Code::unknown && code != Code::expired) {
    vain_.note_answer(asked);
  } else if (!is_lost(number) || blamed_ != connections_) {
    vain_.note_loss(asked, turn_since(), number == ZRUNTIMEINCONSISTENCY ? Wire::End::nonsense : wire_.end());
    blamed_ = connections_;
  }
  unanswered_.pop_front();
  last_answer_ = BootClock::now();
}

Call Client::create(const std::string& path, const std::string& data, CreateMode mode) {
  check_request_size(full(path), data.size());
  return make(full(path), data, mode);
}

Call Client::create_on_the_way_to_chroot(const std::string& full_path) {
  return make(full_path, "", CreateMode::persistent);
}

Call Client::make(const std::string& full_path, const std::string& data, CreateMode mode) {
  const int size = static_cast<int>(data.size());
  const ACL_vector* acl = acl_of(options_.acl);
  if (is_known(novelty_of(mode))) {
    const Asked asked{Op::create_with_stat, full_path, data.size()};
    return send(asked, [&](const Asked& sent, Request* request) {
      const auto done = mode == CreateMode::container ? Callbacks::on_container_created : Callbacks::on_created;
      return zoo_acreate2(handle_, sent.path.c_str(), data.data(), size, acl, flags_of(mode), done, request);
    });
  }
  const int flags = mode == CreateMode::container ? ZOO_PERSISTENT : flags_of(mode);
  return send({Op::create, full_path, data.size()}, [&](const Asked& sent, Request* request) {
    return zoo_acreate(handle_, sent.path.c_str(), data.data(), size, acl, flags, Callbacks::on_created_plainly,
                       request);
  });
}

Call Client::remove(const std::string& path) {
  return send({Op::remove, full(path)}, [&](const Asked& sent, Request* request) {
    return zoo_adelete(handle_, sent.path.c_str(), -1, Callbacks::on_done, request);
  });
}

Call Client::read(const std::string& path, const Watch& watch) {
  const Watching watching = watches_.keep("read", path, watch);
  const auto submit = [&](const Asked& sent, Request* request) {
    return zoo_awget(handle_, sent.path.c_str(), watch ? Callbacks::on_node : nullptr,
                     reinterpret_cast<void*>(watching.number), Callbacks::on_read, request);
  };
  return send({Op::read, full(path)}, submit, watching);
}

Call Client::exists(const std::string& path, const Watch& watch) {
  const Watching watching = watches_.keep("exists", path, watch);
  const auto submit = [&](const Asked& sent, Request* request) {
    return zoo_awexists(handle_, sent.path.c_str(), watch ? Callbacks::on_node : nullptr,
                        reinterpret_cast<void*>(watching.number), Callbacks::on_stat, request);
  };
  return send({Op::exists, full(path)}, submit, watching);
}

Call Client::children(const std::string& path, const Watch& watch) {
  const Watching watching = watches_.keep("children", path, watch);
  const auto submit = [&](const Asked& sent, Request* request) {
    return zoo_awget_children2(handle_, sent.path.c_str(), watch ? Callbacks::on_node : nullptr,
                               reinterpret_cast<void*>(watching.number), Callbacks::on_children, request);
  };
  return send({Op::children, full(path)}, submit, watching);
}

Call Client::write(const std::string& path, const std::string& data, int version) {
  check_request_size(full(path), data.size());
  return send({Op::write, full(path), data.size()}, [&](const Asked& sent, Request* request) {
    return zoo_aset(handle_, sent.path.c_str(), data.data(), static_cast<int>(data.size()), version, Callbacks::on_stat,
                    request);
  });
}

Call Client::sync(const std::string& path) {
  return send({Op::sync, full(path)}, [&](const Asked& sent, Request* request) {
    return zoo_async(handle_, sent.path.c_str(), Callbacks::on_synced, request);
  });
}

Call Client::check(const std::vector<std::string>& paths) {
  std::vector<Step> steps;
  for (const std::string& path : paths) steps.push_back({Step::Kind::check, path, "", -1});
  return transact(steps);
}

// The root is always there; a chroot may be missing or unreadable, and that is an answer as good as any.
Call Client::barrier() {
  return check({"/"});
}

Call Client::transact(const std::vector<Step>& steps) {
  Asked asked{Op::check, steps.empty() ? "" : full(steps.front().path)};
  size_t last = steps.size();  // of the sequential creates
  for (const Step& step : steps) {
    if (is_sequential(step)) last = asked.steps.size();
    if (step.kind != Step::Kind::check) asked.op = Op::transaction;
    asked.steps.push_back({op_of(step.kind), full(step.path)});
    asked.bytes += asked.steps.back().path.size() + step.data.size() + kStepOverhead;
  }
  if (!steps.empty()) check_request_size(steps.front().path, asked.bytes);
  return send(std::move(asked), [&](const Asked& sent, Request* request) {
    std::vector<zoo_op_t> operations(steps.size());
    request->results.resize(operations.size());
    if (last < steps.size()) request->made.resize(sent.steps[last].path.size() + kSequenceLength + 1);
    std::string none;
    for (size_t i = 0; i < steps.size(); ++i) {
      const char* path = sent.steps[i].path.c_str();
      fill(operations[i], steps[i], path, acl_of(options_.acl), i == last ? request->made : none);
    }
    return zoo_amulti(handle_, static_cast<int>(operations.size()), operations.data(), request->results.data(),
                      Callbacks::on_transacted, request);
  });
}

Client::Interest Client::interest() {
  cork(false);
  int fd = -1;
  int wanted = 0;
  timeval within{};
  // What it puts out is garbage if it fails: a closed descriptor, or nothing at all.
  fd_ = -1;
  const bool unconnected = state() == ClientState::unconnected;
  const int result = zookeeper_interest(handle_, &fd, &wanted, &within);
  if (unconnected && state() != ClientState::unconnected) wire_.restart();
  if (result != ZOK) return {};
  fd_ = fd;
  if (fd >= 0) fcntl(fd, F_SETFD, FD_CLOEXEC);
  const int events = (wanted & ZOOKEEPER_READ ? POLLIN : 0) | (wanted & ZOOKEEPER_WRITE ? POLLOUT : 0);
  return {true, fd, static_cast<short>(events),
          std::chrono::seconds(within.tv_sec) + std::chrono::microseconds(within.tv_usec)};
}

// The first of a connection is the handshake.
bool Client::is_good(std::string_view frame) const {
  const bool good = state() == ClientState::connected
                        ? fits(frame, unanswered_.empty() ? nullptr : &unanswered_.front().asked,
                               !options_.credentials.secret.empty())
                        : is_handshake(frame, session_id() != 0);
  if (good) note_stranger("");
  return good;
}

void Client::process(short revents) {
  const Wire::Use use(wire_);
  const bool broken = revents & (POLLHUP | POLLERR);
  int events = (revents & POLLIN || broken ? ZOOKEEPER_READ : 0) | (revents & POLLOUT || broken ? ZOOKEEPER_WRITE : 0);
  // One call takes one answer.
  for (int n = 0; n < kMostAnswersAtOnce && zookeeper_process(handle_, events) == ZOK; ++n) {
    if (state() != ClientState::connected) return;
    events = ZOOKEEPER_READ;
  }
}

void Client::cut(int fd) {
  const Wire::Use use(wire_);
  wire_.note_cut();
  shutdown(fd, SHUT_RDWR);
  zookeeper_process(handle_, ZOOKEEPER_READ | ZOOKEEPER_WRITE);
}

ClientState Client::state() const {
  if (given_up_) return ClientState::expired;
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

Duration Client::session_timeout() const {
  const int negotiated = zoo_recv_timeout(handle_);
  return negotiated > 0 ? Duration(std::chrono::milliseconds(negotiated)) : options_.session_timeout;
}

std::string Client::server() const {
  const char* server = zoo_get_current_server(handle_);
  return server ? server : "";
}

Deadline Client::turn_since() const {
  return unanswered_.empty() ? kNever : std::max(unanswered_.front().sent, last_answer_);
}

Deadline Client::silent_since() const {
  return unanswered_.empty() ? kNever : std::max(turn_since(), wire_.progressed());
}

// What is arriving is let arrive, if it was asked for in time.
Deadline Client::stuck_at() const {
  if (unanswered_.empty()) return kNever;
  const Deadline turn = turn_since();
  const Deadline at = vain_.since(unanswered_.front().asked, turn) + options_.patience;
  return turn < at ? std::max(at, wire_.progressed() + options_.patience) : at;
}

std::optional<Stuck> Client::stuck() const {
  if (BootClock::now() < stuck_at()) return std::nullopt;
  return vain_.stuck(unanswered_.front().asked, turn_since());
}

}  // namespace zklock::zk
