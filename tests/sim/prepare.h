// SPDX-License-Identifier: Apache-2.0
// What a leader does with a request before it is logged: it checks it against the tree that all transactions proposed
// so far will make, and turns it into a transaction, which says that it fails if it does.
#pragma once

#include "tree.h"

namespace zklock::sim {

struct Request {
  int32_t type = 0;
  std::string body = {};
  int64_t session = 0;
  bool authenticated = false;  // its connection has named a user
  Origin origin = {};
};

// True if requests of this type become transactions, also when they fail.
bool is_txn(int32_t type);

// Leaves `outstanding` as it is. `session_error` is 0, or why the session may not change anything now. The zxid, the
// time and `expiry` are left to the caller.
Txn prepare(Tree& outstanding, const Request& request, int32_t session_error);

}  // namespace zklock::sim
