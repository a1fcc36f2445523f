#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests scripts/check-includes on throw-away trees: a check that finds nothing proves nothing.

load ../helpers

setup() {
  setup_place
  mkdir -p src/{base,host,zk,recipe/{lock,queue,group},command/{cli,queue}}
}

teardown() { end_all; }

# source_file FILE LINE…
source_file() {
  printf '%s\n' "${@:2}" >"src/$1"
}

check() { expect_status "$1" "$repo/scripts/check-includes" .; }

# breach FILE:LINE TEXT: check-includes reports this breach alone.
breach() {
  check 1
  assert_output --partial "src/$1: "
  assert_output --partial "$2"
  assert_equal "${#lines[@]}" 1
}

@test "the sources of this repository keep the rules" {
  expect_status 0 "$repo/scripts/check-includes"
  assert_output ""
}

@test "an include of the same floor or of one below is fine" {
  source_file base/text.h '#include <string>'
  source_file recipe/lock.cc '#include "recipe/lock.h"' '#include "zk/session.h"' '#include "base/text.h"'
  source_file main.cc '#include "command/run.h"' '#include "base/text.h"'
  check 0
}

@test "an include that points up is named with its line" {
  source_file host/guard.h '#include "base/text.h"' '#include "recipe/lock.h"'
  breach host/guard.h:2 'includes "recipe/lock.h", which is above src/host'
}

@test "folders point down as well, and know nothing of those beside them" {
  source_file recipe/queue/consumer.h '#include "recipe/lock/line.h"'
  source_file command/queue/push.h '#include "command/cli/options.h"'
  check 0
  source_file recipe/lock/lock.h '#include "recipe/queue/consumer.h"'
  breach recipe/lock/lock.h:1 'includes "recipe/queue/consumer.h", which is above src/recipe/lock'
  rm src/recipe/lock/lock.h
  source_file recipe/group/member.h '' '#include "recipe/queue/layout.h"'
  breach recipe/group/member.h:2 'includes "recipe/queue/layout.h", which is beside src/recipe/group'
}

@test "includes in a circle are named, be it by way of a source file" {
  source_file zk/link.h '#include "zk/client.h"'
  source_file zk/client.h '#include "zk/wire.h"'
  source_file zk/wire.cc '#include "zk/wire.h"' '#include "base/text.h"'
  check 0
  source_file zk/wire.cc '#include "zk/wire.h"' '#include "zk/link.h"'
  check 1
  assert_output --regexp '^includes in a circle: zk/[a-z]+ -> zk/[a-z]+ -> zk/[a-z]+ -> zk/[a-z]+$'
}

@test "no two types share a name, even within others" {
  source_file base/text.h 'enum class Word { a, b };' 'class Word;' 'struct Reader {'
  source_file zk/link.cc 'class Word;' 'Word word() {'
  check 0
  source_file zk/reply.h '' 'class Reply {' '  struct Word {' '  };' '};'
  breach zk/reply.h:3 'a type is called Word in src/base/text.h, too'
  source_file zk/reply.h '' 'class Reply::Word {' '};'
  breach zk/reply.h:2 'a type is called Word in src/base/text.h, too'
}

@test "nothing may include the main program, or a header without its folder" {
  source_file command/run.cc '#include "main.cc"'
  breach command/run.cc:1 'not named by its folder'
  source_file command/run.cc '  #  include "../base/text.h"'
  breach command/run.cc:1 'not named by its folder'
}

@test "a folder without a floor is named" {
  mkdir src/util
  source_file util/misc.h '// odds and ends'
  breach util/misc.h:1 'no floor is called util'
}

@test "one source file of src/zk knows the ZooKeeper library" {
  source_file zk/session.cc '#include <zookeeper/zookeeper.h>' '#include <zookeeper/proto.h>'
  check 0
  source_file zk/words.cc '' '#include <zookeeper/zookeeper.h>'
  breach zk/words.cc:2 'included by src/zk/session.cc already'
}

@test "no header and no other folder knows the ZooKeeper library" {
  source_file zk/session.h '#include <zookeeper/zookeeper.h>'
  breach zk/session.h:1 'one source file of src/zk'
  rm src/zk/session.h
  source_file recipe/lock.cc '#include <zookeeper/zookeeper.h>'
  breach recipe/lock.cc:1 'one source file of src/zk'
}

@test "the libraries for options and JSON stay in src/command" {
  source_file command/run.cc '#include <CLI/CLI.hpp>' '#include <nlohmann/json.hpp>'
  check 0
  source_file main.cc '#include <CLI/CLI.hpp>'
  breach main.cc:1 '<CLI/CLI.hpp> belongs into src/command'
  source_file main.cc '#include <nlohmann/json.hpp>'
  breach main.cc:1 '<nlohmann/json.hpp> belongs into src/command'
}

@test "calls for processes and waiting stay in src/host" {
  source_file host/guard.cc 'if (fork() == 0) ::kill(pid, 9);'
  check 0
  local call
  for call in 'fork()' 'vfork()' '::kill(pid, 9)' 'kill (pid, 9)' 'waitpid(-1, nullptr, 0)' \
    'waitid(P_PIDFD, fd, &info, WEXITED)' 'poll(fds, 1, -1)' 'ppoll(fds, 1, 0, 0)' 'x = !poll(fds, 1, 0)'; do
    source_file zk/session.cc '' "  $call;"
    breach zk/session.cc:2 'belong into src/host'
  done
}

@test "a method, a longer name, a comment or a string is not such a call" {
  source_file zk/session.cc 'loop.poll(1); guard->kill(9); host::kill(9); unfork(); kill_all(); epoll(1);' \
    '// fork() and poll() are for others' '/* kill(1)' 'waitpid(1) */ int a; /* fork() */ int b;' \
    "char q = '\"';" 'say("use kill(1), \" or fork()");' 'char const* url = "http://x";'
  check 0
}

@test "check-house counts what it says it counts" {
  source_file base/text.h 'enum class Word {' '  held,' '  expired,' '};'
  source_file base/text.cc '#include "base/text.h"' 'int f(int a,' '      int b) {' '  if (a) {' '    return b;' '  }' '  return a;' '}'
  source_file zk/reply.h '#include "base/text.h"' 'class Word {' ' public:' '  int g(Deadline until) const {' '    return 1;' '  }' \
    '  int one_ = 1;' '  const std::string& other_;' '};'
  expect_status 0 "$repo/scripts/check-house" .
  assert_output "files: 3, lines: 21, median: .cc 8, .h 4
folders of more than 25 files:
headers with one user besides their own source: 1
  base/text.h (zk/reply)
longest functions, in lines (0 over 45):
  4 src/base/text.cc:3
  1 src/zk/reply.h:4
classes with the most data members:
  2 Word
enumerations that know an expired session, outside src/zk: 1
types: 2, parameters 'Deadline until': 1
sentences in headers that begin with Of, Those, That, Which, Nothing, Else or Likewise: 0
who, somebody and nobody in headers: 0"
}
