// SPDX-License-Identifier: Apache-2.0
#include "support/replies.h"

#include <fstream>
#include <iterator>

namespace zklock::support {

std::string reply_of(const std::string& release, const std::string& role, const std::string& word) {
  std::ifstream in(ZKLOCK_SOURCE_DIR "/tests/replies/" + release + "/" + role + "." + word, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace zklock::support
