// SPDX-License-Identifier: Apache-2.0
#include "zk/requests.h"

#include <algorithm>

#include <fmt/format.h>

namespace zklock::zk {

void Vain::note_loss(const Asked& asked, Deadline turn, Wire::End end) {
  std::erase_if(losses_, [&](const auto& old) { return turn - old.second.last >= patience_; });
  const auto [found, is_new] = losses_.try_emplace(title_of(asked));
  Losses& losses = found->second;
  if (is_new) losses.since = turn;
  losses.last = BootClock::now();
  ++losses.number;
  losses.end = end;
}

void Vain::note_answer(const Asked& asked) {
  if (!losses_.empty()) losses_.erase(title_of(asked));
}

Deadline Vain::since(const Asked& asked, Deadline turn) const {
  const Losses* losses = losses_of(asked, turn);
  return losses ? losses->since : turn;
}

Stuck Vain::stuck(const Asked& asked, Deadline turn) const {
  const Losses* losses = losses_of(asked, turn);
  const Duration waited = BootClock::now() - since(asked, turn);
  if (!losses) return {asked, waited};
  return {asked, waited, losses->number, losses->end};
}

const Vain::Losses* Vain::losses_of(const Asked& asked, Deadline turn) const {
  if (losses_.empty()) return nullptr;
  const auto found = losses_.find(title_of(asked));
  return found != losses_.end() && turn - found->second.last < patience_ ? &found->second : nullptr;
}

namespace {

std::string reason_of(const Stuck& stuck) {
  switch (stuck.last) {
    case Wire::End::closed:
      return "the server may not know that request, or its jute.maxbuffer may be smaller";
    case Wire::End::nonsense:
      return "what it answers makes no sense";
    case Wire::End::none:
    case Wire::End::cut:
      break;
  }
  return "the server is too slow, or does not answer that request";
}

}  // namespace

std::string describe(const Stuck& stuck, const std::string& servers) {
  const std::string times = stuck.losses == 1 ? "once" : fmt::format("{} times", stuck.losses);
  const std::string lost = stuck.losses == 0 ? "" : fmt::format("; the connection was lost {} over it", times);
  return fmt::format("ZooKeeper at {} takes the session, but has not answered the request to {} ({} bytes) in {}{}: {}",
                     servers, title_of(stuck.asked), stuck.asked.bytes, format_duration(stuck.waited), lost,
                     reason_of(stuck));
}

}  // namespace zklock::zk
