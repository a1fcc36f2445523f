// SPDX-License-Identifier: Apache-2.0
// zklock show --follow: prints a line for each change of the holders of locks and of the waiting contenders.
#include "base/text.h"
#include "base/time.h"
#include "command/child/watching.h"
#include "command/cli/output.h"
#include "command/lock/contender.h"
#include "command/lock/locks.h"
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

const char* name_of(LockEvent event) {
  switch (event) {
    case LockEvent::released: return "released";
    case LockEvent::left: return "left";
    case LockEvent::holding: return "holding";
    case LockEvent::acquired: return "acquired";
    case LockEvent::waiting: return "waiting";
  }
  return "";
}

// The node's own path says whether it is of a lock or of slots, because the lock's may have another use by now.
ShownContender shown_in(const LockChange& change, const std::string& path) {
  const bool of_lock = zk::parent_of(change.who.node) == path;
  ShownContender shown = shown_at(path, of_lock ? recipe::PathUse::lock : recipe::PathUse::slots, change.who);
  shown.state.clear();  // the event says more
  shown.position = static_cast<int64_t>(change.position);
  return shown;
}

class FollowedLocks : public WatchSubject {
 public:
  FollowedLocks(zk::Session& session, const std::vector<std::string>& paths, bool json) : json_(json) {
    for (const std::string& path : paths) {
      locks_.emplace_back(session, path, "cannot follow " + path);
      width_ = std::max(width_, printable(path).size());
    }
  }

  void look() override {
    for (WatchedLock& lock : locks_) {
      for (const LockChange& change : lock.look()) {
        news_ += json_ ? json_of(change, lock.path()) : line_of(change, lock.path());
      }
    }
  }

  Deadline due() const override {
    Deadline due = kNever;
    for (const WatchedLock& lock : locks_) due = std::min(due, lock.due());
    return due;
  }

  bool has_news() const override { return !news_.empty(); }
  std::string tell() override { return std::exchange(news_, ""); }
  host::Launch tell_command() override { return {}; }

 private:
  // The first columns have fixed widths, because later lines are not known yet.
  std::string line_of(const LockChange& change, const std::string& path) const {
    const ShownContender shown = shown_in(change, path);
    std::string line = fmt::format("{}  {:<8}  {:<{}}  {:>3}", utc_now(), name_of(change.event), printable(path),
                                   width_, change.position == 0 ? "-" : fmt::format("{}", change.position));
    static const auto fields = select(contender_fields(), {"HOST", "PID", "COMMAND", "LABEL"});
    for (const Field<ShownContender>& field : fields) {
      const std::string cell = cell_of(field.value(shown));
      line += fmt::format("  {}", cell.empty() ? "-" : cell);
    }
    return line + '\n';
  }

  static std::string json_of(const LockChange& change, const std::string& path) {
    nlohmann::ordered_json json;
    json["time"] = utc_now();
    json["event"] = name_of(change.event);
    json["path"] = path;
    if (change.position != 0) json["position"] = change.position;
    if (change.lasted) {
      json[change.event == LockEvent::released ? "held" : "waited"] = seconds_of(*change.lasted);
    }
    put_members(json, contender_fields(), shown_in(change, path));
    return json_line(json);
  }

  bool json_;
  size_t width_ = 0;
  std::deque<WatchedLock> locks_;
  std::string news_;  // lines that are not printed yet
};

}  // namespace

int follow_locks(const Call& call, const std::vector<std::string>& paths, bool json) {
  WatchJob job(call, fmt::format("{}", fmt::join(paths, " ")));
  FollowedLocks locks(job.session(), paths, json);
  return job.run(locks);
}

}  // namespace zklock::command
