#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock queue push --wait while the server, one of this file's own, goes and comes back.

load ../helpers
load ../queue
load ../awaited

setup_file() { ensemble --servers 1 --tick 250 --set maxSessionTimeout=60000; }

teardown_file() { stop_ensemble; }

setup() {
  setup_zk
  export ZKLOCK_SESSION_TIMEOUT=60s ZKLOCK_CONNECT_TIMEOUT=60s
}

teardown() { end_all; }

@test "the server is killed and comes back while it waits: the ends of all items are seen" {
  await a /q one two three
  do_one
  zk_sandbox restart 1
  do_one
  zk_sandbox kill 1
  zk_sandbox restart 1
  do_one
  expect_said 0 a "/q: 3 of 3 items done"
  assert_clean
}

@test "items end while the waiting push has no connection" {
  start_relay "${ZKLOCK_SERVERS%/*}"
  await a -S "$(relayed_ports)/${ZKLOCK_SERVERS#*/}" /q one two
  kill -STOP "${pid[relay]}"
  zk_sandbox restart 1
  do_one
  bury_one
  kill -CONT "${pid[relay]}"
  expect_said 123 a "/q: 1 of 2 items done, 1 dead letter"
  assert_clean
}

@test "the server is killed and comes back while lines come: each is in once, and all are waited for" {
  mkfifo lines
  exec 4<>lines # opening one end alone would wait for the other
  push_wait a /q <lines 4>&-
  exec 4>lines
  echo 0 >&4
  wait_until "it pushes" eval '[[ $(listed /q) == 0 ]]'
  zk_sandbox kill 1
  # These are more than are in flight and fill a pipe.
  seq 15000 >&4 3>&- &
  zk_sandbox restart 1
  exec 4>&-
  wait_for "zklock: pushed 15001 items" a.err
  expect_status 0 zklock queue pull --all /q
  assert_equal "$output" "$(seq 0 15000)"
  expect_said 0 a "/q: 15001 of 15001 items done"
}
