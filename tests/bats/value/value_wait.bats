#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock value wait, the latch.

load ../helpers

setup() { setup_zk; }

teardown() { end_all; }

# await ARG…: starts it in the background; its process id is $waiter.
await() {
  background zklock value wait "$@" 2>wait.err
  waiter=$!
}

# It has looked, and watches; it has not ended.
still_waits() { wait_until "it waits" has_watch && refute is_gone "$waiter"; }

has_watch() { zklock 4lw wchp | grep -q "^/${ZKLOCK_SERVERS#*/}/"; }

@test "until the node is there" {
  await /a/v
  still_waits
  znode create /a
  znode create /a/v
  expect_end 0 "$waiter"
  zklock value wait /a/v
  assert_equal "$(<wait.err)" ""
}

@test "--gone: until it is not" {
  znode create /v/child
  await --gone /v
  still_waits
  znode set /v other
  still_waits
  znode rm /v
  expect_end 0 "$waiter"
  zklock value wait --gone /v
}

@test "--equals: until the bytes are these, and no other" {
  await --equals yes /v
  still_waits
  znode create /v yes.
  znode set /v ""
  znode set /v ye
  still_waits
  znode set /v yes
  expect_end 0 "$waiter"
  zklock value wait -w 0 --equals yes /v
  expect_error 75 "cannot wait for /v any longer: it has another value, with version 3" \
    zklock value wait -w 0 --equals '' /v
  znode set /v ""
  zklock value wait -w 0 --equals '' /v
}

@test "--newer-than: until the version is greater" {
  znode create /v same
  expect_error 75 "cannot wait for /v any longer: it has version 0, none newer than 0" \
    zklock value wait -w 0 --newer-than 0 /v
  expect_error 75 "it has version 0, none newer than 2147483647" zklock value wait -w 0 --newer-than 2147483647 /v
  await --newer-than 1 /v
  still_waits
  znode set /v same
  still_waits
  znode set /v same
  expect_end 0 "$waiter"
  zklock value wait -w 0 --newer-than 1 /v
}

@test "--newer-than: a node that is made anew while it waits is newer, one that was not there at first is not" {
  await --newer-than 1 /v
  still_waits
  znode create /v one
  still_waits
  znode rm /v
  still_waits
  znode create /v one
  expect_end 0 "$waiter"
}

@test "not in time is 75, with a line that says what is there" {
  expect_error 75 "cannot wait for /v any longer: there is no such node" zklock value wait -w 2s /v
  expect_error 75 "there is no such node" zklock value wait -w 0 /v
  expect_error 75 "there is no such node" zklock value wait -w 0 --equals '' /v
  expect_error 75 "there is no such node" zklock value wait -w 0 --newer-than 0 /v
  assert_untouched
  znode create /v one
  expect_error 75 "cannot wait for /v any longer: it is there, with version 0" zklock value wait -w 2s --gone /v
  expect_status 75 zklock value wait -q -w 0 --gone /v
  assert_equal "$stderr" ""
}

@test "the session expires: what has happened meanwhile counts" {
  znode create /v one
  await --session-timeout 1s --newer-than 5 /v
  still_waits
  kill -STOP "$waiter"
  znode rm /v
  znode create /v two
  sleep 2.5
  kill -CONT "$waiter"
  expect_end 0 "$waiter"
}

@test "what may not be read is 77 for --equals alone" {
  need_no_identity
  ZKLOCK_AUTH=digest:a:b zklock value set --acl creator /v secret
  expect_error 77 "cannot wait for /v" zklock value wait --equals secret /v
  zklock value wait /v
  zklock value wait -w 0 --newer-than 0 /v || (($? == 75))
}

@test "what is wrong on the command line" {
  local wrong
  for wrong in "--gone --equals x" "--gone --newer-than 1" "--equals x --newer-than 1"; do
    # shellcheck disable=SC2086
    expect_error 64 "give one of --gone, --equals TEXT and --newer-than N" zklock value wait $wrong /v
  done
  for wrong in -1 x "" 2147483648 1.5; do
    expect_error 64 "newer-than" zklock value wait --newer-than "$wrong" /v
  done
  expect_error 64 "--timeout" zklock value wait -w soon /v
  expect_error 64 "no node named: write zklock value wait /app/config" zklock value wait
  expect_error 64 "one node at a time" zklock value wait /v /w
  expect_error 64 "bad path" zklock value wait v
  expect_error 69 "cannot reach ZooKeeper" zklock value wait -S 127.0.0.1:1 --connect-timeout 300ms /v
  assert_untouched
}

@test "a signal ends it" {
  await /v
  still_waits
  kill -TERM "$waiter"
  expect_end 143 "$waiter"
}
