// SPDX-License-Identifier: Apache-2.0
#include "command/lock/breaking.h"

#include "base/text.h"
#include "command/child/note.h"
#include "command/cli/output.h"
#include "command/lock/report.h"
#include "host/terminal.h"

#include <algorithm>

#include <fmt/format.h>

namespace zklock::command {

using recipe::Nodes;
using recipe::Participant;

namespace {

constexpr size_t kLongestList = 300;

}  // namespace

void Breaking::run() {
  const bool waits = options_.patience > Duration::zero();
  if (waits) until_ = deadline_in(options_.patience);
  session_.set_purpose(fmt::format("cannot break {}", options_.path));
  session_.open(until_);
  Nodes nodes = find_holders();
  if (nodes.empty()) remark(options_.path + " is free");
  if (!nodes.empty() && options_.confirm) confirm();
  nodes = recipe::ask_to_let_go(session_, nodes, until_);
  if (!nodes.empty()) remark(fmt::format("asked {} to let go", describe(nodes)));
  nodes = recipe::wait_until_gone(session_, nodes, waits ? until_ : BootClock::now());
  if (options_.force) {
    force_out(nodes);
  } else if (!nodes.empty()) {
    session_.ready(until_);
    session_.close();
    throw Failure(ExitStatus::busy,
                  fmt::format("cannot break {}: {} {} not let go in time; --force takes the lock away", options_.path,
                              describe(nodes), nodes.size() == 1 ? "has" : "have"));
  }
  session_.close();
}

Nodes Breaking::find_holders() {
  const recipe::Survey survey = recipe::survey_paths(session_, {options_.path}, until_).front();
  const std::string tried = "cannot break " + options_.path;
  check_is_lock(survey, tried);
  if (survey.state == recipe::Survey::State::absent) {
    session_.close();
    throw Failure(ExitStatus::busy, tried + ": there is no such lock");
  }
  holders_ = survey.holders();
  Nodes nodes;
  for (const Participant& holder : holders_) nodes.push_back(holder.node);
  return nodes;
}

// Nobody's session lasts as long as a person may think. Names of nodes are not used twice, so those that were shown are
// those that will be hit.
void Breaking::confirm() {
  const Duration left = left_until(until_);
  session_.close();
  const char* whom = holders_.size() == 1 ? "this holder" : "these holders";
  command::confirm(fmt::format("{}zklock: have {} let go of {}?", table_of_holders(holders_), whom, options_.path),
                   options_.path);
  until_ = deadline_in(left);
  session_.open(until_);
}

void Breaking::force_out(const Nodes& nodes) {
  for (const std::string& node : recipe::take_away(session_, nodes, kNever)) {
    host::say_error(fmt::format("took {} away from {}, which may still be running", options_.path, describe({node})));
  }
}

void Breaking::remark(const std::string& text) const {
  if (session_.options().verbose) host::remark(fmt::format("zklock: {}\n", text));
}

std::string Breaking::describe(const Nodes& nodes) const {
  std::string text;
  for (const std::string& node : nodes) {
    const auto holder =
        std::find_if(holders_.begin(), holders_.end(), [&](const Participant& h) { return h.node == node; });
    text += (text.empty() ? "" : ", ") + describe_note(holder->data);
  }
  return shorten(text, kLongestList);
}

}  // namespace zklock::command
