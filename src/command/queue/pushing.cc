// SPDX-License-Identifier: Apache-2.0
#include "command/queue/pushing.h"

#include "host/terminal.h"

#include <cstring>
#include <unistd.h>

#include <fmt/format.h>

namespace zklock::command {

using recipe::kLargestItem;

Pushing::Pushing(zk::SessionOptions session, PushOptions options)
    : options_(std::move(options)),
      session_(loop_, std::move(session)),
      pusher_(session_, {options_.path}, options_.priority, fmt::format("cannot push to {}", options_.path)),
      input_(STDIN_FILENO),
      reader_(options_.framing, kLargestItem),
      progress_(options_.path, host::is_watched() && !host::can_ask(), session_.options().verbose) {
  session_.set_purpose("cannot push to " + options_.path);
  loop_.add(signals_);
}

void Pushing::run() {
  {
    host::EndOnSignal end_on_signal(signals_);
    const host::Attached ending(loop_, end_on_signal);
    session_.open(kNever);
    pusher_.open();
  }
  try {
    push_all();
  } catch (const Failure& failure) {
    progress_.wipe();
    if (failure.signal() == 0) throw Failure(failure.status(), fmt::format("{}; {}", failure.text(), count()));
    host::say_error(fmt::format("interrupted: {}", count()));
    throw;
  }
  session_.close();
  progress_.sum_up(pusher_.in());
}

void Pushing::push_all() {
  const host::Attached interrupting(loop_, interruption_);
  const host::Attached reading(loop_, input_);
  for (;;) {
    take_items();
    if (is_at_end() && pusher_.is_done()) break;
    session_.turn(next_turn());
    pusher_.settle();
    tell();
  }
  check_input();
  if (interruption_.signal() != 0) throw Failure::by_signal(interruption_.signal());
}

// A batch goes as soon as no more is ready. After a signal what is not on its way stays here. The pusher turns the loop
// too, so there may be input whoever turned it last.
void Pushing::take_items() {
  if (interruption_.signal() != 0) return input_.want(false);
  reader_.feed(input_.take());
  if (input_.is_ended() && input_.error() == 0) reader_.end();
  bool more = true;
  while (more && pusher_.has_room()) {
    auto item = next_item();
    more = item.has_value();
    if (more) pusher_.add(*std::move(item));
  }
  if (!more && (is_at_end() || input_.is_dry())) pusher_.flush();
  input_.want(!more && options_.items.empty());
}

std::optional<std::string> Pushing::next_item() {
  if (options_.items.empty()) return reader_.next();
  if (next_argument_ == options_.items.size()) return std::nullopt;
  return std::move(options_.items[next_argument_++]);
}

bool Pushing::is_at_end() const {
  if (interruption_.signal() != 0 || reader_.oversize() || input_.error() != 0) return true;
  return options_.items.empty() ? input_.is_ended() && reader_.is_empty() : next_argument_ == options_.items.size();
}

// Whether more is ready is asked without waiting while there are items that could go.
Deadline Pushing::next_turn() const {
  if (input_.is_wanted() && pusher_.is_filling() && !input_.is_dry()) return BootClock::now();
  return progress_.next_look();
}

void Pushing::check_input() const {
  if (const auto& oversize = reader_.oversize()) {
    throw Failure(ExitStatus::bad_data, fmt::format("cannot push to {}: item {} has {} bytes, more than the {} that an "
                                                    "item may have",
                                                    options_.path, oversize->number, oversize->size, kLargestItem));
  }
  if (input_.error() == 0) return;
  throw Failure(ExitStatus::input_output, fmt::format("cannot read standard input: {}", std::strerror(input_.error())));
}

void Pushing::tell() {
  for (; doubles_told_ < pusher_.doubles().size(); ++doubles_told_) {
    const recipe::ItemSpan& span = pusher_.doubles()[doubles_told_];
    progress_.wipe();
    host::say_error(fmt::format("the session expired on the way: items {} to {} may be in {} twice", span.first,
                                span.last, options_.path));
  }
  if (BootClock::now() < progress_.next_look()) return;
  const auto size = input_.size();
  const bool known = size && *size > 0;
  progress_.tell(pusher_.in(), known ? std::optional(static_cast<double>(input_.count()) / static_cast<double>(*size))
                                     : std::nullopt);
}

// For the last line.
std::string Pushing::count() const {
  const recipe::ItemSpan rest = pusher_.unanswered();
  const std::string doubtful = rest.first == 0 ? "" : fmt::format(", and items {} to {} may be", rest.first, rest.last);
  return fmt::format("{} in {}{}", items_are(pusher_.in()), options_.path, doubtful);
}

}  // namespace zklock::command
