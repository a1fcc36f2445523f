#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock queue push with slow input while the server, one of this file's own, goes and comes back.

load ../helpers
load ../queue

setup_file() { ensemble --servers 1 --tick 250 --set maxSessionTimeout=60000; }

teardown_file() { stop_ensemble; }

setup() {
  setup_zk
  export ZKLOCK_SESSION_TIMEOUT=60s ZKLOCK_CONNECT_TIMEOUT=60s
  mkfifo lines
}

teardown() { end_all; }

# feed FIRST LAST SECONDS: writes lines of these numbers to descriptor 4, with that pause after each.
feed() {
  local n
  for ((n = $1; n <= $2; ++n)); do
    echo "line $n" >&4
    pause "$3"
  done
}

# Starts a push of what comes through descriptor 4. Returns when it is past its start.
begin_push() {
  exec 4<>lines # opening one end alone would wait for the other
  background zklock queue push "$@" /q <lines 2>err 4>&-
  pusher=$!
  exec 4>lines
  echo "line 0" >&4
  wait_until "it pushes" eval '[[ $(listed /q) == "line 0" ]]'
}

# all_in LAST: all lines up to that are in, each once and in order, and nothing was printed.
all_in() {
  exec 4>&-
  expect_end 0 "$pusher" || return
  assert_equal "$(<err)" ""
  seq -f "line %.0f" 0 "$1" >expected
  listed /q >there
  cmp expected there || { diff expected there | head -3 && fail "not the lines that were fed, $(wc -l <there) of them"; }
}

@test "the server is killed and comes back twice while lines come slowly: each is in, once, in order" {
  begin_push
  feed 1 120 0.03 3>&- &
  local feeder=$!
  for _ in 1 2; do
    sleep 0.5
    zk_sandbox restart 1
  done
  wait_gone "$feeder"
  all_in 120
}

@test "more comes while the server is away than is read at once" {
  begin_push
  zk_sandbox kill 1
  # These are more than are in flight and fill a pipe.
  seq -f "line %.0f" 1 15000 >&4 3>&- &
  sleep 0.3
  zk_sandbox restart 1
  all_in 15000
}

@test "the input ends while the server is away: the last line is in, without its newline too" {
  begin_push
  feed 1 5 0
  zk_sandbox kill 1
  feed 6 20 0.02
  printf "line 21" >&4
  exec 4>&-
  zk_sandbox restart 1
  all_in 21
}

@test "the server is frozen for longer than a connection may be silent, while lines come" {
  begin_push --session-timeout 12s
  zk_sandbox pause 1
  feed 1 6 0.5 # only a few: after many, no more is read before they are answered
  feed 7 40 0.02
  zk_sandbox continue 1
  feed 41 50 0.02
  all_in 50
}
