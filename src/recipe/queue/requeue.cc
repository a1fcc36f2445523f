// SPDX-License-Identifier: Apache-2.0
#include "base/rounds.h"
#include "recipe/queue/awaited.h"
#include "recipe/queue/upkeep.h"
#include "zk/path.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace zklock::recipe {

using zk::Answer;
using zk::Code;
using zk::Step;
using Paths = std::vector<std::string>;

namespace {

// How many dead letters are moved at once: at first, and at most. The number doubles as long as the letters are small.
constexpr size_t kFirstMoves = 32;
constexpr size_t kMostMoves = 256;
constexpr size_t kSmallMoves = 1024 * 1024;  // bytes of all letters that are moved at once

// Puts the dead letters of one priority back, many at a time.
class Requeuer {
 public:
  // `items` is the list of the segments that take the letters.
  Requeuer(zk::Session& session, const QueueLayout& layout, const Answer& items, QueueTail tail, std::string tried,
           int64_t& moved)
      : session_(session),
        layout_(layout),
        items_(items),
        tail_(std::move(tail)),
        tried_(std::move(tried)),
        moved_(moved) {}

  // Moves the letters that are still there, with all transactions in flight at once. Repeats what another client was in
  // the way of, or whose answer was lost. Returns the size of the letters in bytes.
  size_t move(const Paths& paths) {
    letters_.clear();
    for (const std::string& path : paths) letters_.push_back({path});
    size_t bytes = 0;
    for (Rounds rounds(tried_); !letters_.empty(); rounds.next()) {
      bytes = std::max(bytes, read());
      if (letters_.empty()) break;
      send();
      settle();
    }
    return bytes;
  }

 private:
  struct Letter {
    std::string path;
    bool doubtful = false;  // a transaction that moves it may have been carried out
    int failures = 0;       // in a row, of the kind that a node below it would cause
    bool orphan = false;    // its push was awaited, and is gone: it goes back without the tag
    Answer item = {};
    zk::Call call = nullptr;
    bool noted = false;  // the answer to `call`
  };

  static bool is_moved(const Letter& letter) { return letter.call->answer.code == Code::ok; }

  // A letter that is gone counts as moved if a transaction of ours was in doubt. Otherwise, another client has moved or
  // removed it.
  size_t read() {
    std::vector<Answer> items = read_all(session_, paths_of(letters_));
    const std::vector<bool> orphans = without_counter(session_, layout_, paths_of(letters_), Count::back);
    size_t bytes = 0;
    for (size_t i = 0; i < items.size(); ++i) {
      Letter& letter = letters_[i];
      letter.item = std::move(items[i]);
      letter.orphan = orphans[i];
      bytes += letter.item.data.size();
      if (letter.item.code == Code::no_node) {
        moved_ += letter.doubtful;
      } else if (letter.item.code != Code::ok) {
        throw zk::failure_of(tried_, letter.item);
      } else if (letter.item.stat.children > 1 || letter.failures > 1) {
        check_children(letter);
      }
    }
    std::erase_if(letters_, [](const Letter& letter) { return letter.item.code == Code::no_node; });
    return bytes;
  }

  // A letter with a foreign node below it can never be moved, however often it is tried.
  void check_children(const Letter& letter) {
    const std::string foreign = foreign_below(session_, letter.path);
    if (!foreign.empty()) throw not_ours(tried_, foreign);
  }

  void send() {
    if (!tail_.found()) tail_.find_in(items_);
    session_.ready();
    for (Letter& letter : letters_) {
      letter.call = session_.client().transact(steps_to_move(letter));
      letter.noted = false;
      tail_.count(1);
    }
  }

  void settle() {
    std::optional<Answer> refused;
    try {
      for (Letter& letter : letters_) note(letter, session_.await(letter.call), refused);
    } catch (...) {
      for (const Letter& letter : letters_) moved_ += !letter.noted && letter.call->done && is_moved(letter);
      throw;
    }
    if (refused) throw zk::failure_of(tried_, *refused);
    std::erase_if(letters_, is_moved);
    // find() syncs, so what is read next is not older than what was done.
    if (!letters_.empty()) tail_.find();
  }

  void note(Letter& letter, const Answer& answer, std::optional<Answer>& refused) {
    const bool missing = answer.code == Code::no_node || answer.code == Code::not_empty;
    letter.failures = missing ? letter.failures + 1 : 0;
    letter.doubtful |= answer.code == Code::unknown;
    letter.noted = true;
    moved_ += is_moved(letter);
    if (is_moved(letter)) tail_.note_last(answer.path);
    if (!is_moved(letter) && !is_overtaken(answer.code)) refused = answer;
  }

  std::vector<Step> steps_to_move(const Letter& letter) const {
    const std::string stem = tail_.stem(letter.orphan ? "" : tags_for(push_of(letter.path)));
    std::vector<Step> steps = {{Step::Kind::check, tail_.path(), "", 0},
                               {Step::Kind::create, stem, letter.item.data, -1, zk::CreateMode::persistent_sequential}};
    if (letter.item.stat.children > 0) steps.push_back({Step::Kind::remove, why_of(letter.path)});
    steps.push_back({Step::Kind::remove, letter.path});
    if (!letter.orphan) put_count(layout_, letter.path, Count::back, steps);
    tail_.put_seal(1, steps);
    return steps;
  }

  zk::Session& session_;
  const QueueLayout& layout_;
  const Answer& items_;
  QueueTail tail_;
  std::string tried_;
  int64_t& moved_;
  std::vector<Letter> letters_;
};

}  // namespace

void requeue(zk::Session& session, const QueueLayout& layout, const FoundQueue& found, std::set<std::string>& ids,
             int64_t& moved) {
  const bool all = ids.empty();
  const std::string tried = fmt::format("cannot requeue to {}", layout.queue);
  size_t width = kFirstMoves;
  std::optional<Requeuer> requeuer;
  std::optional<int> priority;
  for (const Segment& segment : segments_in(layout.dead(), found.lists[1])) {
    Paths wanted = list_items(session, layout.dead(), segment);
    if (!all) std::erase_if(wanted, [&](const std::string& path) { return ids.erase(id_of(path)) == 0; });
    if (std::exchange(priority, segment.priority) != segment.priority) {
      QueueTail tail(session, layout.items(), segment.priority, tried);
      requeuer.emplace(session, layout, found.lists[0], std::move(tail), tried, moved);
    }
    for (std::span<const std::string> left = wanted; !left.empty();) {
      const auto next = left.first(std::min(width, left.size()));
      left = left.subspan(next.size());
      const size_t bytes = requeuer->move({next.begin(), next.end()});
      if (bytes > kSmallMoves) width = kFirstMoves;
      if (bytes < kSmallMoves && next.size() == width) width = std::min(2 * width, kMostMoves);
    }
  }
}

}  // namespace zklock::recipe
