// SPDX-License-Identifier: Apache-2.0
// The pushing of items into one queue: from where they come, until all are in or a signal stops it.
#pragma once

#include "command/queue/item_reader.h"
#include "command/queue/push_progress.h"
#include "host/signals.h"
#include "host/streams.h"
#include "recipe/queue/pusher.h"

#include <string>
#include <vector>

namespace zklock::command {

struct PushOptions {
  std::string path;
  int priority = recipe::kUsualPriority;
  std::vector<std::string> items;  // none: from standard input
  Framing framing = Framing::lines;
};

class Pushing {
 public:
  Pushing(zk::SessionOptions session, PushOptions options);

  // Returns when all items are in. Throws a Failure for all else, and says how many are in: 65 for an item that is too
  // large, 74, a signal, and what the pusher throws. What was read from standard input and is not in then is lost.
  void run();

 private:
  void push_all();
  void take_items();
  std::optional<std::string> next_item();
  bool is_at_end() const;
  Deadline next_turn() const;
  void check_input() const;
  void tell();
  std::string count() const;

  PushOptions options_;
  host::Loop loop_;
  host::Signals signals_;
  host::EndOnSecondSignal interruption_{signals_};
  zk::Session session_;
  recipe::Pusher pusher_;
  host::StandardInput input_;
  ItemReader reader_;
  PushProgress progress_;
  size_t next_argument_ = 0;
  size_t doubles_told_ = 0;
};

}  // namespace zklock::command
