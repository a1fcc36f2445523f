// SPDX-License-Identifier: Apache-2.0
#include "lives.h"

namespace zklock::model {

namespace {

const std::string kSlots = "/leases", kGate = "/locks";

bool is_wide(const Event& event) {
  return event.is("disconnected") || event.is("expired") || event.is("session") || event.is("closing") ||
         event.is("closed") || event.is("released") || event.is("lost") ||
         ((event.is("proved") || event.is("asking")) && !event.has("node"));
}

// The event after a request has not begun before it.
bool is_request(const Event& event) {
  return event.is("creating") || event.is("deleting") || event.is("watching") || event.is("recording") ||
         event.is("asking");
}

bool is_of_command(const Event& event) {
  return event.is("started") || event.is("ended") || event.is("killed by the guard");
}

// Reads one process: a life for each line, as long as its node may be there.
class Reader {
 public:
  Reader(std::vector<Life>& lives, const std::set<std::string>& leftovers) : lives_(lives), leftovers_(leftovers) {}

  void read(const Account& account) {
    taken_ = std::any_of(account.begin(), account.end(), [](const Event& event) { return event.is("taken away"); });
    const size_t before = lives_.size();
    for (const Event& event : account) take(event);
    for (auto& [line, life] : open_) {
      life.killed = true;
      life.may_expire = true;
      life.in_flight = requested_[line];
      close(life);
    }
    if (any_) lives_.erase(lives_.begin() + static_cast<ptrdiff_t>(before), lives_.end());
  }

 private:
  void take(const Event& event) {
    if (event.is("session")) timeout_ = event.number("timeout") * 1'000'000;
    if (is_wide(event) || is_of_command(event)) {
      for (auto& [line, life] : open_) note(life, event);
      if (event.is("closing")) close_all();
      return;
    }
    if (!event.has("node") || is_about_leftover(event)) return;
    const std::string line = parent_of(event.text("node"));
    if (event.is("creating") && (!open_.contains(line) || open_[line].marks.empty())) begin(event, line);
    const auto found = open_.find(line);
    if (found == open_.end()) return;
    note(found->second, event);
    requested_[line] = is_request(event);
    if (event.is("handed over") || (event.is("seen") && !event.has("predecessor"))) had_turn_.insert(line);
    if (event.is("deleted") || event.is("recorded")) end(line);
  }

  // It looks again as soon as it knows. Until then it waits for a leftover that another contender has passed.
  bool is_about_leftover(const Event& event) const {
    return event.is("left over") || (event.has("predecessor") && leftovers_.contains(event.text("predecessor")));
  }

  void begin(const Event& event, const std::string& line) {
    for (const auto& [other, life] : open_) any_ |= !had_turn_.contains(other);
    Life& life = open_[line] = Life{event.pid, timeout_, line};
    life.taken = life.removed = life.may_expire = taken_;
    since_[line] = event.at;
  }

  void note(Life& life, const Event& event) {
    const std::string& line = life.line;
    const size_t had = life.marks.size();
    if (event.is("disconnected")) life.losses.push_back(had);
    if (event.is("expired")) life.expiries.push_back(had), life.may_expire = true;
    if (event.is("delete unknown") || event.is("record unknown")) life.may_expire = life.undone = true;
    if (event.is("disconnected") || event.is("expired")) life.undone = life.may_expire = true;
    if (event.is("lost") && event.text("why") == "deleted") life.removed = life.may_expire = true;
    if (event.is("deleted") && event.number("answer") != 0) life.removed = life.may_expire = true;
    if (event.is("seen") && event.text("there") == "false") life.removed = life.may_expire = true;
    if (event.is("granted")) life.granted = true;
    if (event.has("czxid")) life.nodes.insert(event.text("node"));
    if (event.has("predecessor")) life.named.insert(event.text("predecessor"));
    if (is_request(event)) {
      // The lease asks while other requests are under way; its proof records when it was sent.
      // A success that is not recorded in time is sent again, and the first request may have been done.
      const bool again = event.is("recording") && requested_[line];
      if (!is_wide(event) && !again) since_[line] = event.at;
      return;
    }
    const bool told = !is_wide(event) || event.is("proved") || event.is("closing");
    if (told) mark(life, event);
  }

  // The result of a request made before the line's last event has not begun after that event.
  void mark(Life& life, const Event& event) {
    int64_t earliest = since_[life.line];
    if (event.has("sent") && event.is("proved")) earliest = event.number("sent");
    bool checked = false;
    if (event.is("seen") && !life.marks.empty() && life.marks.back().event.is("proved")) {
      earliest = life.marks.back().event.number("sent");
      checked = life.marks.size() > 1 && !life.marks[life.marks.size() - 2].event.is("created");
    }
    life.marks.push_back({earliest, event, life.fences.back(), checked});
    // What it proves is recorded after it.
    const int64_t before = event.is("created") ? kNeverEnds : life.fences.back();
    life.fences.push_back(event.is("proved") ? event.number("fence") : before);
    life.runs.push_back(event.is("started") || (life.runs.back() && !is_of_command(event)));
    if (!is_wide(event)) since_[life.line] = event.at;
  }

  void end(const std::string& line) {
    close(open_[line]);
    open_.erase(line);
  }
  void close_all() {
    for (auto& [line, life] : open_) close(life);
    open_.clear();
  }
  void close(Life& life) {
    if (!life.marks.empty()) lives_.push_back(std::move(life));
  }

  std::vector<Life>& lives_;
  const std::set<std::string>& leftovers_;  // nodes that no session owns, by all accounts
  int64_t timeout_ = 0;
  bool any_ = false;    // it waits in several lines at once: recipe::AnyLock, which any_model.cc has
  bool taken_ = false;  // an outsider has deleted its nodes, or ended its session, at some time
  std::map<std::string, Life> open_;
  std::map<std::string, int64_t> since_;  // when it last recorded something
  std::map<std::string, bool> requested_;
  std::set<std::string> had_turn_;  // the lines in which it has had its turn
};

bool is_shared(const std::string& node) {
  return node.find("-shared-lock-") != std::string::npos || node.find("READ__") != std::string::npos ||
         node.find("__rlock__") != std::string::npos;
}

}  // namespace

int64_t Life::ends() const {
  return marks.back().event.at + (killed || may_expire ? 2 * timeout : 0);
}

bool is_named(const std::set<std::string>& nodes, const std::set<std::string>& named) {
  return std::any_of(nodes.begin(), nodes.end(), [&](const std::string& node) { return named.contains(node); });
}

std::vector<Life> lives_in(const std::vector<Account>& accounts) {
  std::vector<Life> all;
  // A contender's own node is never one, whatever others report.
  std::set<std::string> leftovers, own;
  for (const Account& account : accounts) {
    for (const Event& event : account) {
      if (event.is("left over")) leftovers.insert(event.text("leftover"));
      if (event.is("created") || event.is("found")) own.insert(event.text("node"));
    }
  }
  for (const std::string& node : own) leftovers.erase(node);
  for (const Account& account : accounts) Reader(all, leftovers).read(account);
  std::set<std::string> granted, shared;
  for (const Life& life : all) {
    if (!life.granted) continue;
    granted.insert(life.line);
    // This is a slot, which only a contender in the gate may take (recipe::Slots).
    if (life.line.ends_with(kSlots)) granted.insert(parent_of(life.line) + kGate);
  }
  for (const Life& life : all) {
    const bool looked =
        std::any_of(life.marks.begin(), life.marks.end(), [](const Mark& mark) { return mark.event.is("seen"); });
    if (life.granted && !looked) granted.erase(life.line);  // slots themselves are no line
    if (std::any_of(life.nodes.begin(), life.nodes.end(), is_shared)) shared.insert(life.line);
  }
  std::erase_if(all, [&](const Life& life) { return !granted.contains(life.line) || shared.contains(life.line); });
  return all;
}

}  // namespace zklock::model
