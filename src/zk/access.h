// SPDX-License-Identifier: Apache-2.0
// Who we are to ZooKeeper and who may use the nodes that we make.
#pragma once

#include <string>
#include <string_view>

namespace zklock::zk {

enum class Acl {
  open,                // everybody, everything
  creator,             // only who authenticated as we did
  creator_world_read,  // the same, and everybody may read
};

struct Credentials {
  std::string secret;  // "user:password" for the digest scheme; empty: none
  explicit operator bool() const { return !secret.empty(); }

  // From "digest:user:password". Throws a Failure (64) that names `origin` and never the secret.
  static Credentials parse(std::string_view text, std::string_view origin);
  // The first line of a file. Throws a Failure (64) if it cannot be read.
  static Credentials read_file(const std::string& file);
};

}  // namespace zklock::zk
