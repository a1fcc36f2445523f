// SPDX-License-Identifier: Apache-2.0
#include "command/queue/workers.h"

#include "host/signals.h"

namespace zklock::command {

void Worker::start(const recipe::Item& item, const host::Launch& launch, Deadline fence) {
  began_ = BootClock::now();
  interrupted_ = false;
  item_in_arguments_ = !launch.arguments.empty();
  guard_.set_fence(fence);
  guard_.start(launch);
  item_ = item;
}

bool Worker::has_ended() const {
  return item_ && !guard_.killed() && !guard_.fenced() && guard_.phase() >= host::CommandPhase::ended;
}

recipe::Item Worker::take_item() {
  guard_.let_go();
  recipe::Item item = *std::move(item_);
  item_.reset();
  return item;
}

void Worker::interrupt(int signal) {
  interrupted_ |= host::is_ending(signal);
  guard_.forward(signal);
}

}  // namespace zklock::command
