// SPDX-License-Identifier: Apache-2.0
#include "zk/access.h"

#include "base/failure.h"
#include "base/text.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

namespace zklock::zk {

Credentials Credentials::parse(std::string_view text, std::string_view origin) {
  constexpr std::string_view kScheme = "digest:";
  const std::string_view secret = text.starts_with(kScheme) ? text.substr(kScheme.size()) : std::string_view();
  const size_t colon = secret.find(':');
  const bool complete = colon != 0 && colon != std::string_view::npos;
  if (!complete || !is_utf8(secret)) {
    throw Failure(ExitStatus::usage, fmt::format("bad credentials from {}: write digest:USER:PASSWORD", origin));
  }
  return {std::string(secret)};
}

Credentials Credentials::read_file(const std::string& file) {
  errno = 0;
  std::ifstream input(file);
  std::string line;
  if (!input || !std::getline(input, line)) {
    throw Failure(ExitStatus::usage, fmt::format("cannot read credentials from '{}': {}; name a file with the line "
                                                 "digest:USER:PASSWORD",
                                                 printable(file), errno == 0 ? "it is empty" : std::strerror(errno)));
  }
  if (line.ends_with('\r')) line.pop_back();  // written on Windows
  return parse(line, fmt::format("'{}'", printable(file)));
}

}  // namespace zklock::zk
