#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests two processes of a peer and two of zklock that add to one number, under one lock.

load ../helpers
load ../peers

setup_file() {
  local n
  for n in 1 2; do
    start_driver curator "curator$n"
    start_driver kazoo "kazoo$n"
  done
}

teardown_file() { stop_drivers; }

setup() { setup_peers; }

teardown() { end_all; }

# count_together DRIVERS KIND OPTION…: each of the four adds one 100 times.
count_together() {
  export ZKLOCK_TEST_WAIT=$((${ZKLOCK_TEST_WAIT:-20} * 3))
  local n
  echo 0 >f
  for n in 1 2; do
    driver=$1$n peer count both "$2" /l "$PWD/f" 100
    # shellcheck disable=SC2016
    background sh -c 'for n in $(seq 100); do
        "$ZKLOCK_BIN" run "$@" /l -- sh -c "read n <f; echo \$((n + 1)) >f" || echo "status $?"
      done' sh "${@:3}" >"problems$n" 2>&1
    pid["$n"]=$!
  done
  for n in 1 2; do
    expect_end 0 "${pid[$n]}"
    driver=$1$n await counted both
  done
  assert_equal "$(cat problems*)" ""
  assert_equal "$(<f)" 400
}

@test "with InterProcessMutex: 400" { count_together curator InterProcessMutex; }

@test "with InterProcessReadWriteLock, to write: 400" {
  count_together curator InterProcessReadWriteLock.write --peer curator-rw
}

@test "with Kazoo's Lock: 400" { count_together kazoo Lock --peer kazoo; }

@test "with Kazoo's WriteLock: 400" { count_together kazoo WriteLock --peer kazoo; }

@test "with Kazoo's Lock that has extra_lock_patterns: 400" {
  count_together kazoo Lock.extra --peer kazoo-extra
}
