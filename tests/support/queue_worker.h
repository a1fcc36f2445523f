// SPDX-License-Identifier: Apache-2.0
// A client that takes items out of a queue, and a queue of ten for tests to begin with.
#pragma once

#include "recipe/queue/ack.h"
#include "recipe/queue/consumer.h"
#include "support/proxied.h"

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

namespace zklock::test {

struct QueueWorker {
  explicit QueueWorker(const std::string& servers, Duration session_timeout = std::chrono::seconds(4))
      : session(loop, options_for(servers, session_timeout)),
        consumer(session, {"/q"}, "note"),
        acks(session, {"/q"}, consumer) {
    session.open();
  }
  static Deadline soon() { return deadline_in(std::chrono::seconds(20)); }

  std::vector<recipe::Item> take(size_t most) {
    return consumer.begin(most) ? consumer.collect() : std::vector<recipe::Item>();
  }
  void remove(const std::vector<recipe::Item>& items) {
    acks.remove(items);
    acks.finish();
  }
  void ack_one(recipe::Ack ack, const recipe::Item& item, const std::string& why = "") {
    acks.send(ack, item, why);
    acks.finish();
    consumer.forget_all();  // an earlier list is not used any more
  }
  void give_back(const std::vector<recipe::Item>& items) { acks.release(items, soon()); }

  host::Loop loop;
  zk::Session session;
  recipe::Consumer consumer;
  recipe::Acks acks;
};

inline std::vector<std::string> texts(const std::vector<recipe::Item>& items) {
  std::vector<std::string> all;
  for (const recipe::Item& one : items) all.push_back(one.data);
  return all;
}

// A queue of the items "0" to "9", in the first segment of the usual priority.
class QueueOfTen : public Proxied {
 protected:
  void SetUp() override {
    observer_.create("/q", std::string(recipe::kQueueFormat));
    observer_.create("/q/items");
    observer_.create(kSegment);
    for (int i = 0; i < 10; ++i) observer_.create(item(i), fmt::format("{}", i));
  }
  static std::string item(int number) { return fmt::format("{}/token-{:010}", kSegment, number); }
  static std::string claim(int number) { return recipe::claim_of(item(number)); }
  size_t left() { return observer_.children(kSegment).size(); }

  // Calls `send`, whose requests get no answer and do not arrive: they are lost with their connection.
  void send_in_vain(const std::function<void()>& send) {
    proxy_.set(FaultProxy::Mode::silent);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));  // until it is silent; a list is good for longer
    send();
    proxy_.cut();
    proxy_.set(FaultProxy::Mode::pass);
  }
  // Waits until the first two items, which it has claimed, are free.
  void let_expire(QueueWorker& worker) {
    proxy_.set(FaultProxy::Mode::silent);
    EXPECT_TRUE(eventually(worker.loop, [&] {
      return observer_.read(claim(0)).code == zk::Code::no_node && observer_.read(claim(1)).code == zk::Code::no_node;
    }));
    proxy_.set(FaultProxy::Mode::pass);
  }

  inline static const std::string kSegment = "/q/items/100-0000000000";
};

}  // namespace zklock::test
