// SPDX-License-Identifier: Apache-2.0
#include "command/queue/settlement.h"

#include "host/terminal.h"
#include "zk/path.h"

#include <fmt/format.h>

namespace zklock::command {

using recipe::Ack;
using recipe::Item;

Stage Settlement::settle(Item item, const CommandEnd& end) {
  const Verdict verdict = verdict_on(end, item.attempts, options_.most_attempts);
  tally_.ended(item.path, end, verdict);
  switch (verdict) {
    case Verdict::done:
      lease_->drop(recipe::claim_of(item.path));
      add_done(std::move(item));
      return Stage::taking;
    case Verdict::dead:
      return bury(item, describe(end));
    case Verdict::failed:
      keep(std::move(item), Ack::retry, end);
      break;
    case Verdict::later:
      keep(std::move(item), Ack::release, end);
      break;
    case Verdict::left:
      tally_.left();
      give_back(item);
      break;
    case Verdict::useless:
      give_back(item);
      return Stage::finishing;
  }
  return options_.halt ? Stage::finishing : Stage::taking;
}

void Settlement::keep(Item item, Ack ack, const CommandEnd& end) {
  if (intake_.session().options().verbose) {
    host::remark(fmt::format("zklock: item {} of {} was not done: {} (attempt {} of {})\n", zk::name_of(item.path),
                             options_.pull.path, describe(end), item.attempts, options_.most_attempts));
  }
  kept_.add(std::move(item), ack);
}

Stage Settlement::bury(const Item& item, const std::string& reason) {
  tally_.buried();
  host::remark(fmt::format("zklock: item {} of {} goes to the dead letters: {} (attempt {})\n", zk::name_of(item.path),
                           options_.pull.path, reason, item.attempts));
  part_with(Ack::dead_letter, item, why_dead(reason, item.attempts));
  return options_.halt ? Stage::finishing : Stage::taking;
}

void Settlement::remove_done() {
  if (done_.empty()) return;
  intake_.acks().remove(done_, kNever);
  done_.clear();
}

void Settlement::give_back_due(Stage stage) {
  while (const auto kept = kept_.take()) return_kept(*kept, stage);
}

void Settlement::give_back_kept(Stage stage) {
  while (const auto kept = kept_.take(true)) return_kept(*kept, stage);
}

void Settlement::return_kept(const KeptItems::Kept& kept, Stage stage) {
  count_kept(kept, stage);
  part_with(kept.ack, kept.item);
}

void Settlement::count_kept(const KeptItems::Kept& kept, Stage stage) {
  if (stage == Stage::finishing) {
    tally_.left();
  } else if (options_.pull.most) {
    tally_.returned(kept.item.path);
  }
}

void Settlement::forget(Stage stage) {
  while (const auto kept = kept_.take(true)) count_kept(*kept, stage);
  lease_->clear();
}

std::vector<Item> Settlement::take_uncounted() {
  std::vector<Item> uncounted;
  while (auto kept = kept_.take(true)) {
    if (kept->ack == Ack::release) uncounted.push_back(std::move(kept->item));
  }
  return uncounted;
}

void Settlement::part_with(Ack ack, const Item& item, const std::string& why) {
  lease_->drop(recipe::claim_of(item.path));
  intake_.acks().send(ack, item, why, kNever);
}

}  // namespace zklock::command
