#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests --grace and --wait-all of zklock run.

load ../helpers

setup() {
  setup_zk
  export ZKLOCK_SESSION_TIMEOUT=4s
}

teardown() { end_all; }

# Prints the moment of the only TERM.
term_of() { awk -v name="$1" '$2 == name && $4 == "TERM" { print $1 }' life; }

# Starts a waiter, b. It begins after a, of which nothing is left then.
stand_behind() {
  enter b /l
  wait_until "b stands in line" has_nodes /l 2
}

b_follows() {
  wait_until "b has begun" lives b || return
  assert_alone || return
  touch b.go
  expect_end 0 "${pid[b]}"
}

# expect_lost REASON
expect_lost() {
  expect_end 76 "${pid[a]}"
  assert_equal "$(<a.err)" "zklock: lost /l: $1; the command was stopped"
}

# leaves_behind ARG…: runs a command under the lock that ends with 7. Four processes stay, and ignore TERM.
leaves_behind() {
  background zklock run "$@" /l -- sh -c '(critical -f life a &); until [ -e left ]; do sleep 0.01; done; exit 7' 2>a.err
  pid[a]=$!
  wait_until "all of it runs" lives a 4
  node=$(its_node)
  guard=$(guard_of "${pid[a]}")
  touch left
  wait_until "the command itself has ended" has_no_child_named sh
}

has_no_child_named() { ! pgrep -P "$guard" -x "$1"; }

@test "no quorum: TERM first, KILL at the fence for who ignores it" {
  start_relay "${ZKLOCK_SERVERS%/*}"
  enter -i a -S "$(relayed_ports)/${ZKLOCK_SERVERS#*/}" /l
  wait_until "a runs" lives a
  stand_behind
  local began
  began=$(now_us)
  kill -STOP "${pid[relay]}"
  b_follows
  assert_order "silence, TERM, KILL, begin of b" "$began" "$(term_of a)" "$(last_of a)" "$(first_of b)"
  expect_end 76 "${pid[a]}"
}

@test "no quorum: who obeys TERM may clean up before the fence" {
  start_relay "${ZKLOCK_SERVERS%/*}"
  background zklock run -S "$(relayed_ports)/${ZKLOCK_SERVERS#*/}" /l -- \
    sh -c 'trap "echo cleaned >log; exit 0" TERM; echo $$ >pids; while :; do sleep 0.02; done' 2>a.err
  pid[a]=$!
  wait_until "a runs" test -s pids
  kill -STOP "${pid[relay]}"
  expect_end 76 "${pid[a]}"
  assert_equal "$(<log)" cleaned
}

@test "its node is deleted: TERM at once, KILL after the grace, a pipeline too" {
  background zklock run --grace 500ms /l -- sh -c 'trap "" TERM; critical -i life a | critical -i life a' 2>a.err
  pid[a]=$!
  wait_until "a runs" lives a 2
  znode rm "$(its_node)"
  wait_until "it gets TERM" grep -q TERM life
  expect_lost "its node was deleted"
  assert [ $(($(last_of a) - $(term_of a | head -n 1))) -ge 400000 ]
}

@test "--grace 0: KILL at once" {
  enter -i a --grace 0 /l
  wait_until "a runs" lives a
  local one
  one=$(pids_of a)
  znode rm "$(its_node)"
  expect_lost "its node was deleted"
  assert is_gone "$one"
}

@test "more grace than the session timeout allows: 64, and what would do" {
  expect_error 64 "--grace 2.0s is more than an eighth of the session timeout, 4.0s: ask for --session-timeout 16s" \
    zklock run --grace 2s /l -- touch ran
  assert [ ! -e ran ]
  assert_no_nodes /l
  expect_status 0 zklock run --grace 2s "--session-timeout=${stderr##*--session-timeout }" /l -- true
  # An eighth of the session timeout is allowed.
  expect_status 0 zklock run --grace 500ms /l -- true
  expect_status 64 zklock run --grace 501ms /l -- true
  expect_status 64 zklock run --grace 1h /l -- true
}

@test "without --wait-all the lock is free once the command has ended" {
  leaves_behind
  expect_end 7 "${pid[a]}"
  expect_status 0 zklock run -n /l -- true
  local one
  for one in $(pids_of a); do refute is_gone "$one"; done
}

@test "--wait-all: the lock is held until what the command left behind is gone, its status comes back" {
  leaves_behind --wait-all
  stand_behind
  expect_status 75 zklock run -q -w 2s /l -- true
  refute lives b
  touch a.go
  expect_end 7 "${pid[a]}"
  assert_equal "$(<a.err)" ""
  b_follows
}

@test "--wait-all: TERM to zklock ends what the command left behind, then the lock is free" {
  leaves_behind --wait-all
  stand_behind
  kill -TERM "${pid[a]}"
  expect_end 7 "${pid[a]}"
  b_follows
}

@test "--wait-all: the lock is lost while only what was left behind runs: all of it is gone" {
  leaves_behind --wait-all
  znode rm "$node"
  expect_lost "its node was deleted"
  local one
  for one in $(pids_of a); do assert is_gone "$one"; done
}

@test "--wait-all: zklock is frozen while only what was left behind runs: gone before the next holder" {
  leaves_behind --wait-all
  stand_behind
  kill -STOP "${pid[a]}"
  b_follows
  kill -CONT "${pid[a]}"
  expect_end 76 "${pid[a]}"
}

@test "--wait-all: zklock is killed while only what was left behind runs: gone before the next holder" {
  leaves_behind --wait-all
  stand_behind
  kill -KILL "${pid[a]}"
  b_follows
}

@test "--wait-all: the guard is killed while only what was left behind runs: gone before the next holder" {
  leaves_behind --wait-all
  stand_behind
  kill -KILL "$guard"
  b_follows
  expect_lost "the guard was killed"
}

@test "--wait-all: no quorum while only what was left behind runs: gone before the next holder" {
  start_relay "${ZKLOCK_SERVERS%/*}"
  leaves_behind --wait-all -S "$(relayed_ports)/${ZKLOCK_SERVERS#*/}"
  stand_behind
  kill -STOP "${pid[relay]}"
  b_follows
  expect_end 76 "${pid[a]}"
}
