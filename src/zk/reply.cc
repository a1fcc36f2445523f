// SPDX-License-Identifier: Apache-2.0
#include "zk/reply.h"

#include "zk/path.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

namespace zklock::zk {

namespace {

constexpr size_t kStatSize = 68;
constexpr size_t kPasswordSize = 16;
constexpr size_t kSequenceSize = 10;
constexpr int32_t kLongestTimeout = 1'000'000'000;  // in ms; the library doubles it

// Numbers that stand for a request: those of the protocol's answers to nothing that was asked.
constexpr int32_t kNotification = -1;
constexpr int32_t kPing = -2;
constexpr int32_t kAuth = -4;
constexpr int32_t kSetWatches = -8;

// Reads what is there. Behind a mistake all is zero and empty.
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

  // Behind its length. Data, unlike text, may be missing.
  std::string_view text() {
    const int32_t size = number();
    good_ = good_ && size >= 0;
    return take(good_ ? static_cast<size_t>(size) : 0);
  }
  void data() {
    const int32_t size = number();
    good_ = good_ && size >= -1;
    take(good_ && size > 0 ? static_cast<size_t>(size) : 0);
  }

 private:
  std::string_view rest_;
  bool good_ = true;
};

// Those of the library itself mean that it has had no answer.
bool is_servers(int32_t error) {
  constexpr std::array kOwn{-4, -7, -9, -116, -117};
  return error <= 0 && std::find(kOwn.begin(), kOwn.end(), error) == kOwn.end();
}

// The library takes no path with another name in it, in a transaction it even aborts.
bool is_name(std::string_view name) {
  const auto is_bad = [](char c) { return c == '/' || (c >= 0 && c < ' '); };
  return !name.empty() && name != "." && name != ".." && std::none_of(name.begin(), name.end(), is_bad);
}

// A create makes the node that it was asked for, or that with a number.
bool is_made(std::string_view made, std::string_view asked) {
  if (!made.starts_with(asked)) return false;
  made.remove_prefix(asked.size());
  if (made.empty()) return true;
  // "%010d": a minus sign takes the place of a digit, or stands before ten.
  const bool negative = made.starts_with('-');
  if (negative) made.remove_prefix(1);
  const bool digits = std::all_of(made.begin(), made.end(), [](char c) { return c >= '0' && c <= '9'; });
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

bool is_result(Reader& body, const Asked::Step& step) {
  switch (step.op) {
    case Op::create:
      return is_made(body.text(), step.path);
    case Op::write:
      body.take(kStatSize);
      break;
    case Op::create_with_stat:
    case Op::remove:
    case Op::exists:
    case Op::read:
    case Op::children:
    case Op::sync:
    case Op::check:
    case Op::transaction:
      break;
  }
  return body.good();
}

struct StepHeader {
  explicit StepHeader(Reader& body) : type(body.number()), done(body.take(1) != std::string_view("\0", 1)) {
    body.number();
  }
  int32_t type;
  bool done;
};

// One result for each step; none was done if one has failed, and then one is to say why.
bool are_results(Reader& body, const std::vector<Asked::Step>& steps) {
  constexpr int32_t kFailed = -1;
  constexpr int32_t kNotReached = -2;
  bool failed = false;
  bool explained = false;
  for (const Asked::Step& step : steps) {
    const StepHeader header(body);
    if (header.done || !body.good()) return false;
    if (header.type != kFailed) {
      if (!is_result(body, step)) return false;
      continue;
    }
    const int32_t error = body.number();
    if (!is_servers(error)) return false;
    failed = true;
    explained = explained || (error != 0 && error != kNotReached);
  }
  return StepHeader(body).done && body.good() && failed == explained;
}

bool is_answer(Reader& body, const Asked& asked) {
  switch (asked.op) {
    case Op::create:
      return is_made(body.text(), asked.path);
    case Op::create_with_stat:
      if (!is_made(body.text(), asked.path)) return false;
      body.take(kStatSize);
      break;
    case Op::read:
      body.data();
      body.take(kStatSize);
      break;
    case Op::exists:
    case Op::write:
      body.take(kStatSize);
      break;
    case Op::children:
      if (!is_list(body)) return false;
      body.take(kStatSize);
      break;
    case Op::sync:
      body.text();
      break;
    case Op::check:
    case Op::transaction:
      return are_results(body, asked.steps);
    case Op::remove:
      break;
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

std::string_view verb_of(Op op) {
  switch (op) {
    case Op::create:
    case Op::create_with_stat:
      return "create a node below";
    case Op::remove:
      return "delete a node below";
    case Op::exists:
      return "look at";
    case Op::read:
      return "read";
    case Op::write:
      return "write";
    case Op::children:
      return "list";
    case Op::sync:
      return "sync";
    case Op::check:
      return "check";
    case Op::transaction:
      return "do a transaction on";
  }
  return "";
}

}  // namespace

std::string title_of(const Asked& asked) {
  const bool other_each_time = asked.op == Op::create || asked.op == Op::create_with_stat || asked.op == Op::remove ||
                               asked.op == Op::transaction;
  const std::string parent = parent_of(asked.path);
  return fmt::format("{} {}", verb_of(asked.op), !other_each_time ? asked.path : parent.empty() ? "/" : parent);
}

bool is_handshake(std::string_view frame, bool has_session) {
  Reader body(frame);
  body.number();  // the protocol's version
  const int32_t timeout = body.number();
  body.take(sizeof(int64_t));  // the session
  const std::string_view password = body.text();
  // Servers before 3.5 do not tell whether they only read.
  if (!body.good() || body.left() > 1 || password.size() != kPasswordSize) return false;
  return timeout <= kLongestTimeout && (timeout > 0 || (timeout == 0 && has_session));
}

bool fits(std::string_view frame, const Asked* oldest, bool with_auth) {
  Reader body(frame);
  const int32_t number = body.number();
  body.take(sizeof(int64_t));  // the zxid
  const int32_t error = body.number();
  if (!body.good()) return false;
  switch (number) {
    case kNotification:
      return is_event(body);
    case kPing:
    case kSetWatches:
      return true;
    case kAuth:
      return with_auth;
  }
  if (!oldest || !is_servers(error)) return false;
  return error != 0 || is_answer(body, *oldest);
}

std::string_view stranger(std::string_view length) {
  if (length.starts_with("\x15\x03") || length.starts_with("\x16\x03")) {
    return "it speaks TLS, which zklock does not yet";
  }
  if (length.starts_with("HTTP")) return "it speaks HTTP: not a ZooKeeper server";
  return "";
}

}  // namespace zklock::zk
