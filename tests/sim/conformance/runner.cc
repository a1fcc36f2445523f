// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include "../tree.h"

#include <algorithm>

namespace zklock::sim {

namespace {

constexpr int32_t kTimeout = 30000;
constexpr int32_t kEventXid = -1, kPingXid = -2, kAuthXid = -4, kSetWatchesXid = -8;
constexpr int kMostAttempts = 200;
constexpr int kMostProds = 5;
constexpr int64_t kProdAfter = 500;  // ms

void write_list(RecordWriter& to, const std::set<std::string>& list) {
  to.i32(static_cast<int32_t>(list.size()));
  for (const std::string& path : list) to.text(path);
}

}  // namespace

std::optional<std::string> Session::frame(int64_t within_ms) {
  for (;;) {
    if (inbox.size() >= 4) {
      const auto size = static_cast<size_t>(RecordReader(inbox).i32());
      if (inbox.size() >= 4 + size) {
        const std::string whole = inbox.substr(4, size);
        inbox.erase(0, 4 + size);
        return whole;
      }
    }
    const auto more = channel->receive(within_ms);
    if (!more || more->empty()) return more;
    inbox += *more;
  }
}

void Session::send(std::string_view frame) const {
  channel->send(RecordWriter().text(frame).out);
}

void Session::shake_hands(Backend& backend, int its_server, int64_t seen, int32_t timeout) {
  channel = backend.connect(its_server);
  server = its_server;
  inbox.clear();
  RecordWriter greeting;
  greeting.i32(0).i64(seen).i32(timeout).i64(id).text(id == 0 ? std::string(16, '\0') : password).boolean(false);
  send(greeting.out);
}

int32_t Session::adopt(const std::string& answer) {
  RecordReader reader(answer);
  reader.i32();
  const int32_t timeout = reader.i32();
  id = reader.i64();
  password = reader.text();
  return timeout;
}

Seen Runner::run(const std::vector<Step>& steps) {
  for (step_ = 0; step_ < steps.size(); ++step_) take(steps[step_]);
  return std::move(seen_);
}

void Runner::take(const Step& step) {
  Session& session = sessions_[static_cast<size_t>(step.party)];
  switch (step.kind) {
    case Step::Kind::open: return open(session, step.server);
    case Step::Kind::ask:
      if (backend_.servers() > 1) catch_up(session, step.unordered);
      return ask(session, step.asked, step.unordered);
    case Step::Kind::disconnect: session.channel.reset(); return;
    case Step::Kind::reconnect: return reconnect(session, step.server);
    case Step::Kind::wrong_password:
    case Step::Kind::ahead: return refused(session, step);
    case Step::Kind::barrier: return barrier(step.unordered);
  }
}

void Runner::open(Session& session, int server) {
  session = {};
  session.shake_hands(backend_, server, 0, kTimeout);
  const auto answer = next_frame(session);
  if (!answer || answer->empty()) return see(session, "gets no session");
  const int32_t timeout = session.adopt(*answer);
  see(session, fmt::format("has session {}, timeout {}, {} bytes", session_text(session.id), timeout, answer->size()));
}

// A server that is behind refuses it; then it tries again.
void Runner::reconnect(Session& session, int server) {
  Session fresh;
  fresh.id = session.id;
  fresh.password = session.password;
  std::optional<std::string> answer;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    fresh.shake_hands(backend_, server, session.zxid, kTimeout);
    answer = next_frame(fresh);
    if (answer && !answer->empty()) break;
    backend_.sleep(5);
  }
  Session old;
  old.channel = std::move(session.channel);
  session.channel = std::move(fresh.channel);
  session.inbox = fresh.inbox;
  session.server = server;
  if (!answer || answer->empty()) return see(session, "cannot come back");
  const int64_t before = session.id;
  const int32_t timeout = session.adopt(*answer);
  see(session, fmt::format("comes back with session {}, timeout {}", session_text(session.id), timeout));
  if (session.id != before) return;
  if (old.channel) use_old(session, old);
  if (backend_.servers() > 1) catch_up(session, false);
  tell_watches(session);
}

// The session has moved: no transaction may come through its old connection any more.
void Runner::use_old(const Session& session, Session& old) {
  RecordWriter body;
  body.i32(1).i32(op::multi).i32(op::check).boolean(false).i32(-1).text(top_).i32(-1).i32(-1).boolean(true).i32(-1);
  old.send(body.out);
  for (;;) {
    const auto frame = old.frame();
    if (frame && !frame->empty() && RecordReader(*frame).i32() == kEventXid) continue;
    const bool ended = frame && frame->empty();
    return see(session, ended ? "has lost its old connection" : "has its old connection still");
  }
}

void Runner::tell_watches(Session& session) {
  RecordWriter body;
  body.i32(kSetWatchesXid).i32(op::set_watches).i64(session.zxid);
  write_list(body, session.data_watches);
  write_list(body, session.exist_watches);
  write_list(body, session.child_watches);
  const Asked asked{op::set_watches, "", "watches"};
  session.send(body.out);
  await(session, {{kSetWatchesXid, &asked}}, false);
}

void Runner::refused(Session& session, const Step& step) {
  Session other;
  other.id = session.id;
  other.password = session.password;
  const bool ahead = step.kind == Step::Kind::ahead;
  if (!ahead) other.password[3] = static_cast<char>(other.password[3] + 1);
  other.shake_hands(backend_, step.server, ahead ? INT64_MAX : session.zxid, kTimeout);
  const auto answer = other.frame();
  if (!answer || answer->empty()) return see(session, answer ? "is refused" : "hears nothing");
  const int32_t timeout = other.adopt(*answer);
  const auto next = other.frame();
  see(session, fmt::format("gets session {:#x}, timeout {}, {} bytes, {}", other.id, timeout, answer->size(),
                           next && next->empty() ? "and an end" : "and more"));
}

void Runner::ask(Session& session, const std::vector<Asked>& asked, bool unordered) {
  if (!session.channel) return see(session, "has no connection");
  std::vector<std::pair<int32_t, const Asked*>> waiting;
  std::string bytes;
  for (const Asked& one : asked) {
    const int32_t xid = one.type == op::ping ? kPingXid : one.type == op::auth ? kAuthXid : ++session.xid;
    bytes += RecordWriter().text(RecordWriter().i32(xid).i32(one.type).out + one.body).out;
    waiting.emplace_back(xid, &one);
  }
  session.channel->send(bytes);
  await(session, std::move(waiting), unordered);
  if (!asked.back().ends || !session.channel) return;
  const auto end = session.frame();
  see(session, end && end->empty() ? "is cut off" : "is not cut off");
  session.channel.reset();
}

void Runner::catch_up(Session& session, bool unordered) {
  if (!session.channel) return;
  const int32_t xid = ++session.xid;
  RecordWriter body;
  body.i32(xid).i32(op::multi).i32(op::check).boolean(false).i32(-1).text(top_).i32(-1).i32(-1).boolean(true).i32(-1);
  session.send(body.out);
  await(session, {{xid, nullptr}}, unordered);
}

void Runner::barrier(bool unordered) {
  for (Session& session : sessions_) catch_up(session, unordered);
}

std::optional<std::string> Runner::next_frame(Session& session) {
  for (int left = kMostProds; left > 0; --left) {
    const auto frame = session.frame(kProdAfter);
    if (frame) return frame;
    ++prods_;
    Session other;
    other.shake_hands(backend_, session.server, 0, kTimeout);
    const auto answer = other.frame(kProdAfter);
    if (!answer || answer->empty()) continue;
    other.send(RecordWriter().i32(++other.xid).i32(op::close).out);
    other.frame(kProdAfter);
  }
  return session.frame();
}

void Runner::await(Session& session, std::vector<std::pair<int32_t, const Asked*>> waiting, bool unordered) {
  while (!waiting.empty()) {
    const auto frame = next_frame(session);
    if (!frame || frame->empty()) {
      flush_events(unordered);
      see(session, frame ? "is cut off" : "waits in vain");
      session.channel.reset();
      return;
    }
    RecordReader reader(*frame);
    const int32_t xid = reader.i32();
    if (xid == kEventXid) {
      on_event(session, *frame);
      continue;
    }
    const auto found = std::find_if(waiting.begin(), waiting.end(), [&](const auto& one) { return one.first == xid; });
    if (found == waiting.end()) {
      see(session, fmt::format("gets a strange answer, xid {}", xid));
      continue;
    }
    session.zxid = std::max(session.zxid, reader.i64());
    flush_events(unordered);
    if (found->second) on_answer(session, *found->second, *frame);
    waiting.erase(found);
  }
}

void Runner::on_event(Session& session, const std::string& frame) {
  RecordReader reader(frame);
  reader.i32();
  const int64_t zxid = reader.i64();
  const int32_t error = reader.i32();
  const int32_t type = reader.i32();
  const int32_t state = reader.i32();
  const std::string path = reader.text();
  if (type == Event::children_changed || type == Event::deleted) session.child_watches.erase(path);
  if (type != Event::children_changed) {
    session.data_watches.erase(path);
    session.exist_watches.erase(path);
  }
  events_.push_back(fmt::format("client {} event {} {} state {} zxid {} error {}", &session - sessions_.data(), type,
                                path, state, zxid, error));
}

void Runner::flush_events(bool unordered) {
  if (unordered) std::sort(events_.begin(), events_.end());
  for (std::string& event : events_) seen_.emplace_back(step_, std::move(event));
  events_.clear();
}

void Runner::on_answer(Session& session, const Asked& asked, const std::string& frame) {
  RecordReader reader(frame);
  reader.i32();
  const int64_t zxid = reader.i64();
  const int32_t error = reader.i32();
  std::string text = fmt::format("is answered {}: ", error);
  const bool counts = asked.type != op::ping && asked.type != op::auth && asked.type > 0 && asked.type < 77 &&
                      asked.type != op::exists && asked.type != op::get && asked.type != op::children &&
                      asked.type != op::children2 && asked.type != op::sync;
  if (counts) text += zxid_text(zxid) + " ";
  if (error == 0) text += result_text(asked.type, reader);
  if (!reader.rest().empty() || !reader.good()) text += fmt::format("and {} bytes", reader.rest().size());
  see(session, text + " for " + asked.text);
  if (asked.watches) keep_watch(session, asked, error);
}

void Runner::keep_watch(Session& session, const Asked& asked, int32_t error) {
  if (asked.type == op::exists && error == error::no_node) session.exist_watches.insert(asked.path);
  if (error != 0) return;
  const bool lists = asked.type == op::children || asked.type == op::children2;
  (lists ? session.child_watches : session.data_watches).insert(asked.path);
}

std::string Runner::result_text(int32_t type, RecordReader& body) {
  switch (type) {
    case op::create:
    case op::sync: return body.text();
    case op::create2:
    case op::container: {
      const std::string path = body.text();
      return path + " " + stat_text(body);
    }
    case op::exists:
    case op::set: return stat_text(body);
    case op::get: {
      const std::string data = body.text();
      return data + " " + stat_text(body);
    }
    case op::children:
    case op::children2: {
      std::set<std::string> names;
      for (int32_t left = body.i32(); left > 0; --left) names.insert(body.text());
      return fmt::format("[{}] {}", fmt::join(names, " "), type == op::children2 ? stat_text(body) : "");
    }
    case op::multi: return multi_text(body);
    default: return "";
  }
}

std::string Runner::multi_text(RecordReader& body) {
  std::string text;
  while (body.good()) {
    const int32_t type = body.i32();
    const bool done = body.boolean();
    const int32_t error = body.i32();
    if (done) return fmt::format("{}end {} {}", text, type, error);
    text += fmt::format("{} error {} ", type, error);
    if (type == op::failed) text += fmt::format("{}; ", body.i32());
    if (type != op::failed) text += result_text(type, body) + "; ";
  }
  return text + "and no end";
}

std::string Runner::stat_text(RecordReader& body) {
  const int64_t czxid = body.i64();
  const int64_t mzxid = body.i64();
  const int64_t ctime = body.i64();
  const int64_t mtime = body.i64();
  const int32_t version = body.i32();
  const int32_t cversion = body.i32();
  const int32_t aversion = body.i32();
  const int64_t owner = body.i64();
  const int32_t length = body.i32();
  const int32_t children = body.i32();
  const int64_t pzxid = body.i64();
  return fmt::format("(czxid {} mzxid {} pzxid {} {} v {} cv {} av {} owner {} length {} children {})",
                     zxid_text(czxid), zxid_text(mzxid), zxid_text(pzxid), ctime <= mtime ? "" : "TIMES", version,
                     cversion, aversion, session_text(owner), length, children);
}

std::string Runner::zxid_text(int64_t zxid) {
  const auto [found, fresh] = zxids_.try_emplace(zxid, zxids_.size());
  return fmt::format("z{}", found->second);
}

std::string Runner::session_text(int64_t session) {
  if (session == 0) return "none";
  const auto [found, fresh] = session_numbers_.try_emplace(session, session_numbers_.size());
  return fmt::format("s{}", found->second);
}

void Runner::see(const Session& session, const std::string& text) {
  flush_events(false);
  seen_.emplace_back(step_, fmt::format("client {} {}", &session - sessions_.data(), text));
}

}  // namespace zklock::sim
