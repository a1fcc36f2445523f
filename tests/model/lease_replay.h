// SPDX-License-Identifier: Apache-2.0
// The moments in a history, as src/zk/timing.h has them: what counts as a proof, from when, and until when. Beside
// lease_model.cc, which computes that nothing else is safe.
#pragma once

#include "history.h"
#include "replay_run.h"

#include <string>
#include <vector>

namespace zklock::model {

// What of one zklock's account is against them: each rule's name, and the event.
std::vector<std::string> late_in(const Account& account);

int replay_leases(const ReplayWish& wish);

}  // namespace zklock::model
