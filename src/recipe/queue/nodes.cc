// SPDX-License-Identifier: Apache-2.0
#include "recipe/queue/nodes.h"

#include "base/rounds.h"
#include "base/text.h"
#include "recipe/use.h"
#include "zk/path.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include <fmt/format.h>

namespace zklock::recipe {

using zk::Answer;
using zk::Code;
using zk::Step;

namespace {

using Names = std::vector<std::string>;

// Returns no names if there is no node at `path`.
Names names_in(const std::string& path, const Answer& list) {
  if (list.code == Code::ok || list.code == Code::no_node) return list.names;
  throw zk::failure_of(fmt::format("cannot list {}", path), list);
}

std::optional<Segment> last_of(const Names& names, int priority) {
  std::optional<Segment> last;
  for (const Segment& segment : segments_of(names)) {
    if (segment.priority == priority) last = segment;
  }
  return last;
}

}  // namespace

// The sync is there so that a queue made through another server is not missed.
FoundQueue look_at_queue(zk::Session& session, const QueueLayout& layout, const Names& folders,
                         std::string_view tried) {
  for (;;) {
    session.ready();
    zk::Client& client = session.client();
    const uint64_t connections = client.connections();
    std::vector<zk::Call> calls{client.sync(layout.queue), client.read(layout.queue)};
    for (const std::string& folder : folders) calls.push_back(client.children(folder));
    std::vector<Answer> answers;
    for (const zk::Call& call : calls) answers.push_back(session.await(call));
    if (std::ranges::any_of(answers, [](const Answer& answer) { return answer.code == Code::unknown; })) continue;
    const Answer& mark = answers[1];
    if (mark.code == Code::no_node) return {};
    if (mark.code != Code::ok) throw zk::failure_of(tried, mark);
    check_mark(mark_of(mark.data), PathUse::queue, tried);
    return {true, {answers.begin() + 2, answers.end()}, connections};
  }
}

FoundQueue make_queue(zk::Session& session, const QueueLayout& layout, const Names& folders, std::string_view tried) {
  check_site_by_name(session, layout.queue, tried);
  for (Rounds rounds(tried);; rounds.next()) {
    FoundQueue found = look_at_queue(session, layout, folders, tried);
    if (found.exists) return found;
    const Site site = check_site(session, layout.queue, tried);
    session.ready();
    for (const std::string& node : site.missing) session.client().create(node, "", zk::CreateMode::persistent);
    const uint64_t connections = session.client().connections();
    const Answer made = session.await(session.client().transact(steps_to_make(layout)));
    if (made.code == Code::ok) return {true, std::vector<Answer>(folders.size()), connections};
    if (!is_overtaken(made.code)) throw zk::failure_of(tried, made);
    if (made.code == Code::no_node) session.make_parents(layout.queue);
  }
}

bool is_overtaken(Code code) {
  return code == Code::no_node || code == Code::node_exists || code == Code::not_empty || code == Code::bad_version ||
         code == Code::unknown;
}

std::vector<Segment> segments_in(const std::string& folder, const Answer& list) {
  return segments_of(names_in(folder, list));
}

Names list_items(zk::Session& session, const std::string& folder, const Segment& segment) {
  const std::string path = segment_path(folder, segment);
  return item_paths(path, names_in(path, session.children(path)));
}

Failure not_ours(std::string_view tried, const std::string& node) {
  return {ExitStatus::bad_data, fmt::format("{}: {} is not zklock's; remove that first", tried, printable(node))};
}

std::string foreign_below(zk::Session& session, const std::string& item) {
  for (const std::string& child : {claim_of(item), why_of(item)}) {
    const Names names = session.children(child).names;
    if (!names.empty()) return child + "/" + names.front();
  }
  for (const std::string& name : session.children(item).names) {
    const std::string child = item + "/" + name;
    if (child != claim_of(item) && child != why_of(item)) return child;
  }
  return "";
}

zk::Call remove_if_done(zk::Session& session, const std::string& segment, const zk::Stat& stat) {
  if (!is_sealed(stat) || stat.children > 0) return nullptr;
  return session.client().transact({{Step::Kind::remove, segment, "", stat.version}});
}

// Meanwhile, a consumer may take the item under a new claim, whose version is 0. The write gives the old claim another
// version and shows in which session it is. Then only that version is removed.
bool remove_left_claim(zk::Session& session, const std::string& item, const zk::Stat& claim) {
  if (is_ephemeral(claim)) return false;
  session.ready();
  const Answer marked = session.await(session.client().write(claim_of(item), "", claim.version));
  if (marked.code != Code::ok || is_ephemeral(marked.stat)) return false;
  return session.transact({{Step::Kind::remove, claim_of(item), "", marked.stat.version}}).code == Code::ok;
}

void QueueTail::find() {
  std::optional<Segment> sealed;
  for (Rounds rounds(tried_);; rounds.next()) {
    const Answer list = session_.synced_children(folder_);
    if (list.code == Code::no_node) {
      throw Failure(ExitStatus::bad_data, fmt::format("{}: the queue was deleted meanwhile", tried_));
    }
    if (list.code != Code::ok) throw zk::failure_of(tried_, list);
    const auto last = last_of(list.names, segment_.priority);
    const Answer stat = last ? session_.exists(segment_path(folder_, *last)) : Answer();
    if (stat.code == Code::no_node) continue;
    if (stat.code != Code::ok) throw zk::failure_of(tried_, stat);
    if (last && !is_sealed(stat.stat)) return take(*last, made_in(stat.stat));
    // A seal makes the next segment without a write to the folder, so it may be newer than the list.
    if (last && sealed != last) {
      sealed = last;
      continue;
    }
    if (open(last ? last->next() : Segment{segment_.priority, 0}, list.stat.version)) return;
  }
}

void QueueTail::find_in(const Answer& list) {
  const auto last = last_of(list.names, segment_.priority);
  if (last) return take(*last, 0);
  if (list.code != Code::ok || !open({segment_.priority, 0}, list.stat.version)) find();
}

void QueueTail::take(const Segment& segment, int64_t made) {
  if (segment_ != segment) token_ = make_token();
  segment_ = segment;
  made_ = made;
  found_ = true;
}

// The folder's version proves that no other client has opened a segment here since the list. Otherwise, a segment of
// that number could have been made, filled and emptied since, and a later one could be there already.
bool QueueTail::open(const Segment& segment, int folder_version) {
  if (!parse_segment(segment.name())) {
    throw Failure(ExitStatus::internal,
                  fmt::format("{}: the numbers of segments below {} are used up; use another queue", tried_, folder_));
  }
  const Answer made = session_.transact(
      {{Step::Kind::write, folder_, "", folder_version}, {Step::Kind::create, segment_path(folder_, segment)}});
  if (made.code != Code::ok && !is_overtaken(made.code)) throw zk::failure_of(tried_, made);
  if (made.code == Code::ok) take(segment, 0);
  return made.code == Code::ok;
}

void QueueTail::put_seal(int64_t items, std::vector<Step>& steps) const {
  if (is_filled_by(items)) std::ranges::move(steps_to_seal(folder_, segment_), std::back_inserter(steps));
}

void QueueTail::note_last(const std::string& item, int64_t underway) {
  const auto number = item_number(zk::name_of(item));
  if (!number || zk::parent_of(item) != path()) return;
  made_ = std::max(made_, *number + 1 + underway);
  if (!is_filled_by(0) || !session_.connected()) return;
  session_.client().transact(steps_to_seal(folder_, segment_));
  count(0);
}

void QueueTail::count(int64_t items) {
  const bool filled = is_filled_by(items);
  made_ = filled ? 0 : made_ + items;
  if (!filled) return;
  segment_ = segment_.next();
  token_ = make_token();
}

}  // namespace zklock::recipe
