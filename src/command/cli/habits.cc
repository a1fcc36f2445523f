// SPDX-License-Identifier: Apache-2.0
#include "command/cli/habits.h"

namespace zklock::command {

namespace {

struct Habit {
  const char* word;
  const char* answer;
};

constexpr const char* kRun = "write zklock run LOCK -- COMMAND";
constexpr const char* kUnlock = "a lock is given back when its command ends; zklock break LOCK has its holder let go";
constexpr const char* kElect = "write zklock run --restart LOCK -- COMMAND: one runs it, the others stand by";
constexpr const char* kShow = "zklock show LOCK shows who holds a lock, zklock show -r / all that are held";

constexpr Habit kCommands[] = {
    {"lock", kRun},    {"exec", kRun},     {"acquire", kRun},   {"flock", kRun},
    {"elect", kElect}, {"leader", kElect}, {"unlock", kUnlock}, {"release", kUnlock},
    {"ls", kShow},     {"list", kShow},    {"status", kShow},   {"version", "write zklock -V"},
};

constexpr Habit kBelow[] = {
    {"ls", "list"}, {"show", "list"}, {"rm", "delete"}, {"remove", "delete"}, {"pop", "pull"}, {"add", "push"},
};

// Of flock(1).
struct OptionHabit {
  const char* option;
  const char* needed;  // what the command must have for the answer to be one
  const char* answer;
};

constexpr const char* kNotInherited = "leave it out: the command does not inherit the lock";
constexpr const char* kStays = "leave it out: zklock stays beside its command, to keep the lock";

constexpr OptionHabit kOptions[] = {
    {"--wait", "--timeout", "write -w DUR or --timeout DUR"},
    {"--nb", "--nonblock", "write -n or --nonblock"},
    {"-e", "--exclusive", "write -x or --exclusive, or nothing"},
    {"-o", "--exclusive", kNotInherited},
    {"--close", "--exclusive", kNotInherited},
    {"-F", "--exclusive", kStays},
    {"--no-fork", "--exclusive", kStays},
    {"-u", "--exclusive", kUnlock},
    {"--unlock", "--exclusive", kUnlock},
};

}  // namespace

std::string answer_to_option(std::string_view option, const Has& has) {
  for (const OptionHabit& habit : kOptions) {
    if (option == habit.option && has(habit.needed)) return habit.answer;
  }
  return "";
}

std::string answer_to_command(std::string_view word) {
  for (const Habit& habit : kCommands) {
    if (word == habit.word) return habit.answer;
  }
  return "";
}

std::string command_meant(std::string_view word, const Has& has) {
  for (const Habit& habit : kBelow) {
    if (word == habit.word && has(habit.answer)) return habit.answer;
  }
  return "";
}

}  // namespace zklock::command
