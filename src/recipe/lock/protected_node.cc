// SPDX-License-Identifier: Apache-2.0
#include "recipe/lock/protected_node.h"

#include "host/trace.h"
#include "recipe/line.h"
#include "zk/path.h"
#include "zk/timing.h"

#include <algorithm>
#include <array>
#include <sys/random.h>
#include <utility>

#include <fmt/format.h>

namespace zklock::recipe {

namespace {

using namespace std::chrono_literals;
using zk::Answer;
using zk::Code;

constexpr Duration kLongestWithdrawal = 5s;

}  // namespace

std::string make_uuid() {
  std::array<uint8_t, 16> bytes{};
  static_cast<void>(!getrandom(bytes.data(), bytes.size(), 0));
  bytes[6] = static_cast<uint8_t>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<uint8_t>((bytes[8] & 0x3f) | 0x80);
  std::string uuid;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) uuid += '-';
    uuid += fmt::format("{:02x}", bytes[i]);
  }
  return uuid;
}

Duration withdrawal_budget(const zk::Session& session) {
  return std::min(session.timeout() / 3, kLongestWithdrawal);
}

Answer answer_to(zk::Session& session, const zk::Call& early, const zk::Session::Send& send) {
  if (early) {
    const Answer answer = session.await(early);
    if (answer.code != Code::unknown) return answer;
  }
  return session.ask(send);
}

Held ProtectedNode::held() const {
  Held held = held_;
  held.path = parents_.front();
  held.owner = session_.id();
  return held;
}

void ProtectedNode::note_sending() {
  held_.proved = session_.proof_now();
  held_.sent = BootClock::now();
}

// A proof must leave time to do more with the node than to end again.
bool ProtectedNode::is_proved() const {
  return BootClock::now() < held_.proved + zk::heartbeat_of(session_.timeout());
}

// Only the last request counts, whatever an earlier one has proved.
void ProtectedNode::trace_proof() const {
  host::trace("proved",
              {{"node", held_.node}, {"sent", held_.sent}, {"fence", held_.proved + zk::fence_of(session_.timeout())}});
}

bool ProtectedNode::make(const std::string& stem, const std::string& data) {
  if (parent_mode_) check_site_by_name(session_, parents_.front(), tried_);
  std::optional<Site> site;  // known once the parent is missing
  if (std::exchange(no_parent_, false)) site.emplace();
  for (;;) {
    session_.ready();
    const zk::Call listed = send(stem, data, site);
    const Answer made = session_.await(entering_);
    const Answer list = session_.await(listed);
    if (made.code == Code::ok) {
      note_created("created", made.path, made.stat);
      siblings_ = list;
      trace_proof();
      return (list.code == Code::ok && is_proved()) || confirm();
    }
    if (made.code == Code::unknown) {
      host::trace("create unknown", {{"node", stem_}});
      return find();
    }
    if (made.code != Code::no_node) throw zk::failure_of(tried_, made);
    if (!parent_mode_) throw Failure(ExitStatus::bad_data, fmt::format("{}: {} was deleted", tried_, parent()));
    if (besides_.before_parents) besides_.before_parents();
    const bool again = site.has_value();
    site = check_site(session_, parents_.front(), tried_);
    // What went ahead of the create was refused, or the server does not know containers, or the chroot may be missing.
    if (!again && !site->anchor.empty()) continue;
    for (const std::string& parent : parents_) session_.make_node(parent, *parent_mode_);
  }
}

// Sends the create and the list behind it, and ahead of them the parents, once some node is known to be missing. The
// server carries out a session's requests in their order. If one fails, the create fails too.
zk::Call ProtectedNode::send(const std::string& stem, const std::string& data, const std::optional<Site>& site) {
  stem_ = parent() + "/" + stem;
  held_.node.clear();
  removal_.by_others = false;
  note_sending();
  held_.asked = held_.sent;
  host::trace("creating", {{"node", stem_}});
  zk::Client& client = session_.client();
  if (site) {
    for (const std::string& node : site->missing) client.create(node, "", zk::CreateMode::persistent);
    for (const std::string& node : parents_) client.create(node, "", *parent_mode_);
  }
  entering_ = client.create(stem_, data, zk::CreateMode::ephemeral_sequential);
  const zk::Call listed = client.children(parent());
  beside_ = besides_.send ? besides_.send(client) : nullptr;
  return listed;
}

// What was read before this list may be older than what the list shows.
void ProtectedNode::take_list(const Answer& list) {
  siblings_ = list;
  beside_.reset();
}

void ProtectedNode::note_created(const char* event, const std::string& path, const zk::Stat& stat) {
  held_.node = path;
  held_.token = stat.created;
  held_.created_ms = stat.created_ms;
  held_.seen = BootClock::now();
  host::trace(event, {{"node", path}, {"czxid", stat.created}});
}

// The create's answer was lost. Only a list after a barrier shows whether there is a node. Only its owner shows whether
// it is of use: a node of an earlier session dies with that session.
bool ProtectedNode::find() {
  const Answer list = session_.settled_children(parent());
  if (list.code != Code::ok && list.code != Code::no_node) {
    throw zk::failure_of(fmt::format("cannot list {}", parent()), list);
  }
  for (const std::string& name : list.names) {
    const std::string path = parent() + "/" + name;
    if (!path.starts_with(stem_)) continue;
    const Answer own = session_.read(path);
    if (own.code != Code::ok && own.code != Code::no_node) throw zk::failure_of("cannot read " + path, own);
    if (own.code != Code::ok || own.stat.ephemeral_owner != session_.id()) continue;
    note_created("found", path, own.stat);
    return confirm();
  }
  host::trace("not found", {{"node", stem_}});
  return false;
}

// The server numbers the nodes in the order in which they are made. So any server that shows our node, however late it
// is, shows all nodes that were made before it and are not gone. No new node ever comes before it, so once a list shows
// none before ours, that stays so. A server that does not have our create yet does not accept our session. The list
// does not show that our session lives: that is up to the last proof, which the list does not renew.
bool ProtectedNode::look_again() {
  while (is_proved()) {
    session_.ready();
    const Answer list = session_.await(session_.client().children(parent()));
    if (list.code == Code::no_node) return false;
    if (list.code == Code::unknown) continue;
    if (list.code != Code::ok) throw zk::failure_of(fmt::format("cannot list {}", parent()), list);
    take_list(list);
    if (is_proved()) return true;
  }
  return confirm();
}

// The check is a transaction, and our server answers the list after it, so the list contains all that was committed
// before. (A sync would give the list, but not a quorum's word: a leader that has lost its quorum answers it too.)
bool ProtectedNode::confirm(const zk::Watch& watch) {
  for (;;) {
    session_.ready();
    note_sending();
    host::trace("asking", {{"node", held_.node}});
    const zk::Call checked = session_.client().check({held_.node});
    const zk::Call listed = session_.client().children(parent(), watch);
    const Answer check = session_.await(checked);
    const Answer list = session_.await(listed);
    if (check.code == Code::no_node) return false;
    if (check.code == Code::unknown || list.code == Code::unknown) continue;
    if (check.code != Code::ok) throw zk::failure_of(tried_, check);
    if (list.code != Code::ok) throw zk::failure_of(fmt::format("cannot list {}", parent()), list);
    take_list(list);
    trace_proof();
    return true;
  }
}

void ProtectedNode::check_number() const {
  const auto number = number_in(name());
  if (number && !is_used_up(*number)) return;
  throw Failure(
      ExitStatus::internal,
      fmt::format("{}: the counter of {} is used up; delete that node when nobody uses it", tried_, parent()));
}

void ProtectedNode::start_removal() {
  if (!held_.node.empty() && !removal_.sent && session_.may_send()) send_removal();
}

void ProtectedNode::send_removal() {
  host::trace("deleting", {{"node", held_.node}});
  removal_.sent = session_.client().remove(held_.node);
}

bool ProtectedNode::remove(Duration budget) {
  if (stem_.empty()) return true;
  const Deadline until = std::min(BootClock::now(), session_.unconnected_since()) + budget;
  bool removed = false;
  removal_.refusal = {};
  while (!removed && removal_.refusal.code == Code::ok && left_until(until) > Duration::zero() &&
         (removal_.sent || session_.settle_connection(until))) {
    // We were interrupted while we created it: the answer may still come.
    if (held_.node.empty() && entering_ && session_.settle(entering_, until)) held_.node = entering_->answer.path;
    if (held_.node.empty()) break;  // never created, or unknown: then it goes with the session
    if (!removal_.sent) send_removal();
    const zk::Call removing = std::exchange(removal_.sent, nullptr);
    const bool first = !std::exchange(removal_.doubtful, true);
    if (!session_.settle(removing, until) || removing->answer.code == Code::unknown) {
      host::trace("delete unknown", {{"node", held_.node}});
      continue;
    }
    removed = removing->answer.code == Code::ok || removing->answer.code == Code::no_node;
    if (!removed) removal_.refusal = removing->answer;
    removal_.by_others = first && removing->answer.code == Code::no_node;
    host::trace("deleted", {{"node", held_.node}, {"answer", removing->answer.number}, {"before", removal_.by_others}});
  }
  if (removed || session_.expired()) forget();
  return stem_.empty();
}

void ProtectedNode::check_refusal(std::string_view tried) const {
  if (removal_.refusal.code == Code::expired) throw zk::SessionOver(tried);
  if (removal_.refusal.code != Code::ok) throw zk::failure_of(tried, removal_.refusal);
}

void ProtectedNode::forget() {
  stem_.clear();
  held_.node.clear();
  entering_.reset();
  removal_.sent.reset();
  removal_.doubtful = false;
}

}  // namespace zklock::recipe
