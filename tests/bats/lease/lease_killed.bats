#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock run if zklock or its guard is killed or frozen: the command is dead before the next holder starts.

load ../helpers

setup() {
  setup_zk
  export ZKLOCK_SESSION_TIMEOUT=2s
}

teardown() { end_all; }

# a_holds_b_waits: a's command has three descendants; all of them ignore TERM.
a_holds_b_waits() {
  enter -f a /l
  wait_until "all of a runs" lives a 4
  stand_behind b
  guard=$(guard_of "${pid[a]}")
}

stand_behind() {
  enter "$1" /l
  wait_until "$1 stands in line" has_nodes /l 2
}

# b_follows FROM: b has started after all processes of a were dead. FROM is the moment of the fault.
b_follows() {
  wait_until "b has begun" lives b || return
  assert_alone || return
  # Signs of life are 3 ms apart.
  assert_order "fault, end of a, begin of b" $(($1 - 5000)) "$(last_of a)" "$(first_of b)" || return
  note "gone after $((($(last_of a) - $1) / 1000)) ms, next holder after $((($(first_of b) - $1) / 1000)) ms"
  touch b.go
  expect_end 0 "${pid[b]}"
}

# expect_lost REASON: a reports it in one line. b_follows checks whether its command ended in time. On a busy machine
# its guard may still be later than the fence; the line says by how much.
expect_lost() {
  expect_end 76 "${pid[a]}"
  assert_regex "$(<a.err)" "^zklock: lost /l: $1; the command (was stopped|went on for [0-9]+ms past the fence)\$"
}

@test "zklock is frozen for three session timeouts: its command is dead before the next holder starts" {
  a_holds_b_waits
  local began
  began=$(now_us)
  kill -STOP "${pid[a]}"
  b_follows "$began"
  wait_until "three session timeouts are over" is_past $((began + 6000000))
  assert [ "$(znode ls /l)" = "" ]
  kill -CONT "${pid[a]}"
  expect_lost "no quorum confirmed the lock for [0-9.]+s"
}

@test "zklock is frozen, and awake again before its fence: the command never notices" {
  enter -i a --session-timeout 12s /l
  wait_until "a runs" lives a
  kill -STOP "${pid[a]}"
  wait_until "a heartbeat is overdue" is_past $(($(now_us) + 2500000))
  kill -CONT "${pid[a]}"
  touch a.go
  expect_end 0 "${pid[a]}"
  refute grep -q TERM life
  assert_equal "$(<a.err)" ""
}

@test "zklock is killed: command and all descendants are gone before the next holder starts" {
  a_holds_b_waits
  local began
  began=$(now_us)
  kill -KILL "${pid[a]}"
  b_follows "$began"
  wait_gone "$guard"
}

@test "zklock is killed: what left the family and the session goes too, one more generation" {
  # shellcheck disable=SC2016
  background zklock run /l -- sh -c 'trap "" TERM HUP
    setsid sh -c "setsid critical -f life a & setsid critical -f life a & exit" & critical -f life a' 2>a.err
  pid[a]=$!
  wait_until "all of a runs" lives a 12
  stand_behind b
  local began
  began=$(now_us)
  kill -KILL "${pid[a]}"
  b_follows "$began"
}

@test "the guard is killed: all is gone before the next holder starts" {
  a_holds_b_waits
  local began
  began=$(now_us)
  kill -KILL "$guard"
  b_follows "$began"
  expect_lost "the guard was killed"
}

@test "the guard is frozen: all is gone before the next holder starts" {
  a_holds_b_waits
  local began
  began=$(now_us)
  kill -STOP "$guard"
  b_follows "$began"
  expect_lost "the guard was killed"
  assert is_gone "$guard"
}

@test "zklock and its guard are killed together: the command itself dies before the next holder starts" {
  enter a /l
  wait_until "a runs" lives a
  stand_behind b
  local began
  began=$(now_us)
  kill -KILL "$(guard_of "${pid[a]}")" "${pid[a]}"
  b_follows "$began"
}

@test "zklock is frozen and then killed: its guard keeps the fence" {
  a_holds_b_waits
  local began
  began=$(now_us)
  kill -STOP "${pid[a]}"
  kill -KILL "${pid[a]}"
  b_follows "$began"
  wait_gone "$guard"
}

@test "zklock is frozen, then its guard killed: the command itself dies before the next holder starts" {
  enter a /l
  wait_until "a runs" lives a
  stand_behind b
  local began
  began=$(now_us)
  kill -STOP "${pid[a]}"
  kill -KILL "$(guard_of "${pid[a]}")"
  b_follows "$began"
  kill -CONT "${pid[a]}"
  expect_end 76 "${pid[a]}"
}

@test "zklock is killed in the very moment in which the command starts: nothing of it stays" {
  local n one
  touch life
  for n in {1..8}; do
    enter -f "a$n" "/l$n"
    until has_nodes "/l$n" 1 || is_gone "${pid[a$n]}"; do :; done
    kill -KILL "${pid[a$n]}"
  done
  for n in {1..8}; do
    expect_status 0 zklock run -w 10s "/l$n" -- touch "ran$n"
    for one in $(pids_of "a$n"); do assert is_gone "$one"; done
  done
}
