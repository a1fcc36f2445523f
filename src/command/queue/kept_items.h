// SPDX-License-Identifier: Apache-2.0
// Items that a command has failed at. They stay under our claim for a while, so that neither we nor others try them
// again at once, and nobody is held up by them meanwhile.
#pragma once

#include "base/time.h"
#include "host/loop.h"
#include "recipe/queue/ack.h"

#include <optional>
#include <vector>

namespace zklock::command {

class KeptItems : public host::Source {
 public:
  // `first`: the delay after the first failure; it doubles with each further one, up to a minute.
  explicit KeptItems(Duration first) : first_(first) {}

  struct Kept {
    recipe::Item item;
    recipe::Ack ack;  // what then becomes of it
    Deadline due;
  };

  // An item that was `failed` waits the longer the more attempts it has behind it; another one the first delay.
  void add(recipe::Item item, recipe::Ack ack);
  // One whose time has come, or, with `early`, any.
  std::optional<Kept> take(bool early = false);

  // There is no room for another one.
  bool full() const { return kept_.size() >= kMost; }
  bool empty() const { return kept_.empty(); }
  // When the first is due; kNever: none is there.
  Deadline next() const;

  // Whatever is waited for, the loop turns when the next is due: once, as it may not be possible to give it back yet.
  void arm(host::PollSet& set) override;
  void record(const host::PollSet&) override {}
  void decide() override;

  static constexpr Duration kLongest = std::chrono::minutes(1);

 private:
  static constexpr size_t kMost = 64;

  Duration first_;
  std::vector<Kept> kept_;
  Deadline told_{};  // the last one for which the loop has turned
};

}  // namespace zklock::command
