// SPDX-License-Identifier: Apache-2.0
// queue pull without a command: items are taken under claims, written to standard output, and removed once written. A
// reader that is slow or gone never holds up the session. Items that were not written go back, and their attempts do
// not count.
#include "command/queue/claim_pace.h"
#include "command/queue/item_stream.h"
#include "command/queue/pull.h"
#include "host/process/survivor.h"
#include "host/signals.h"
#include "host/streams.h"
#include "zk/timing.h"

#include <algorithm>

namespace zklock::command {

namespace {

using recipe::Item;

class ItemPrinter {
 public:
  // Forks the survivor. To be called before there is a ZooKeeper handle.
  ItemPrinter(zk::SessionOptions session, PullOptions options)
      : options_(std::move(options)), source_(loop_, std::move(session), options_, "written"), stream_(options_.end) {}

  void run() {
    try {
      pull();
      session_.close();
    } catch (...) {
      // One reason to end is enough: neither a signal nor the end of the reader may interrupt the cleaning up.
      loop_.leave_signals();
      loop_.remove(outlet_);
      // An item of which only a part was written goes back too, because no reader has its rest.
      source_.clean_up(stream_.take_written(), stream_.items());
      source_.rethrow();
    }
  }

 private:
  void pull() {
    source_.open();
    for (bool more = true; more;) {
      try {
        more = pull_some();
      } catch (const zk::SessionOver&) {
        start_again();
      }
    }
    source_.check_lost();
  }

  // Returns false if all is done: there is nothing to wait for, or the wait is over.
  bool pull_some() {
    // So that what is kept does not cost a round trip behind the last look.
    if (consumer_.batches() == 0) acks_.flush();
    claim_ahead();
    if (consumer_.batches() > 0) {
      collect();
    } else if (stream_.empty() && (wanted() == 0 || !wait_for_items())) {
      acks_.finish();
      return false;
    }
    write_items();
    return true;
  }

  // Returns how many more items to claim, besides those that are ours or on their way.
  size_t wanted() const {
    if (!options_.most) return SIZE_MAX;
    return *options_.most - stream_.delivered() - stream_.size() - consumer_.underway();
  }

  void claim_ahead() {
    while (wanted() > 0 && pace_.allows_more(consumer_, stream_.size())) {
      if (!consumer_.begin(std::min(pace_.batch(), wanted()))) return;
    }
  }

  void collect() {
    std::vector<Item> batch = consumer_.collect();
    pace_.note(batch, stream_.delivered(), session_.round_trip());
    for (Item& item : batch) stream_.add(std::move(item));
    if (!stream_.empty()) source_.note_items();
  }

  void write_items() {
    while (!stream_.empty()) {
      session_.check_alive();
      check_claims();
      if (stream_.empty()) break;
      write_chunk();
      acks_.take_answers();
    }
    remove_written();
  }

  // After a pause of zklock's, or of its reader's, the claims may be gone and the items another consumer's. The next
  // pause may come while we wait for the answer, so this repeats until an answer is recent enough.
  void check_claims() {
    while (!stream_.empty() && BootClock::now() >= stream_.first().proved + zk::fence_of(session_.timeout()) / 2) {
      if (!stream_.keep(consumer_.confirm(stream_.items()))) fail_torn();
    }
  }

  [[noreturn]] void fail_torn() const {
    throw Failure(ExitStatus::lost,
                  source_.tried() +
                      ": the claim was lost while an item was written; the rest of it was not, and all of it "
                      "will come again");
  }

  // Writes as much as the reader takes at once.
  void write_chunk() {
    const std::string_view rest = stream_.next();
    const size_t taken = rest.empty() ? 0 : outlet_.write(rest);  // an empty item, --whole
    const bool full = taken == 0 && !rest.empty();
    stream_.note_written(taken);
    if (full) wait_for_reader();
  }

  // A slow reader must not get more items from us than it can use, because other consumers may have time for them.
  void wait_for_reader() {
    remove_written();
    pace_.slow_down();
    outlet_.want(true);
    session_.turn(kNever);
    outlet_.want(false);
  }

  void remove_written() { acks_.remove(stream_.take_written()); }

  // Returns false if there is nothing to wait for, or the wait is over.
  bool wait_for_items() {
    acks_.finish();
    auto items = source_.wait_for_items(stream_.delivered());
    if (!items) return false;
    for (Item& item : *items) stream_.add(std::move(item));
    return true;
  }

  // Items that were not written may be another consumer's now. Items that were written may be removed already.
  void start_again() {
    const bool torn = stream_.is_torn();
    stream_.forget();
    source_.open_again(stream_.take_written());
    if (torn) fail_torn();
  }

  PullOptions options_;
  host::SignalLoop loop_;
  host::StandardOutput outlet_;
  host::Attached writing_{loop_, outlet_};
  ConsumerSession source_;
  zk::Session& session_{source_.session()};
  host::Survivor survivor_{session_.closer()};
  recipe::Consumer& consumer_{source_.consumer()};
  recipe::Acks& acks_{source_.acks()};
  ItemStream stream_;  // items that are ours, or were written and are not removed yet
  ClaimPace pace_;
};

}  // namespace

void print_items(zk::SessionOptions session, PullOptions options) {
  ItemPrinter(std::move(session), std::move(options)).run();
}

}  // namespace zklock::command
