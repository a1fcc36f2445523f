// SPDX-License-Identifier: Apache-2.0
#include "zk/session.h"

#include "base/rounds.h"
#include "host/terminal.h"
#include "host/trace.h"
#include "zk/library_log.h"
#include "zk/path.h"
#include "zk/timing.h"

#include <algorithm>
#include <deque>

#include <fmt/format.h>

namespace zklock::zk {

Session::Session(host::Loop& loop, SessionOptions options)
    : loop_(loop), options_(std::move(options)), names_(options_.servers, bool(options_.tls)) {}

void Session::open(Deadline until) {
  const Within within(*this, until);
  for (;;) {
    connect();
    try {
      return ready();
    } catch (const SessionOver&) {
    }
  }
}

void Session::connect() {
  const Losses losses = client_ ? client_->losses() : Losses(options_.connect_timeout);
  drop();
  last_ = false;
  opened_ = BootClock::now();
  // Addresses that are known serve if the resolver is slow: names_ goes on asking it.
  const bool waits = enduring_ && names_.addresses().empty();
  const Deadline resolved = waits ? until_ : std::min(until_, deadline_in(options_.connect_timeout));
  const std::vector<Server> servers = names_.resolve(loop_, resolved);
  client_ = std::make_unique<Client>(options_);
  client_->take_over(losses);
  link_ = std::make_unique<Link>(*client_, servers, [this] { note_connected(); });
  loop_.add(*link_);
  names_.follow(*link_, [this] { note_moved(); });
  loop_.add(names_);
}

void Session::note_connected() {
  page_.note(*client_, names_.addresses());
  host::set_traced_session(id());
  host::trace("session", {{"timeout", timeout() / std::chrono::milliseconds(1)}, {"server", server()}});
}

void Session::note_moved() {
  link_->use(names_.addresses());
  if (second_) second_->use(names_.addresses());
  page_.note(*client_, names_.addresses());
}

// The guard's closer is silent, even with --verbose.
std::function<void()> Session::closer() {
  SessionOptions options = options_;
  options.verbose = false;
  return page_.closer(options);
}

void Session::end_behind() {
  if (is_ready()) client_->end_session();
}

void Session::close() {
  const Deadline until = deadline_in(std::chrono::seconds(1));
  if (client_) end_behind();
  while (client_ && awaiting_ != Awaiting::nothing && connected() && client_->silent_since() != kNever &&
         left_until(until) > Duration::zero()) {
    loop_.turn(until);
  }
  drop();
}

void Session::drop() {
  if (client_) host::trace("closing");
  const bool clean = client_ && (client_->has_ended() || (connected() && !client_->is_ending()));
  second_.reset();
  loop_.remove(names_);
  names_.unfollow();
  if (link_) loop_.remove(*link_);
  link_.reset();
  client_.reset();
  page_.clear();
  if (clean) host::trace("closed");
}

void Session::turn(Deadline until) {
  // If we ourselves stood still, the link gives up the connection, and the request is sent again.
  if (!link_->was_silent()) check_answers();
  const Deadline lost = link_->unconnected_since();
  const bool reachable = lost == kNever || expired() || (second_ && second_->connected());
  const Deadline unreachable = reachable ? kNever : lost + options_.connect_timeout;
  const Deadline give_up = enduring_ ? kNever : std::min(unreachable, client_->stuck_at());
  loop_.turn(std::min({until, give_up, doubtful_from()}));
  if (client_->state() == ClientState::auth_failed) {
    throw Failure(ExitStatus::refused,
                  fmt::format("{}: ZooKeeper at {} refused the credentials (ZKLOCK_AUTH, --auth-file)", purpose_,
                              options_.servers.text()));
  }
  if (client_->is_turned_away()) throw failure_of(purpose_, {Code::unexpected, kTurnedAway});
  answered_ |= connected();
  look_for_refusal();
  if (enduring_ || connected() || expired()) return;
  // The servers answer, and it takes a while to see whether they still want this session.
  if (second_ && second_->connected()) return;
  const Duration waited = BootClock::now() - link_->unconnected_since();
  const bool in_vain = client_->connections() == 0 && link_->all_refuse();
  if (in_vain || waited >= options_.connect_timeout) fail_unreachable(waited);
}

// Returns when it is time to ask whether the servers still want this session.
Deadline Session::doubtful_from() const {
  if (connected() || expired() || client_->connections() == 0) return kNever;
  if (second_) return second_->is_over() ? Deadline{} : second_->confirmed_at(link_->longest_attempt());
  // The link notices a lost connection at its next turn.
  const Deadline since = link_->unconnected_since();
  return since == kNever ? kNever : since + doubt_of(timeout());
}

void Session::look_for_refusal() {
  if (connected() || expired()) return second_.reset();
  if (left_until(doubtful_from()) > Duration::zero()) return;
  if (second_ && second_->connected()) {
    client_->give_up();
    return second_.reset();
  }
  second_ = std::make_unique<SecondSession>(loop_, options_, names_.addresses());
}

void Session::check_answers() {
  std::optional<Stuck> stuck = client_->stuck();
  if (!stuck || (enduring_ && awaiting_ == Awaiting::all_but_reported)) return;
  std::string& path = stuck->request.path;
  if (path.starts_with(options_.servers.chroot)) path.erase(0, options_.servers.chroot.size());
  if (path.empty()) path += '/';
  const std::string text = describe(*stuck, options_.servers.text());
  if (!enduring_) {
    awaiting_ = Awaiting::nothing;
    throw Failure(ExitStatus::unavailable, fmt::format("{}: {}", purpose_, text));
  }
  awaiting_ = Awaiting::all_but_reported;
  host::remark(fmt::format("zklock: {}; trying on\n", text));
}

bool Session::is_ready() const {
  return expired() || (connected() && !client_->is_ending() && BootClock::now() >= client_->again_at());
}

// Returns until when the server wants no request. A session that ends waits for the end of its connection.
Deadline Session::pause_end() const {
  return connected() && !client_->is_ending() ? client_->again_at() : kNever;
}

void Session::ready() {
  while (!is_ready()) {
    if (left_until(until_) == Duration::zero()) fail_timed_out();
    turn(std::min(until_, pause_end()));
  }
  check_alive();
}

void Session::check_alive() const {
  if (expired()) throw SessionOver(purpose_);
}

void Session::wait_for(const Call& call) {
  while (!call->done) {
    if (left_until(until_) == Duration::zero()) fail_timed_out();
    turn(until_);
  }
}

Answer Session::await(const Call& call) {
  wait_for(call);
  const bool over = call->answer.code == Code::unknown && call->answer.number == kSaysExpired;
  if (over && connected() && client_->says_over()) ask_whether_local(call);
  if (call->answer.code == Code::expired) throw SessionOver(purpose_);
  return call->answer;
}

// A leader calls a session expired that a follower keeps to itself, but only where an ephemeral node is to be made
// (LeaderSessionTracker.checkGlobalSession); in a transaction, the follower hands that on as it is.
void Session::ask_whether_local(const Call& call) {
  const Call barrier = client_->barrier();
  wait_for(barrier);
  if (barrier->answer.code == Code::unknown || barrier->answer.code == Code::expired) {
    return client_->leave_connection();
  }
  call->answer.code = Code::unexpected;
  call->answer.number = kOnLocalSession;
}

bool Session::settle_connection(Deadline until) {
  while (awaiting_ != Awaiting::nothing && !is_ready() && left_until(until) > Duration::zero()) {
    loop_.turn(std::min(until, pause_end()));
  }
  return awaiting_ != Awaiting::nothing && connected() && !expired();
}

bool Session::settle(const Call& call, Deadline until) {
  while (awaiting_ != Awaiting::nothing && !call->done && left_until(until) > Duration::zero()) loop_.turn(until);
  return call->done;
}

Answer Session::ask(const Send& send) {
  for (;;) {
    ready();
    const Call call = send(*client_);
    end_if_last();
    const Answer answer = await(call);
    if (answer.code != Code::unknown) return answer;
  }
}

// Both are sent again, because an answer to one alone may have come through another connection.
std::pair<Answer, Answer> Session::ask_both(const Send& first, const Send& second) {
  for (;;) {
    ready();
    const Call one = first(*client_);
    const Call other = second(*client_);
    end_if_last();
    std::pair<Answer, Answer> answers{await(one), await(other)};
    if (answers.first.code != Code::unknown && answers.second.code != Code::unknown) return answers;
  }
}

Answer Session::transact(const std::vector<Step>& steps) {
  ready();
  return await(client_->transact(steps));
}

Answer Session::read(const std::string& path, const Watch& watch) {
  return ask([&](Client& client) { return client.read(path, watch); });
}

Answer Session::exists(const std::string& path, const Watch& watch) {
  return ask([&](Client& client) { return client.exists(path, watch); });
}

Answer Session::children(const std::string& path, const Watch& watch) {
  return ask([&](Client& client) { return client.children(path, watch); });
}

Answer Session::synced_read(const std::string& path) {
  const auto sync = [&](Client& client) { return client.sync(path); };
  return ask_both(sync, [&](Client& client) { return client.read(path); }).second;
}

Answer Session::synced_children(const std::string& path, const Watch& watch) {
  const auto sync = [&](Client& client) { return client.sync(path); };
  return ask_both(sync, [&](Client& client) { return client.children(path, watch); }).second;
}

Answer Session::settled_children(const std::string& path) {
  const auto barrier = [](Client& client) { return client.barrier(); };
  return ask_both(barrier, [&](Client& client) { return client.children(path); }).second;
}

void Session::make_node(const std::string& path, CreateMode mode) {
  Rounds rounds("cannot make " + path);
  for (;;) {
    ready();
    const Answer made = await(client_->create(path, "", mode));
    if (made.code == Code::ok || made.code == Code::node_exists) return;
    if (made.code == Code::no_node) {
      rounds.next();
      make_parents(path);
    } else if (made.code == Code::unsupported) {
      mode = CreateMode::persistent;
    } else if (made.code != Code::unknown) {
      throw failure_of(fmt::format("cannot make {}", path), made);
    }
  }
}

void Session::make_parents(const std::string& path) {
  const std::string parent = parent_of(path);
  if (parent.empty()) return make_chroot(options_.servers.chroot);
  make_node(parent, CreateMode::persistent);
}

// Begins at the bottom, because the client may have no permission above the first node that is missing.
void Session::make_chroot(const std::string& part) {
  for (;;) {
    ready();
    const Answer made = await(client_->create_on_the_way_to_chroot(part));
    if (made.code == Code::ok || made.code == Code::node_exists) return;
    if (made.code == Code::no_node && part.rfind('/') > 0) {
      make_chroot(part.substr(0, part.rfind('/')));
    } else if (made.code != Code::unknown) {
      throw failure_of(fmt::format("cannot make the chroot {}", part), made);
    }
  }
}

void Session::fail_insecure(const Link::TlsTrouble& trouble) const {
  const auto& [server, failure] = trouble;
  const bool refused = failure.kind == host::TlsFailure::Kind::refused;
  throw Failure(refused ? ExitStatus::refused : ExitStatus::unavailable,
                fmt::format("cannot reach ZooKeeper at {} (from {}): {}: {}; {}", options_.servers.text(),
                            options_.servers.origin, server, failure.trouble, failure.remedy));
}

void Session::fail_unreachable(Duration waited) const {
  if (const auto trouble = link_->tls_trouble()) fail_insecure(*trouble);
  const char* remedy = "zklock health looks at each of them";
  if (options_.servers.origin == ServerList::kDefaultOrigin) {
    remedy = "name your servers with --servers or ZKLOCK_SERVERS";
  } else if (!options_.tls && is_taken_by_stranger()) {
    remedy = "zklock health looks at each of them; if the port is one for TLS, give --tls";
  }
  const std::string& reason = last_trouble();
  throw Failure(ExitStatus::unavailable,
                fmt::format("cannot reach ZooKeeper at {} (from {}): no server answered in {}{}; {}",
                            options_.servers.text(), options_.servers.origin, format_duration(waited),
                            reason.empty() ? "" : fmt::format(" ({})", reason), remedy));
}

void Session::fail_timed_out() const {
  if (!answered_) fail_unreachable(BootClock::now() - opened_);
  throw Failure(ExitStatus::busy,
                fmt::format("{}: no answer in time from ZooKeeper at {}", purpose_, options_.servers.text()));
}

namespace {

// The most requests of one kind that may be unanswered. Requests with short answers begin with that many. Lists and
// data begin with fewer, because it is not known how long they are.
constexpr size_t kMostUnanswered = 1000;
constexpr size_t kFirstUnanswered = 100;
constexpr size_t kMostBytes = 4 * 1024 * 1024;  // in the answers to one window

// The number of requests that may be unanswered. It doubles after each window of answers that was short.
class Window {
 public:
  explicit Window(size_t width) : width_(width) {}

  size_t width() const { return width_; }

  void note(const Answer& answer) {
    bytes_ += answer.data.size();
    for (const std::string& name : answer.names) bytes_ += name.size();
    if (bytes_ > kMostBytes) width_ = std::min(width_, kFirstUnanswered);
    if (++answers_ < width_) return;
    if (bytes_ <= kMostBytes / 2) width_ = std::min(2 * width_, kMostUnanswered);
    answers_ = bytes_ = 0;
  }

 private:
  size_t width_;
  size_t answers_ = 0;  // since it has had this width
  size_t bytes_ = 0;    // in those
};

// Makes a call for each path, and returns when all are answered. If it throws, `calls` has the answers that came
// before.
template <typename Item, typename Ask>
void ask_all(Session& session, const std::vector<Item>& paths, Window window, Ask ask, std::vector<Call>& calls) {
  std::deque<size_t> asked;  // indices of what is unanswered
  const auto send = [&](size_t index) {
    calls[index] = ask(session.client(), paths[index]);
    asked.push_back(index);
  };
  size_t next = 0;
  while (next < paths.size() || !asked.empty()) {
    if (next < paths.size()) {
      session.ready();
      while (next < paths.size() && asked.size() < window.width()) send(next++);
      if (next == paths.size()) session.end_if_last();
    }
    const size_t index = asked.front();
    const Answer answer = session.await(calls[index]);
    asked.pop_front();
    if (answer.code != Code::unknown) {
      window.note(answer);
      continue;
    }
    session.ready();
    send(index);
  }
}

// Takes the answers out of the calls. A missing one is Code::expired.
std::vector<Answer> answers_to(const std::vector<Call>& calls) {
  std::vector<Answer> answers(calls.size());
  for (size_t i = 0; i < calls.size(); ++i) {
    const bool answered = calls[i] && calls[i]->done && calls[i]->answer.code != Code::unknown;
    if (answered) answers[i] = std::move(calls[i]->answer);
    if (!answered) answers[i].code = Code::expired;
  }
  return answers;
}

template <typename Item, typename Ask>
std::vector<Answer> ask_all(Session& session, const std::vector<Item>& paths, Window window, Ask ask) {
  std::vector<Call> calls(paths.size());
  ask_all(session, paths, window, ask, calls);
  return answers_to(calls);
}

const Window kShortAnswers(kMostUnanswered);
const Window kLongAnswers(kFirstUnanswered);

}  // namespace

std::vector<Answer> ask_together(Session& session, const std::vector<Session::Send>& requests) {
  for (;;) {
    session.ready();
    std::vector<Call> calls;
    for (const Session::Send& send : requests) calls.push_back(send(session.client()));
    session.end_if_last();
    std::vector<Answer> answers;
    for (const Call& call : calls) answers.push_back(session.await(call));
    if (std::ranges::find(answers, Code::unknown, &Answer::code) == answers.end()) return answers;
  }
}

std::vector<Answer> answer_all(Session& session, const std::vector<Session::Send>& requests) {
  return ask_all(session, requests, kLongAnswers,
                 [](Client& client, const Session::Send& send) { return send(client); });
}

std::vector<Answer> read_all(Session& session, const std::vector<std::string>& paths, size_t bytes) {
  return ask_all(session, paths, bytes <= kMostBytes ? kShortAnswers : kLongAnswers,
                 [](Client& client, const std::string& path) { return client.read(path); });
}

std::vector<Answer> stat_all(Session& session, const std::vector<std::string>& paths) {
  return ask_all(session, paths, kShortAnswers,
                 [](Client& client, const std::string& path) { return client.exists(path); });
}

std::vector<Answer> settled_stat_all(Session& session, const std::vector<std::string>& paths) {
  if (paths.empty()) return {};
  for (;;) {
    session.ready();
    const uint64_t connections = session.client().connections();
    const Call barrier = session.client().barrier();
    std::vector<Answer> answers = stat_all(session, paths);
    const Code passed = session.await(barrier).code;
    // Some may have been answered by another server.
    if (passed != Code::unknown && connections == session.client().connections()) return answers;
  }
}

std::vector<Answer> children_all(Session& session, const std::vector<std::string>& paths, size_t bytes) {
  return ask_all(session, paths, bytes <= kMostBytes ? kShortAnswers : kLongAnswers,
                 [](Client& client, const std::string& path) { return client.children(path); });
}

std::vector<Answer> watch_children_all(Session& session, const std::map<std::string, Watch>& watches) {
  std::vector<std::string> paths;
  for (const auto& [path, watch] : watches) paths.push_back(path);
  const auto ask = [&](Client& client, const std::string& path) { return client.children(path, watches.at(path)); };
  return ask_all(session, paths, kLongAnswers, ask);
}

std::vector<Answer> remove_all(Session& session, const std::vector<std::string>& paths) {
  std::vector<Session::Send> removals;
  for (const std::string& path : paths) {
    removals.emplace_back([&path](Client& client) { return client.remove(path); });
  }
  return change_all(session, removals);
}

std::vector<Answer> change_all(Session& session, const std::vector<Session::Send>& requests) {
  std::vector<Call> calls(requests.size());
  const auto ask = [](Client& client, const Session::Send& send) { return send(client); };
  try {
    ask_all(session, requests, kShortAnswers, ask, calls);
  } catch (const SessionOver&) {  // what is missing says so
  }
  return answers_to(calls);
}

}  // namespace zklock::zk
