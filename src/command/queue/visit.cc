// SPDX-License-Identifier: Apache-2.0
#include "command/queue/visit.h"

#include "command/cli/output.h"
#include "host/terminal.h"
#include "recipe/queue/node.h"

#include <fmt/format.h>

namespace zklock::command {

using recipe::QueueState;

QueueVisit::QueueVisit(std::string path, std::string verb, const GlobalOptions& global)
    : layout_{std::move(path)}, verb_(std::move(verb)), session_(loop_, session_options(global)) {
  session_.set_purpose(tried());
}

bool QueueVisit::look() {
  session_.open(kNever);
  switch (recipe::look_at_queue(session_, layout_, tried(), kNever)) {
    case QueueState::there:
      return true;
    case QueueState::absent:
      return false;
    case QueueState::expired:
      break;
  }
  throw zk::expired(tried());
}

void QueueVisit::open() {
  if (look()) return;
  session_.close();
  throw Failure(ExitStatus::busy, tried() + ": there is no such queue");
}

std::string QueueVisit::tried() const {
  return fmt::format("cannot {} {}", verb_, layout_.queue);
}

void QueueVisit::confirm(const std::string& question) {
  session_.close();
  command::confirm(fmt::format("zklock: {}", question), layout_.queue);
  session_.open(kNever);
}

void QueueVisit::print(std::string_view text) {
  host::Outlet outlet;
  const host::Attached writing(loop_, outlet);
  outlet.want(true);
  for (;;) {
    text.remove_prefix(outlet.write(text));
    if (text.empty()) return;
    session_.turn(kNever);
  }
}

void QueueVisit::remark(const std::string& text) const {
  if (session_.options().verbose) host::remark(fmt::format("zklock: {}\n", text));
}

}  // namespace zklock::command
