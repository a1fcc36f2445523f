// SPDX-License-Identifier: Apache-2.0
// What a server sends, looked at before the C library does: that believes lengths and counts, hands out what it could
// not decode, and aborts on an answer to nothing. Pure; see zk/wire.h for where the bytes come from.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::zk {

enum class Op { create, create_with_stat, remove, exists, read, write, children, sync, check, transaction };

// A request that was sent: what its answer is held against, and what is said of it where none comes.
struct Asked {
  Op op;
  std::string path;  // full; of a transaction's first step
  size_t bytes = 0;  // of paths and data
  struct Step {
    Op op;  // create, remove, write or check
    std::string path;
  };
  std::vector<Step> steps = {};  // check, transaction
};

// Which request it is, also when it is sent again with another unique name: "create a node below /l".
std::string title_of(const Asked& asked);

// More no answer may have.
constexpr size_t kLargestReply = 64 * 1024 * 1024;

// The first thing that a server says, without its length. `has_session`: a new one may not be refused.
bool is_handshake(std::string_view frame, bool has_session);

// Anything after that: an answer to `oldest`, the request whose turn it is, if any, or what needs none. `with_auth`:
// credentials were sent.
bool fits(std::string_view frame, const Asked* oldest, bool with_auth);

// Who sent these first four bytes instead of a length, where it is plain: "it speaks TLS, which zklock does not yet".
// Or "".
std::string_view stranger(std::string_view length);

}  // namespace zklock::zk
