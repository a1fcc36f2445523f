// SPDX-License-Identifier: Apache-2.0
// A member of a group, as long as its command runs, or until a signal without one. Sessions may come and go meanwhile:
// it joins again, and the command is not touched.
#pragma once

#include "command/child/escort.h"
#include "command/group/member_data.h"
#include "host/process/guard.h"
#include "host/signals.h"
#include "recipe/group/member.h"

#include <optional>
#include <string>
#include <utility>

namespace zklock::command {

struct JoinOptions {
  recipe::Membership membership;
  MemberData data;
  Deadline until = kNever;  // for joining the first time, connecting included
  bool waits = false;       // for the name, if somebody has it
  std::optional<host::Program> program = {};
};

class Joining {
 public:
  // Forks the guard: before there is a ZooKeeper handle.
  Joining(zk::SessionOptions session, JoinOptions options, const host::Inherited& inherited);

  // The command's status. Throws a Failure for all else: 65, 69, 70, 75 if the name is taken, 76 if somebody has
  // removed the member and there is no command, 77, a signal.
  int run();

 private:
  // While there is no command: HUP is for the data, if that can change; any other signal ends what zklock waits for.
  class Stay : public host::Source {
   public:
    Stay(host::Signals& signals, bool reloads) : signals_(signals), reloads_(reloads) {}
    bool take_reload() { return std::exchange(reload_, false); }
    void arm(host::PollSet&) override {}
    void record(const host::PollSet&) override {}
    void decide() override;

   private:
    host::Signals& signals_;
    bool reloads_;
    bool reload_ = false;
    bool ended_ = false;
  };

  void join();
  void enter(Deadline until, bool waits);
  void start_command();
  void keep();
  void look_after();
  void check_member();
  void join_again();
  void reload();
  void report_connection();
  void remark(const std::string& text) const;
  std::string name() const;
  [[noreturn]] void fail_taken() const;

  JoinOptions options_;
  std::string tried_;
  host::Loop loop_;
  host::Signals signals_;
  Stay stay_;
  host::Attached receiving_{loop_, signals_};
  host::Attached staying_{loop_, stay_};
  zk::Session session_;
  recipe::GroupMember member_;
  std::optional<host::Guard> guard_;
  std::optional<host::Attached> guarding_;
  std::optional<Escort> escort_;
  std::optional<host::Attached> escorting_;
  bool connected_ = true;  // as last said
};

}  // namespace zklock::command
