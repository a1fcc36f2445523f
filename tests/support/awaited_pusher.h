// SPDX-License-Identifier: Apache-2.0
// Clients that wait for the ends of what they push to /q, and a look at the nodes of their pushes.
#pragma once

#include "recipe/queue/awaited.h"
#include "recipe/queue/pusher.h"
#include "support/proxied.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace zklock::test {

// Makes the nodes of a push, but pushes nothing. The sessions here are long, because a test that ends one does so
// itself.
struct AwaitedClient {
  explicit AwaitedClient(const std::string& servers, Duration session_timeout = std::chrono::seconds(60))
      : session(loop, options_for(servers, session_timeout)) {}

  // The queue is there.
  recipe::FoundQueue found() {
    return recipe::look_at_queue(session, {"/q"}, {"/q/items", "/q/awaited"}, "cannot look");
  }
  void make() {
    zk::in_sessions(session, [this] { push.make(found()); });
  }
  std::string marker() const { return "/q/pushing/" + push.token(); }

  host::Loop loop;
  zk::Session session;
  recipe::AwaitedPush push{session, {"/q"}, "cannot push to /q"};
};

// Pushes the items "1", "2" and so on. The queue may not be there yet.
struct AwaitedPusher : AwaitedClient {
  explicit AwaitedPusher(const std::string& servers, Duration session_timeout = std::chrono::seconds(60))
      : AwaitedClient(servers, session_timeout) {
    pusher.open();
  }

  // Adds as many as there is room for now.
  void feed(int last) {
    while (pushed < last && pusher.has_room()) pusher.add(fmt::format("{}", ++pushed));
    if (pushed == last) pusher.flush();
  }
  // Returns when all up to `last` are in.
  void push_up_to(int last) {
    const Deadline bound = deadline_in(std::chrono::seconds(60));
    for (feed(last); (pushed < last || !pusher.is_done()) && BootClock::now() < bound; feed(last)) {
      session.turn(deadline_in(std::chrono::milliseconds(100)));
      pusher.settle();
    }
  }
  recipe::Tally look() { return push.look(pusher.in()); }

  int pushed = 0;
  recipe::Pusher pusher{session, {"/q"}, recipe::kUsualPriority, "cannot push to /q", &push};
};

// How often each counter of a push was written.
struct Ends {
  int done = 0;
  int dead = 0;
  int purged = 0;
  int back = 0;

  bool operator==(const Ends&) const = default;
};
inline void PrintTo(const Ends& ends, std::ostream* out) {
  *out << fmt::format("done {}, dead {}, purged {}, back {}", ends.done, ends.dead, ends.purged, ends.back);
}

class AwaitedQueue : public Proxied {
 protected:
  // Makes a queue as version 0.1 does.
  void make_queue(const std::string& queue = "/q") {
    for (const zk::Step& step : recipe::steps_to_make({queue})) observer_.create(step.path, step.data);
  }
  bool exists(const std::string& path) { return observer_.read(path).code == zk::Code::ok; }
  int64_t owner_of(const std::string& path) { return observer_.read(path).stat.ephemeral_owner; }

  Ends ends_of(const AwaitedClient& client) {
    const auto writes = [&](recipe::Count count) {
      return observer_.read(recipe::counter_of(client.push.path(), count)).stat.version;
    };
    return {writes(recipe::Count::done), writes(recipe::Count::dead), writes(recipe::Count::purged),
            writes(recipe::Count::back)};
  }
  // Does what only a person does.
  void delete_nodes_of(const AwaitedClient& client) {
    for (const recipe::Count count : recipe::kCounts) {
      observer_.remove(recipe::counter_of(client.push.path(), count));
    }
    observer_.remove(client.push.path());
  }

  // Returns the paths of the items, or of the dead letters, in the order in which they are taken.
  std::vector<std::string> items(const std::string& folder = "/q/items") {
    std::vector<std::string> paths;
    for (const recipe::Segment& segment : recipe::segments_of(observer_.children(folder))) {
      const std::string path = recipe::segment_path(folder, segment);
      std::ranges::move(recipe::item_paths(path, observer_.children(path)), std::back_inserter(paths));
    }
    return paths;
  }
  std::vector<std::string> letters() { return items("/q/dead"); }
  std::vector<std::string> texts() {
    std::vector<std::string> texts;
    for (const zk::Answer& item : zk::read_all(observer_.session(), items())) texts.push_back(item.data);
    return texts;
  }

  // Gives the client another session. The servers keep the one before.
  void change_session(AwaitedClient& client) {
    proxy_.expire_resumed(true);
    proxy_.cut();
    EXPECT_TRUE(eventually(client.loop, [&] { return client.session.expired(); }));
    proxy_.expire_resumed(false);
    client.session.open();
  }
};

}  // namespace zklock::test
