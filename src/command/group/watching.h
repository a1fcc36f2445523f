// SPDX-License-Identifier: Apache-2.0
// Tells who comes to a group and who goes, for ever: in lines on standard output, or to a command that is run for each
// change with the whole list. A reader or a command that is slow gets the difference when it is ready; it never holds
// up the session.
#pragma once

#include "command/group/report.h"
#include "host/process/guard.h"
#include "host/signals.h"
#include "host/streams.h"
#include "recipe/group/roster.h"

#include <optional>
#include <string>

namespace zklock::command {

struct WatchOptions {
  std::string path;
  GroupForm form = GroupForm::names;
  std::optional<host::Program> program;
};

class Watching {
 public:
  Watching(zk::SessionOptions session, WatchOptions options, const host::Inherited& inherited);

  // Ends by a Failure: by SIGPIPE when nobody reads any more, by a signal, 65 where the path is used for something
  // else, 69 when no server answers at the start, 74, 76 when the guard was killed, 77.
  [[noreturn]] void run();

 private:
  void look();
  void write_changes();
  void write(std::string_view text);
  void run_command();
  void attend_command();
  void pass_on_signals();
  void report_end() const;
  void wait();
  void report_connection();
  void remark(const std::string& text) const;

  WatchOptions options_;
  host::Loop loop_;
  host::Signals signals_;
  host::EndOnSignal end_on_signal_{signals_};
  host::Attached receiving_{loop_, signals_};
  host::Attached ending_{loop_, end_on_signal_};
  zk::Session session_;
  recipe::GroupRoster roster_;
  recipe::Members told_;  // what was told last
  std::optional<host::StandardOutput> outlet_;
  std::optional<host::Guard> guard_;
  std::optional<host::Attached> attached_;  // the one of these two that there is
  bool first_ = true;
  bool connected_ = true;  // as last said
  int end_signal_ = 0;     // that shall end us, once the command has ended
};

}  // namespace zklock::command
