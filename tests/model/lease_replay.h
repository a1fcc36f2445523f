// SPDX-License-Identifier: Apache-2.0
// Checks the times in a history against src/zk/timing.h: what counts as a proof, from when, and until when.
// lease_model.cc computes that nothing else is safe.
#pragma once

#include "history.h"
#include "replay_run.h"

#include <string>
#include <vector>

namespace zklock::model {

// Returns the breaches in one zklock's account: each rule's name, and the event.
std::vector<std::string> late_in(const Account& account);

int replay_leases(const ReplayWish& wish);

}  // namespace zklock::model
