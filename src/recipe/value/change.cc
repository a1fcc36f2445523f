// SPDX-License-Identifier: Apache-2.0
#include "recipe/value/change.h"

#include "base/contains.h"
#include "base/text.h"
#include "host/trace.h"
#include "recipe/line.h"
#include "recipe/use.h"
#include "zk/path.h"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>

namespace zklock::recipe {

namespace {

using zk::Answer;
using zk::Client;
using zk::Code;
using zk::Step;
using Kind = ChangeKind;
using End = ChangeEnd;

// Throws a Failure (65) if the node is not for values: an ephemeral one, a queue or a group. `data` may be empty if it
// is not known.
void check_is_value(const std::string& path, const zk::Stat& stat, std::string_view data, const std::string& tried) {
  if (is_ephemeral(stat)) {
    throw Failure(ExitStatus::bad_data, fmt::format("{}: {} is ephemeral: it belongs to session {} and goes with it",
                                                    tried, printable(path), zk::session_name(stat.ephemeral_owner)));
  }
  const PathMark mark = mark_of(data);
  if (mark == PathMark::none) return;
  throw Failure(ExitStatus::bad_data, fmt::format("{0}: {1} is a {2} (zklock {2} delete removes it)", tried,
                                                  printable(path), is_queue(mark) ? "queue" : "group"));
}

class Change {
 public:
  Change(zk::Session& session, const ValueChange& change, const std::string& tried)
      : session_(session), change_(change), tried_(tried) {}

  ChangeResult make() {
    try {
      for (;;) {
        if (const auto result = make_in_session()) return *result;
      }
    } catch (const Failure& failure) {
      if (!in_doubt_ || failure.status() != ExitStatus::unavailable) throw;
      throw Failure(failure.status(), failure.text() + "; whether it was done is not known");
    }
  }

 private:
  bool is_removal() const { return change_.kind == Kind::remove || change_.kind == Kind::remove_version; }
  bool may_make() const { return change_.kind == Kind::set || change_.kind == Kind::create; }

  // Returns nothing if the caller must try again.
  std::optional<ChangeResult> make_in_session() {
    try {
      // Once the servers have ended the old session, what was sent in it is done or never will be.
      if (session_.expired()) session_.open();
      if (in_doubt_) return find_out();
      look();
      if (is_removal() && !before_.exists)
        return ChangeResult{change_.kind == Kind::remove ? End::absent : End::differs};
      return attempt();
    } catch (const zk::SessionOver&) {
      return std::nullopt;
    }
  }

  // Returns the answer about the node. If the node may have to be made, adds to `above` those about the nodes above it,
  // which come in the same flight.
  Answer read(std::vector<Answer>& above) {
    std::vector<zk::Session::Send> requests{[](Client& client) { return client.sync("/"); }};
    std::vector<std::string> paths{change_.path};
    if (!is_removal()) std::ranges::copy(nodes_above(change_.path), std::back_inserter(paths));
    for (const std::string& path : paths) {
      requests.emplace_back([path](Client& client) { return client.read(path); });
    }
    std::vector<Answer> answers = zk::ask_together(session_, requests);
    above.assign(answers.begin() + 2, answers.end());
    return answers[1];
  }

  void look() {
    std::vector<Answer> above;
    const Answer node = read(above);
    before_ = sight_of(node);
    site_ = {};
    check_site_by_name(session_, change_.path, tried_);
    if (before_.exists) {
      check_is_value(change_.path, node.stat, node.data, tried_);
    } else if (!is_removal()) {
      site_ = check_site(session_, change_.path, above, tried_);
      before_.around = site_.stat.child_changed;
      for (const std::string& missing : site_.missing) check_name(missing);
      check_name(change_.path);
    }
  }

  // To other programs, such a node would stand in line for a lock at its parent, for ever, because it is persistent.
  void check_name(const std::string& node) const {
    if (!number_in(zk::name_of(node)) && !parse_contender(zk::name_of(node))) return;
    throw Failure(ExitStatus::bad_data,
                  fmt::format("{}: '{}' is the name of a contender for a lock; choose another path", tried_,
                              printable(zk::name_of(node))));
  }

  // A node whose data may not be read has a Stat all the same.
  Sight sight_of(const Answer& node) {
    const bool hidden = node.code == Code::no_auth;
    const Answer answer = hidden ? session_.exists(change_.path) : node;
    if (answer.code == Code::no_node) return {};
    if (answer.code != Code::ok) throw zk::failure_of(tried_, answer);
    if (hidden) check_is_value(change_.path, answer.stat, "", tried_);
    Sight sight{true, answer.stat.created, answer.stat.version, std::nullopt, 0};
    if (!hidden) sight.is_ours = answer.data == change_.data;
    return sight;
  }

  std::optional<ChangeResult> attempt() {
    if (!before_.exists && site_.anchor.empty() && may_make()) {
      if (!is_held(session_, change_, tried_)) return ChangeResult{End::unheld};
      session_.make_parents("/" + zk::name_of(change_.path));
      return std::nullopt;
    }
    session_.ready();
    in_doubt_ = true;
    host::trace("writing", {{"value", change_.path}, {"fenced", !change_.held.empty()}});
    const zk::Call call = session_.client().transact(steps());
    if (change_.is_last) session_.end_behind();
    const Answer answer = session_.await(call);
    in_doubt_ = answer.code == Code::unknown;
    host::trace(in_doubt_ ? "write unknown" : "written", {{"value", change_.path}, {"answer", answer.number}});
    if (answer.code == Code::ok) return ChangeResult{End::done, !is_removal(), answer.stat.version};
    // To find out why takes another session.
    const bool has_reason =
        contains(std::array{Code::not_empty, Code::bad_version, Code::node_exists, Code::no_node}, answer.code);
    if (change_.is_last && has_reason) session_.reopen();
    switch (answer.code) {
      case Code::not_empty:
      case Code::bad_version: return refused(answer.code == Code::not_empty ? End::has_children : End::differs);
      case Code::node_exists: return explain_existing();
      case Code::no_node: return explain_missing();
      case Code::unknown: return std::nullopt;
      default: throw zk::failure_of(tried_, answer);
    }
  }

  std::vector<Step> steps() const {
    std::vector<Step> steps;
    for (const std::string& node : change_.held) steps.push_back({Step::Kind::check, node});
    if (is_removal()) {
      steps.push_back({Step::Kind::remove, change_.path, "", change_.version});
    } else if (change_.kind == Kind::set_version || (change_.kind == Kind::set && before_.exists)) {
      steps.push_back({Step::Kind::write, change_.path, change_.data, change_.version});
    } else {
      for (const std::string& node : site_.missing) steps.push_back({Step::Kind::create, node});
      steps.push_back({Step::Kind::create, change_.path, change_.data});
    }
    return steps;
  }

  ChangeResult refused(End end) {
    // In a new session, our server may be behind.
    const auto sync = [](Client& client) { return client.sync("/"); };
    const auto look = [this](Client& client) { return client.exists(change_.path); };
    const Answer now = session_.ask_both(sync, look).second;
    return {end, now.code == Code::ok, now.stat.version, now.stat.children};
  }

  // The node to be made exists, or one above it.
  std::optional<ChangeResult> explain_existing() {
    if (change_.kind != Kind::create) return std::nullopt;
    const ChangeResult result = refused(End::differs);
    return result.exists ? std::optional(result) : std::nullopt;
  }

  // One of the held nodes is missing, or the node to be changed, or one above it.
  std::optional<ChangeResult> explain_missing() {
    if (!is_held(session_, change_, tried_)) return ChangeResult{End::unheld};
    if (change_.kind == Kind::set_version) return refused(End::differs);
    return std::nullopt;
  }

  // Finds out what has become of our transaction. Returns nothing if the caller must try again.
  std::optional<ChangeResult> find_out() {
    const auto barrier = [](Client& client) { return client.barrier(); };
    const auto read = [&](Client& client) { return client.read(change_.path); };
    const Answer node = session_.ask_both(barrier, read).second;
    Sight after = sight_of(node);
    if (!site_.anchor.empty()) after.around = session_.exists(site_.anchor).stat.child_changed;
    switch (fate_of(change_.kind, change_.version, before_, after)) {
      case Fate::done: return ChangeResult{End::done, after.exists, after.version};
      case Fate::not_done: in_doubt_ = false; return std::nullopt;
      case Fate::unknown: break;
    }
    return ChangeResult{End::unknown, after.exists, after.version};
  }

  zk::Session& session_;
  const ValueChange& change_;
  const std::string& tried_;
  Sight before_;           // the node as it was before the change
  Site site_;              // the nodes above it, if it is to be made
  bool in_doubt_ = false;  // a transaction was sent, and it is not known whether it was done
};

}  // namespace

ChangeResult change_value(zk::Session& session, const ValueChange& change, const std::string& tried) {
  if (mark_of(change.data) != PathMark::none) {
    throw Failure(ExitStatus::bad_data,
                  fmt::format("{}: '{}' is what zklock marks a queue or a group with", tried, printable(change.data)));
  }
  return Change(session, change, tried).make();
}

bool is_held(zk::Session& session, const ValueChange& change, const std::string& tried) {
  if (change.held.empty()) return true;
  const Answer answer = session.ask([&](Client& client) { return client.check(change.held); });
  if (answer.code != Code::ok && answer.code != Code::no_node) throw zk::failure_of(tried, answer);
  return answer.code == Code::ok;
}

}  // namespace zklock::recipe
