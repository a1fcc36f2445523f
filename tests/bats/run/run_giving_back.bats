#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests signals to zklock run while it gives the lock back and no server answers. What the command has done is done, so
# its status stays.

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

# ends_in_silence STATUS ARG…: the command of `zklock run ARG… /l` has ended with STATUS, and the server is silent.
ends_in_silence() {
  start_relay "${ZKLOCK_SERVERS%/*}"
  # shellcheck disable=SC2016
  background zklock run --session-timeout 6s -S "$(relayed_ports)/${ZKLOCK_SERVERS#*/}" "${@:2}" /l -- \
    sh -c 'echo $$ >held; until [ -e go ]; do sleep 0.02; done; exit "$0"' "$1" 2>stderr
  pid[a]=$!
  wait_until "it holds the lock" test -s held
  kill -STOP "${pid[relay]}"
  touch go
  wait_gone "$(<held)"
}

# send_for MICROSECONDS SIGNAL…: repeats them. In the first second, a sixth of the session timeout, none counts.
send_for() {
  local until=$(($(now_us) + $1)) name
  while ! is_past "$until" && ! is_gone "${pid[a]}"; do
    for name in "${@:2}"; do kill -s "$name" "${pid[a]}" || is_gone "${pid[a]}"; done
    sleep 0.05
  done
}

@test "signals that end nobody change nothing: the status is the command's" {
  ends_in_silence 0
  send_for 2500000 CONT WINCH TSTP USR1 USR2 ALRM
  refute is_gone "${pid[a]}"
  kill -CONT "${pid[relay]}"
  expect_end 0 "${pid[a]}"
  assert_equal "$(<stderr)" ""
}

@test "TERM, INT, HUP and QUIT end it: a line says so, and the status is the command's" {
  local name
  for name in TERM INT HUP QUIT; do
    ends_in_silence 7
    send_for 20000000 "$name"
    expect_end 7 "${pid[a]}"
    assert_equal "$(<stderr)" "zklock: got SIG$name while the lock was given back; /l is left to the end of the session"
    kill -KILL "${pid[relay]}"
    wait "${pid[relay]}" || true # or what the shell says of it comes into the next file
    rm held go
  done
}

@test "TERM while the success is recorded: it may run again, and the status is the command's" {
  ends_in_silence 0 --once-per 1h
  send_for 20000000 TERM
  expect_end 0 "${pid[a]}"
  assert_regex "$(<stderr)" "^zklock: got SIGTERM while the command's success was recorded, so it may run again "
}
