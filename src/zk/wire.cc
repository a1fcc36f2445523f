// SPDX-License-Identifier: Apache-2.0
#include "zk/wire.h"

#include "base/contains.h"
#include "host/fd.h"
#include "zk/library_log.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

// The names that the linker's --wrap uses.
extern "C" int __real_connect(int fd, const sockaddr* to, socklen_t size);
extern "C" int __wrap_connect(int fd, const sockaddr* to, socklen_t size);
extern "C" ssize_t __real_send(int fd, const void* data, size_t size, int flags);
extern "C" ssize_t __wrap_send(int fd, const void* data, size_t size, int flags);
extern "C" ssize_t __real_recv(int fd, void* to, size_t size, int flags);
extern "C" ssize_t __wrap_recv(int fd, void* to, size_t size, int flags);

namespace zklock::zk {

namespace {

using namespace std::string_view_literals;

constexpr size_t kLength = 4;
constexpr size_t kPiece = 256 * 1024;
constexpr size_t kProgress = 1024;  // fewer bytes are no sign of life: a byte now and then could go on for ever

// The length, then -2 for a ping, a zxid and the error 0.
constexpr std::string_view kPingAnswer = "\0\0\0\x10\xff\xff\xff\xfe\0\0\0\0\0\0\0\0\0\0\0\0"sv;
// The length, then the number and the type of the request.
constexpr std::string_view kPingRequest = "\0\0\0\x08\xff\xff\xff\xfe\0\0\0\x0b"sv;
// The length, then kEnd as the request's number, and -11 for a closeSession.
constexpr std::string_view kEndRequest = "\0\0\0\x08\xff\xff\xff\xf5\xff\xff\xff\xf5"sv;

constexpr size_t kStatSize = 68;
constexpr size_t kPasswordSize = 16;
constexpr size_t kSequenceSize = 10;
constexpr int32_t kLongestTimeout = 1'000'000'000;  // in ms; the library doubles it

// The protocol uses these numbers, instead of a request's, for frames that answer none of our requests.
constexpr int32_t kNotification = -1;
constexpr int32_t kPing = -2;
constexpr int32_t kAuth = -4;
constexpr int32_t kSetWatches = -8;
constexpr int32_t kEnd = -11;  // ours: the library counts its own requests from the time in seconds

// Reads values from `bytes`. After an error, every value is zero or empty.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  bool good() const { return good_; }
  size_t left() const { return rest_.size(); }

  std::string_view take(size_t size) {
    good_ = good_ && size <= rest_.size();
    if (!good_) return {};
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  int32_t number() {
    uint32_t value = 0;
    for (const char c : take(sizeof value)) value = value << 8 | static_cast<unsigned char>(c);
    return static_cast<int32_t>(value);
  }

  // Reads the length and then the text. Data, unlike text, may be missing: then `least`, the least length, is -1.
  std::string_view text(int32_t least = 0) {
    const int32_t size = number();
    good_ = good_ && size >= least;
    return take(good_ && size > 0 ? static_cast<size_t>(size) : 0);
  }

 private:
  std::string_view rest_;
  bool good_ = true;
};

size_t length_in(std::string_view frame) {
  return static_cast<uint32_t>(Reader(frame).number());  // a negative length becomes too large
}

// Returns whether a server may send this error. The excluded ones mean to the library that it got no answer.
bool is_servers(int32_t error) {
  constexpr std::array kOwn{-4, -7, -9, -116, -117};
  return error <= 0 && !contains(kOwn, error);
}

// The library rejects a path with any other name in it; in a transaction it even aborts.
bool is_name(std::string_view name) {
  const auto is_bad = [](unsigned char c) { return c == '/' || c < ' '; };
  return !name.empty() && name != "." && name != ".." && std::ranges::none_of(name, is_bad);
}

// Returns whether a create made the node that it was asked for, or one with a number appended.
bool is_made(std::string_view made, std::string_view asked) {
  if (!made.starts_with(asked)) return false;
  made.remove_prefix(asked.size());
  if (made.empty()) return true;
  // "%010d": a minus sign takes the place of a digit, or stands before ten.
  const bool negative = made.starts_with('-');
  if (negative) made.remove_prefix(1);
  const bool digits = std::ranges::all_of(made, [](char c) { return c >= '0' && c <= '9'; });
  return digits && (made.size() == kSequenceSize || (negative && made.size() == kSequenceSize - 1));
}

bool is_list(Reader& body) {
  const int32_t count = body.number();
  if (count < 0 || static_cast<size_t>(count) > body.left() / sizeof count) return false;
  for (int32_t i = 0; i < count; ++i) {
    if (!is_name(body.text())) return false;
  }
  return true;
}

bool is_result(Reader& body, const Step& step) {
  if (step.kind == Op::create) return is_made(body.text(), step.path);
  if (step.kind == Op::write) body.take(kStatSize);
  return body.good();
}

// Reads the header of a step's result. Returns its type; no value if the results are over.
std::optional<int32_t> next_type(Reader& body) {
  const int32_t type = body.number();
  const bool over = body.take(1) != "\0"sv;
  body.number();
  return over ? std::nullopt : std::optional(type);
}

// Reads one result for each step. If a step has failed, none was carried out, and one result must give the reason.
bool are_results(Reader& body, const std::vector<Step>& steps) {
  constexpr int32_t kFailed = -1;
  constexpr int32_t kNotReached = -2;
  bool failed = false;
  bool explained = false;
  for (const Step& step : steps) {
    const std::optional<int32_t> type = next_type(body);
    if (!type || !body.good()) return false;
    if (*type != kFailed) {
      if (!is_result(body, step)) return false;
      continue;
    }
    const int32_t error = body.number();
    if (!is_servers(error)) return false;
    failed = true;
    explained = explained || (error != 0 && error != kNotReached);
  }
  return !next_type(body) && body.good() && failed == explained;
}

bool is_answer(Reader& body, const Request& request) {
  switch (request.op) {
    case Op::create: return is_made(body.text(), request.path);
    case Op::create_with_stat:
      if (!is_made(body.text(), request.path)) return false;
      body.take(kStatSize);
      break;
    case Op::read:
      body.text(-1);
      body.take(kStatSize);
      break;
    case Op::exists:
    case Op::write: body.take(kStatSize); break;
    case Op::children:
      if (!is_list(body)) return false;
      body.take(kStatSize);
      break;
    case Op::sync: body.text(); break;
    case Op::check:
    case Op::transaction: return are_results(body, request.steps);
    case Op::remove: break;
  }
  return body.good();
}

bool is_event(Reader& body) {
  constexpr int32_t kLastType = 6;
  const int32_t type = body.number();
  body.number();  // the state
  const std::string_view path = body.text();
  return body.good() && type >= 1 && type <= kLastType && path.starts_with('/') && path.find('\0') == path.npos;
}

// Replaces the library's socket, which is one for IPv4.
bool become_socket(int fd, int family) {
  const host::Fd other(socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int at_once = 1;
  setsockopt(other.get(), IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
  return other && dup3(other.get(), fd, O_CLOEXEC) >= 0;
}

}  // namespace

bool is_handshake(std::string_view frame, bool has_session) {
  Reader body(frame);
  body.number();  // the protocol's version
  const int32_t timeout = body.number();
  body.take(sizeof(int64_t));  // the session
  const std::string_view password = body.text();
  // Servers before 3.5 do not send whether they are read-only.
  if (!body.good() || body.left() > 1 || password.size() != kPasswordSize) return false;
  return timeout <= kLongestTimeout && (timeout > 0 || (timeout == 0 && has_session));
}

bool fits(std::string_view frame, const Request* oldest, bool with_auth, bool ending) {
  Reader body(frame);
  const int32_t number = body.number();
  body.take(sizeof(int64_t));  // the zxid
  const int32_t error = body.number();
  if (!body.good()) return false;
  switch (number) {
    case kNotification: return is_event(body);
    case kPing: return true;
    case kSetWatches: return error == 0;  // the library does not look; without its watches nothing would wake us
    case kAuth: return with_auth;
    case kEnd: return ending && !oldest && error == 0;  // otherwise the next handshake tells whether it is over
  }
  if (!oldest || !is_servers(error)) return false;
  return error != 0 || is_answer(body, *oldest);
}

std::string_view stranger(std::string_view length) {
  if (length.starts_with("\x15\x03") || length.starts_with("\x16\x03")) {
    return "it speaks TLS: give --tls, or write tls:// before the servers";
  }
  if (length.starts_with("HTTP")) return "it speaks HTTP: not a ZooKeeper server";
  return "";
}

void Wire::restart() {
  incoming_ = {};
  cut_ = false;
  stream_.reset();
}

int Wire::connect(int fd, const sockaddr* to) {
  restart();
  end_ = ConnectionEnd::none;
  tls_failure_.reset();
  begun_at_ = {};
  if (!target_) {
    errno = EADDRNOTAVAIL;
    return -1;
  }
  // This is the library's own memory, so its log names the server to which it really connects.
  std::memcpy(const_cast<sockaddr*>(to), &*target_, sizeof *target_);
  if (target_->ss_family == AF_INET6 && !become_socket(fd, AF_INET6)) return -1;
  if (tls_) stream_ = std::make_unique<host::TlsStream>(*tls_, fd, names_);
  return __real_connect(fd, to, target_->ss_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
}

// Without a stream, data that should have been encrypted is dropped.
ssize_t Wire::send(int fd, const void* data, size_t size, int flags) {
  if (tls_ && !stream_) return static_cast<ssize_t>(size);
  if (!tls_ && begun_at_ == Deadline{}) begun_at_ = BootClock::now();
  const ssize_t sent = tls_ ? stream_->send(data, size) : __real_send(fd, data, size, flags);
  incoming_.blocked = sent != static_cast<ssize_t>(size);
  return sent;
}

// If a frame is sent in part, the server waits for the rest and would take the next frame for it. So this connection
// cannot go on then.
bool Wire::send_frame(int fd, std::string_view frame) {
  if (incoming_.blocked) return false;
  const ssize_t sent = send(fd, frame.data(), frame.size(), MSG_NOSIGNAL);
  if (sent > 0 && incoming_.blocked) shutdown(fd, SHUT_RDWR);
  return sent > 0;
}

bool Wire::send_end(int fd) {
  if (!is_ending() && send_frame(fd, kEndRequest)) incoming_.ending = Ending::sent;
  return is_ending();
}

void Wire::send_ping(int fd) {
  send_frame(fd, kPingRequest);
}

bool Wire::advance() {
  received_in_turn_ = 0;
  if (!stream_) return true;
  const bool agreeing = stream_->in_handshake();
  const Deadline before = BootClock::now();
  const bool ready = stream_->advance();
  if (agreeing && ready) begun_at_ = before;
  return ready;
}

std::optional<host::TlsFailure> Wire::tls_failure() const {
  if (stream_ && stream_->in_handshake()) return host::silent_in_handshake();
  return tls_failure_;
}

void Wire::note_cut() {
  cut_ = true;
  if (!stream_) return;
  if (stream_->in_handshake()) tls_failure_ = host::silent_in_handshake();
  stream_->abandon();
}

// What has come on a connection that is cut stays unread: it may answer what was sent after a pause of ours.
ssize_t Wire::receive(int fd, void* to, size_t size, int flags) {
  const Fill filled = cut_ ? Fill::ended : incoming_.taken == incoming_.out.size() ? fill(fd, flags) : Fill::frame;
  if (filled == Fill::nothing) {
    errno = EAGAIN;
    return -1;
  }
  if (filled == Fill::ended) {
    const ConnectionEnd end = incoming_.nonsense ? ConnectionEnd::nonsense
                              : cut_             ? ConnectionEnd::cut
                                                 : ConnectionEnd::closed;
    if (stream_ && stream_->failure()) tls_failure_ = stream_->failure();
    restart();
    end_ = end;
    return 0;
  }
  const size_t given = std::min(size, incoming_.out.size() - incoming_.taken);
  std::memcpy(to, incoming_.out.data() + incoming_.taken, given);
  incoming_.taken += given;
  return static_cast<ssize_t>(given);
}

// Takes at most one frame, so that poll reports the ones after it.
Wire::Fill Wire::fill(int fd, int flags) {
  if (has_ended()) return Fill::nothing;
  for (;;) {
    const size_t length = incoming_.frame.size() < kLength ? 0 : length_in(incoming_.frame);
    const size_t want = kLength + length - incoming_.frame.size();
    if (incoming_.frame.size() >= kLength && want == 0) break;
    const Fill taken = take(fd, std::min(want, kPiece), flags);
    if (taken == Fill::ended) return taken;
    if (taken == Fill::nothing) {
      if (!note_progress()) return taken;
      incoming_.out = kPingAnswer;
      incoming_.taken = 0;
      return Fill::frame;
    }
    if (incoming_.frame.size() == kLength && length_in(incoming_.frame) > kLargestReply) {
      note_stranger(stranger(incoming_.frame));
      incoming_.nonsense = true;
      return Fill::ended;
    }
  }
  incoming_.nonsense = !check_(std::string_view(incoming_.frame).substr(kLength));
  if (incoming_.nonsense) return Fill::ended;
  if (is_ending() && Reader(std::string_view(incoming_.frame).substr(kLength)).number() == kEnd) {
    incoming_.ending = Ending::answered;
    return Fill::nothing;
  }
  incoming_.out.swap(incoming_.frame);
  incoming_.frame.clear();
  incoming_.taken = incoming_.marked = 0;
  incoming_.progressed = {};
  incoming_.greeted = true;
  return Fill::frame;
}

Wire::Fill Wire::take(int fd, size_t want, int flags) {
  want = std::min(want, most_in_turn_ - received_in_turn_);
  if (want == 0) return Fill::nothing;
  const size_t before = incoming_.frame.size();
  incoming_.frame.resize(before + want);
  char* const to = incoming_.frame.data() + before;
  ssize_t taken = 0;
  if (!tls_) taken = __real_recv(fd, to, want, flags);
  if (stream_) taken = stream_->receive(to, want);
  const int error = errno;
  incoming_.frame.resize(before + static_cast<size_t>(std::max<ssize_t>(taken, 0)));
  if (taken > 0) received_in_turn_ += static_cast<size_t>(taken);
  if (taken > 0) return Fill::frame;
  return taken < 0 && (error == EAGAIN || error == EINTR) ? Fill::nothing : Fill::ended;
}

bool Wire::note_progress() {
  if (!incoming_.greeted || incoming_.frame.size() < incoming_.marked + kProgress) return false;
  incoming_.marked = incoming_.frame.size();
  incoming_.progressed = BootClock::now();
  return true;
}

WireScope::WireScope(Wire& wire) : outer_(std::exchange(current, &wire)) {}

WireScope::~WireScope() {
  current = outer_;
}

}  // namespace zklock::zk

int __wrap_connect(int fd, const sockaddr* to, socklen_t size) {
  zklock::zk::Wire* wire = zklock::zk::WireScope::current;
  return wire ? wire->connect(fd, to) : __real_connect(fd, to, size);
}

ssize_t __wrap_send(int fd, const void* data, size_t size, int flags) {
  zklock::zk::Wire* wire = zklock::zk::WireScope::current;
  return wire ? wire->send(fd, data, size, flags) : __real_send(fd, data, size, flags);
}

ssize_t __wrap_recv(int fd, void* to, size_t size, int flags) {
  zklock::zk::Wire* wire = zklock::zk::WireScope::current;
  return wire ? wire->receive(fd, to, size, flags) : __real_recv(fd, to, size, flags);
}
