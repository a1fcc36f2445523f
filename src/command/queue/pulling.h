// SPDX-License-Identifier: Apache-2.0
// Items from a queue to standard output: taken under claims, written, and removed once written. A reader who is slow or
// gone never holds up the session; what was not written goes back, and does not count as an attempt.
#pragma once

#include "command/queue/intake.h"
#include "command/queue/pull_options.h"
#include "host/loop.h"
#include "host/outlet.h"
#include "host/signals.h"

#include <deque>
#include <string>
#include <vector>

namespace zklock::command {

class Pulling {
 public:
  Pulling(zk::SessionOptions session, PullOptions options);

  // Throws a Failure for what is not success: 65 where there is no queue, 69, 74, 75 where nothing was there, 76 where
  // items that were written could not be removed, 77, a signal.
  void run();

 private:
  void pull();
  void claim_ahead();
  void collect();
  void write_items();
  void check_claims();
  bool is_torn() const;
  [[noreturn]] void fail_torn() const;
  void fill_chunk();
  void cut_chunk();
  void write_chunk();
  void wait_for_reader();
  void remove_written();
  bool wait_for_items();
  void start_again();
  void clean_up();
  size_t wanted() const;

  PullOptions options_;
  host::Loop loop_;
  host::Signals signals_;
  host::EndOnSignal end_on_signal_{signals_};
  host::Outlet outlet_;
  host::Attached receiving_{loop_, signals_};
  host::Attached ending_{loop_, end_on_signal_};
  host::Attached writing_{loop_, outlet_};
  Intake intake_;
  zk::Session& session_{intake_.session()};
  recipe::Consumer& consumer_{intake_.consumer()};
  recipe::Acks& acks_{intake_.acks()};
  std::deque<recipe::Item> items_;     // ours, not written yet
  std::string chunk_;                  // of the first of them, whole ones
  std::deque<size_t> ends_;            // where each ends in the chunk that is not written to its end
  size_t chunk_written_ = 0;           // bytes
  std::vector<recipe::Item> written_;  // not removed yet
  size_t delivered_ = 0;               // items written, ever
  size_t lot_ = 1;                     // how many to claim at once
};

}  // namespace zklock::command
