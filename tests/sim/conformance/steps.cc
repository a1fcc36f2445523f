// SPDX-License-Identifier: Apache-2.0
#include "steps.h"

#include "../jute.h"
#include "../tree.h"
#include "../world.h"

#include <array>

namespace zklock::sim {

namespace {

constexpr int32_t kUnknownType = 77;
constexpr int32_t kTtlFlag = 5, kContainerFlag = 4, kUnknownFlag = 9;
constexpr int kMostSteps = 40;

class Maker {
 public:
  Maker(uint64_t seed, std::string top, int servers) : random_(seed), top_(std::move(top)), servers_(servers) {}
  std::vector<Step> make();

 private:
  struct Party {
    bool connected = false;
    bool opened = false;
    bool authenticated = false;
    int server = 0;
  };
  void add(Step::Kind kind, int party, std::vector<Asked> asked = {}, bool unordered = false);
  void open(int party);
  void act(int party);
  void ask(int party);
  std::string path();
  std::string bad_path();
  int32_t version() { return random_.chance(0.6) ? -1 : static_cast<int32_t>(random_.below(3)); }
  std::string data() { return std::string(static_cast<size_t>(random_.below(20)), 'd'); }
  int32_t flags();
  Asked request(const Party& party);
  Asked write(const Party& party);
  Asked read();
  Asked multi(const Party& party);
  Asked operation(const Party& party);
  Asked create(const Party& party, bool in_multi);
  void acl(RecordWriter& body, const Party& party, std::string& text);

  Random random_;
  std::string top_;
  int servers_;
  std::array<Party, kParties> parties_;
  std::vector<Step> steps_;
};

void Maker::add(Step::Kind kind, int party, std::vector<Asked> asked, bool unordered) {
  steps_.push_back({kind, party, parties_[static_cast<size_t>(party)].server, std::move(asked), unordered});
}

void Maker::open(int number) {
  Party& party = parties_[static_cast<size_t>(number)];
  party = {true, true, false, static_cast<int>(random_.below(servers_))};
  add(Step::Kind::open, number);
}

// Names that sequential nodes may have are among them.
std::string Maker::path() {
  static constexpr const char* kNames[] = {
      "a", "b", "a/x", "a/y", "b/x", "a/x/z", "a/s0000000000", "a/s0000000001", "b/s0000000002"};
  if (random_.chance(0.04)) return top_;
  if (random_.chance(0.03)) return bad_path();
  return top_ + "/" + random_.one_of(kNames);
}

std::string Maker::bad_path() {
  static constexpr const char* kTails[] = {"/a/",    "//a",     "/a//x", "/./a",      "/a/..",
                                           "/a\x01", "/a/\x7f", "/...",  "/a\xc2\x85"};
  return top_ + random_.one_of(kTails);
}

int32_t Maker::flags() {
  if (random_.chance(0.02)) return random_.chance(0.5) ? kTtlFlag : kUnknownFlag;
  return static_cast<int32_t>(random_.below(4));
}

void Maker::acl(RecordWriter& body, const Party& party, std::string& text) {
  if (random_.chance(0.02)) {
    body.i32(0);
    text += " without ACL";
  } else if (!party.authenticated && random_.chance(0.02)) {
    body.i32(1).i32(31).text("auth").text("");
    text += " for its user";
  } else {
    body.i32(1).i32(31).text("world").text("anyone");
  }
}

Asked Maker::create(const Party& party, bool in_multi) {
  static constexpr int32_t kTypes[] = {op::create, op::create, op::create2, op::create2, op::container};
  int32_t type = random_.one_of(kTypes);
  if (random_.chance(0.02)) type = op::create_ttl;
  int32_t flag = type == op::container ? kContainerFlag : type == op::create_ttl ? kTtlFlag : flags();
  // In a multi no client can ask for these.
  if (in_multi && type != op::container && type != op::create_ttl && flag > 3) flag = 0;
  if (type == op::create && random_.chance(0.03)) flag = kContainerFlag;
  std::string where = path();
  if (flag == 2 || flag == 3) where = top_ + (random_.chance(0.7) ? "/a/s" : "/b/s");
  std::string text = fmt::format("create type {} {} flags {}", type, where, flag);
  RecordWriter body;
  body.text(where).text(data());
  acl(body, party, text);
  body.i32(flag);
  if (type == op::create_ttl) body.i64(60000);
  return {type, body.out, text};
}

Asked Maker::operation(const Party& party) {
  const int64_t choice = random_.below(10);
  if (choice < 5) return create(party, true);
  const std::string where = path();
  const int32_t wanted = version();
  if (choice < 7) {
    return {op::remove, RecordWriter().text(where).i32(wanted).out, fmt::format("delete {} {}", where, wanted)};
  }
  if (choice < 9) {
    return {op::set, RecordWriter().text(where).text(data()).i32(wanted).out, fmt::format("set {} {}", where, wanted)};
  }
  return {op::check, RecordWriter().text(where).i32(wanted).out, fmt::format("check {} {}", where, wanted)};
}

Asked Maker::multi(const Party& party) {
  Asked all{op::multi, "", "multi ["};
  for (int64_t left = random_.below(5); left > 0; --left) {
    const Asked one = operation(party);
    all.body += RecordWriter().i32(one.type).boolean(false).i32(-1).out + one.body;
    all.text += one.text + (left > 1 ? ", " : "");
  }
  all.body += RecordWriter().i32(-1).boolean(true).i32(-1).out;
  all.text += "]";
  return all;
}

Asked Maker::write(const Party& party) {
  if (random_.chance(0.3)) return multi(party);
  for (;;) {
    Asked one = random_.chance(0.3) ? create(party, false) : operation(party);
    if (one.type != op::check) return one;  // no client sends one alone
  }
}

Asked Maker::read() {
  static constexpr int32_t kTypes[] = {op::exists, op::exists, op::get, op::children, op::children2};
  static constexpr const char* kNames[] = {"", "",         "", "exists", "get", "",         "",
                                           "", "children", "", "",       "",    "children2"};
  const int32_t type = random_.one_of(kTypes);
  const std::string where = path();
  const bool watches = random_.chance(0.6);
  return {type, RecordWriter().text(where).boolean(watches).out,
          fmt::format("{} {}{}", kNames[type], where, watches ? " and watch" : ""), where, watches};
}

Asked Maker::request(const Party& party) {
  if (random_.chance(0.04)) return {op::ping, "", "ping"};
  if (random_.chance(0.04)) return {op::sync, RecordWriter().text(top_).out, "sync"};
  return random_.chance(0.5) ? read() : write(party);
}

void Maker::ask(int number) {
  Party& party = parties_[static_cast<size_t>(number)];
  if (random_.chance(0.02)) {
    party.authenticated = true;
    return add(Step::Kind::ask, number, {{op::auth, RecordWriter().i32(0).text("digest").text("u:p").out, "auth"}});
  }
  std::vector<Asked> asked{request(party)};
  while (random_.chance(0.3)) asked.push_back(request(party));
  add(Step::Kind::ask, number, std::move(asked));
}

void Maker::act(int number) {
  Party& party = parties_[static_cast<size_t>(number)];
  if (!party.opened) return open(number);
  if (!party.connected) {
    if (random_.chance(0.4)) return;
    const double choice = static_cast<double>(random_.below(100));
    party.server = static_cast<int>(random_.below(servers_));
    if (choice < 10) return add(Step::Kind::wrong_password, number);
    if (choice < 20) return add(Step::Kind::ahead, number);
    party.connected = true;
    return add(Step::Kind::reconnect, number);
  }
  const int64_t choice = random_.below(100);
  if (choice < 6) {
    party.connected = party.authenticated = false;
    return add(Step::Kind::disconnect, number);
  }
  if (choice < 9) {
    party = {};
    add(Step::Kind::ask, number, {{op::close, "", "close the session", "", false, true}}, true);
    return add(Step::Kind::barrier, number, {}, true);
  }
  if (choice < 10) {
    party.connected = party.authenticated = false;
    return add(Step::Kind::ask, number, {{kUnknownType, "", "unknown type", "", false, true}});
  }
  // The old connection still stands when the session comes back to the same server or to another one.
  if (choice < 12) {
    party.authenticated = false;
    party.server = static_cast<int>(random_.below(servers_));
    return add(Step::Kind::reconnect, number);
  }
  ask(number);
}

std::vector<Step> Maker::make() {
  for (int party = 0; party < kParties; ++party) open(party);
  for (const char* name : {"", "/a", "/b", "/a/x"}) {
    if (*name != '\0' && random_.chance(0.2)) break;
    RecordWriter body;
    body.text(top_ + name).text("").i32(1).i32(31).text("world").text("anyone").i32(0);
    add(Step::Kind::ask, 0, {{op::create, body.out, "create " + top_ + name}});
  }
  add(Step::Kind::barrier, 0);
  for (int64_t left = random_.between(5, kMostSteps); left > 0; --left) {
    act(static_cast<int>(random_.below(kParties)));
    if (random_.chance(0.2)) add(Step::Kind::barrier, 0);
  }
  for (int party = 0; party < kParties; ++party) {
    Party& one = parties_[static_cast<size_t>(party)];
    if (!one.opened) continue;
    if (!one.connected) add(Step::Kind::reconnect, party);
    add(Step::Kind::ask, party, {{op::close, "", "close the session", "", false, true}}, true);
    one = {};
    add(Step::Kind::barrier, party, {}, true);
  }
  return std::move(steps_);
}

}  // namespace

std::vector<Step> make_steps(uint64_t seed, const std::string& top, int servers) {
  return Maker(seed, top, servers).make();
}

std::string story_of(const Step& step) {
  static constexpr const char* kKinds[] = {"opens a session",        "asks",         "disconnects",        "reconnects",
                                           "gives a wrong password", "is far ahead", "and all others wait"};
  std::string text =
      fmt::format("client {} (server {}) {}", step.party, step.server, kKinds[static_cast<int>(step.kind)]);
  for (const Asked& asked : step.asked) text += "\n    " + asked.text;
  return text;
}

}  // namespace zklock::sim
