#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock run --once-per with a server's clock that was ahead and is put right, and a record that cannot be read in
# time. Uses a server of this file's own.

load ../helpers

setup_file() {
  export WRONG=$BATS_FILE_TMPDIR/wrong # the seconds by which the server's clock is wrong
  echo 0 >"$WRONG"
  ensemble --servers 1 --tick 250 --set maxSessionTimeout=60000 \
    --enter "env WALL_CLOCK=$WRONG LD_PRELOAD=${PATH%%:*}/preload_wall_clock.so"
}

teardown_file() { stop_ensemble; }

setup() { setup_zk; }

teardown() {
  end_all
  echo 0 >"$WRONG"
}

# skipped PATH…: such a run does not run its command.
skipped() {
  expect_error 75 "skipped: a run under " zklock run --once-per 1h "$@" -- touch skipped
  assert [ ! -e skipped ]
}

@test "a success in the future does not count: it runs, says so with -v, and its own success counts" {
  echo 7200 >"$WRONG"
  expect_status 0 zklock run --once-per 1h /l -- true
  skipped /l
  echo 0 >"$WRONG"
  expect_status 0 zklock run -v --once-per 1h /l -- touch ran
  assert [ -e ran ]
  assert_regex "$stderr" "zklock: a success under /l is recorded (1h 59m|2h 0m) in the future, .*; it does not count"
  skipped /l
}

@test "of several locks one has a success in the future, another a true one: that counts" {
  expect_status 0 zklock run --once-per 1h /b -- true
  echo 7200 >"$WRONG"
  expect_status 0 zklock run --once-per 1h /a -- true
  echo 0 >"$WRONG"
  skipped /a /b
  expect_status 0 zklock run --once-per 1h /a /c -- touch ran
  assert_equal "$stderr" ""
  assert [ -e ran ]
}

@test "the record cannot be read before the fence: 76, and the command is not started" {
  hold h /l
  # zklock connects, creates, lists and reads the record, and watches two nodes. After its wait it lists and reads again.
  # (Over TLS that would be another request.) A session of 12 s need not be kept alive by further requests so soon.
  start_relay -r 8 "${ZKLOCK_SERVERS%/*}"
  background zklock run --once-per 1h --session-timeout 12s -S "$(relayed_ports)/${ZKLOCK_SERVERS#*/}" /l -- touch ran 2>err
  wait_until "it waits" has_nodes /l 2
  let_all_go h
  expect_end 76 $!
  assert_regex "$(<err)" "the record of the last success could not be read in time; the command was not started"
  assert [ ! -e ran ]
}
