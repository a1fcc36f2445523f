// SPDX-License-Identifier: Apache-2.0
#include "command/lock/follow.h"

#include "base/text.h"
#include "base/time.h"
#include "command/child/watching.h"
#include "command/cli/output.h"
#include "command/lock/contender.h"
#include "recipe/lock/watched_lock.h"
#include "zk/path.h"

#include <algorithm>
#include <deque>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace zklock::command {

namespace {

using recipe::LockChange;
using recipe::LockEvent;
using recipe::WatchedLock;

// A contender that already held the lock when we started is shown as "holding", not "acquired".
const char* name_of(LockEvent event, bool first) {
  switch (event) {
    case LockEvent::released: return "released";
    case LockEvent::left: return "left";
    case LockEvent::acquired: return first ? "holding" : "acquired";
    case LockEvent::waiting: return "waiting";
  }
  return "";
}

// The node's own path says whether it is of a lock or of slots, because the lock's may have another use by now.
ShownContender shown_in(const LockChange& change, const std::string& path) {
  const bool of_lock = zk::parent_of(change.who.node) == path;
  Words words = words_of(change.who, of_lock ? recipe::PathUse::lock : recipe::PathUse::slots);
  words.state.clear();  // the event says more
  return {path, static_cast<int64_t>(change.position), words, change.who.node};
}

class FollowedLocks : public WatchSubject {
 public:
  FollowedLocks(zk::Session& session, const std::vector<std::string>& paths, bool json) : json_(json) {
    for (const std::string& path : paths) {
      locks_.emplace_back(session, path);
      width_ = std::max(width_, printable(path).size());
    }
  }

  void look() override {
    for (Followed& lock : locks_) look_at(lock);
  }

  Deadline due() const override {
    Deadline due = kNever;
    for (const Followed& lock : locks_) {
      due = std::min(due, lock.watched.is_stale() ? recipe::kAtOnce : lock.watched.again());
    }
    return due;
  }

  bool has_news() const override { return !news_.empty(); }
  std::string tell() override { return std::exchange(news_, ""); }
  host::Launch tell_command() override { return {}; }

 private:
  struct Followed {
    Followed(zk::Session& session, const std::string& path) : watched(session, path, "cannot follow " + path) {}

    WatchedLock watched;
    std::vector<recipe::Standing> standings = {};  // as last reported
    bool told = false;
  };

  void look_at(Followed& lock) {
    lock.watched.look();
    const auto moment = lock.told ? std::optional(BootClock::now()) : std::nullopt;
    for (const LockChange& change : advance(lock.standings, lock.watched.participants(), moment)) {
      news_ += json_ ? json_of(change, lock) : line_of(change, lock);
    }
    lock.told = true;
  }

  // The first columns have fixed widths, because later lines are not known yet.
  std::string line_of(const LockChange& change, const Followed& lock) const {
    const ShownContender shown = shown_in(change, lock.watched.path());
    std::string line = fmt::format("{}  {:<8}  {:<{}}  {:>3}", utc_now(), name_of(change.event, !lock.told),
                                   printable(lock.watched.path()), width_,
                                   change.position == 0 ? "-" : fmt::format("{}", change.position));
    static const auto fields = select(contender_fields(), {"HOST", "PID", "COMMAND", "LABEL"});
    for (const Field<ShownContender>& field : fields) {
      const std::string cell = cell_of(field.value(shown));
      line += fmt::format("  {}", cell.empty() ? "-" : cell);
    }
    return line + '\n';
  }

  static std::string json_of(const LockChange& change, const Followed& lock) {
    nlohmann::ordered_json json;
    json["time"] = utc_now();
    json["event"] = name_of(change.event, !lock.told);
    json["path"] = lock.watched.path();
    if (change.position != 0) json["position"] = change.position;
    if (change.lasted) {
      json[change.event == LockEvent::released ? "held" : "waited"] =
          std::chrono::duration<double>(*change.lasted).count();
    }
    put_members(json, contender_fields(), shown_in(change, lock.watched.path()));
    return json_line(json);
  }

  bool json_;
  size_t width_ = 0;
  std::deque<Followed> locks_;
  std::string news_;  // lines that are not printed yet
};

}  // namespace

int follow_locks(const Call& call, const std::vector<std::string>& paths, bool json) {
  WatchJob job(call, fmt::format("{}", fmt::join(paths, " ")));
  FollowedLocks locks(job.session(), paths, json);
  return job.run(locks);
}

}  // namespace zklock::command
