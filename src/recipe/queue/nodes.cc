// SPDX-License-Identifier: Apache-2.0
#include "recipe/queue/nodes.h"

#include "base/contains.h"
#include "base/rounds.h"
#include "base/text.h"
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

// Only a node with data can be a queue. Without its data, its Stat says the rest.
Site site_of(zk::Session& session, const std::string& queue, std::vector<Answer> above, std::string_view tried) {
  const Names paths = nodes_above(queue);
  Names with_data;
  for (size_t i = 0; i < paths.size(); ++i) {
    if (above[i].stat.data_length > 0) with_data.push_back(paths[i]);
  }
  const std::vector<Answer> reads = zk::read_all(session, with_data);
  auto read = reads.begin();
  for (Answer& node : above) {
    if (node.stat.data_length > 0) node = *read++;
  }
  return check_site(session, queue, above, tried);
}

// Returns the answers about the sync, the mark, the folders and the nodes `above`. The sync is there so that a queue
// made through another server is not missed. Of the nodes above, only the Stats are asked for: their data may be long,
// and is of no use if there is a queue.
std::vector<Answer> ask_about(zk::Session& session, const std::string& queue, const Names& folders, const Names& above,
                              uint64_t& connections) {
  const auto sync = [&](zk::Client& client) {
    connections = client.connections();
    return client.sync(queue);
  };
  std::vector<zk::Session::Send> requests{sync, [&](zk::Client& client) { return client.read(queue); }};
  for (const std::string& path : folders) {
    requests.emplace_back([&path](zk::Client& client) { return client.children(path); });
  }
  for (const std::string& path : above) {
    requests.emplace_back([&path](zk::Client& client) { return client.exists(path); });
  }
  return zk::ask_together(session, requests);
}

FoundQueue look(zk::Session& session, const QueueLayout& layout, const Names& folders, const Names& above,
                std::string_view tried, bool to_delete = false) {
  FoundQueue found;
  const std::vector<Answer> answers = ask_about(session, layout.queue, folders, above, found.connections);
  const auto lists = answers.begin() + 2;
  const auto stats = lists + static_cast<ptrdiff_t>(folders.size());
  const Answer& mark = answers[1];
  if (mark.code == Code::no_node) {
    if (!above.empty()) found.site = site_of(session, layout.queue, {stats, answers.end()}, tried);
    return found;
  }
  if (mark.code != Code::ok) throw zk::failure_of(tried, mark);
  found.mark = mark_of(mark.data);
  if (found.mark != PathMark::leaving_queue || !to_delete) check_mark(found.mark, PathUse::queue, tried);
  found.exists = true;
  found.version = mark.stat.version;
  found.lists.assign(lists, stats);
  return found;
}

// Returns what a look at a queue shows that we have just made.
FoundQueue new_queue(const QueueLayout& layout, const Names& folders, uint64_t connections) {
  FoundQueue made{true, {}, PathMark::queue, 0, connections};
  for (const std::string& path : folders) {
    made.lists.push_back({contains(layout.folders(), path) ? Code::ok : Code::no_node});
  }
  return made;
}

}  // namespace

FoundQueue look_at_queue(zk::Session& session, const QueueLayout& layout, const Names& folders,
                         std::string_view tried) {
  return look(session, layout, folders, {}, tried);
}

FoundQueue look_at_queue_to_delete(zk::Session& session, const QueueLayout& layout, const Names& folders,
                                   std::string_view tried) {
  return look(session, layout, folders, {}, tried, true);
}

FoundQueue look_at_queue_or_site(zk::Session& session, const QueueLayout& layout, const Names& folders,
                                 std::string_view tried) {
  check_site_by_name(session, layout.queue, tried);
  return look(session, layout, folders, nodes_above(layout.queue), tried);
}

zk::Call send_making(zk::Session& session, const Site& site, const std::vector<Step>& steps) {
  for (const std::string& node : site.missing) session.client().create(node, "", zk::CreateMode::persistent);
  return session.client().transact(steps);
}

FoundQueue make_queue(zk::Session& session, const QueueLayout& layout, const Names& folders, std::string_view tried) {
  for (Rounds rounds(tried);; rounds.next()) {
    FoundQueue found = look_at_queue_or_site(session, layout, folders, tried);
    if (found.exists) return found;
    session.ready();
    const uint64_t connections = session.client().connections();
    const Answer made = session.await(send_making(session, found.site, steps_to_make(layout)));
    if (made.code == Code::ok) return new_queue(layout, folders, connections);
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

SegmentWalk::Listed SegmentWalk::next() {
  const std::string path = segment_path(folder_, segments_[next_++]);
  Answer list{Code::unknown};
  if (ahead_) list = session_.await(std::exchange(ahead_, nullptr));
  if (list.code == Code::unknown) list = session_.children(path);
  return {path, list.stat, item_paths(path, names_in(path, list))};
}

void SegmentWalk::ask_ahead() {
  if (is_at_end() || ahead_) return;
  session_.ready();
  ahead_ = session_.client().children(segment_path(folder_, segments_[next_]));
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

std::vector<Step> QueueTail::begin() {
  take({segment_.priority, 0}, 0);
  return steps_to_open(folder_, 0, segment_);
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
  const Answer made = session_.transact(steps_to_open(folder_, folder_version, segment));
  if (made.code != Code::ok && !is_overtaken(made.code)) throw zk::failure_of(tried_, made);
  if (made.code == Code::ok) take(segment, 0);
  return made.code == Code::ok;
}

void QueueTail::put_seal(int64_t items, std::vector<Step>& steps) const {
  if (is_filled_by(items)) std::ranges::move(steps_to_seal(folder_, segment_), std::back_inserter(steps));
}

void QueueTail::note_last(const std::string& item, int64_t underway) {
  const std::string name = zk::name_of(item);
  const auto last = parse_item(name);
  if (!last || zk::parent_of(item) != path()) return;
  made_ = std::max(made_, last->number + 1 + underway);
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
