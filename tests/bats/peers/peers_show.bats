#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests that zklock show lists contenders of Curator and Kazoo, beside zklock's.

load ../helpers
load ../peers

setup_file() {
  start_driver curator
  start_driver kazoo
}

teardown_file() { stop_drivers; }

setup() {
  setup_peers
  export driver=curator
}

teardown() { end_all; }

# shows LOCK COLUMN CELLS
shows() {
  output=$(zklock show "$1")
  [[ $(column "$2") == "$3" ]]
}

# Curator writes its host's address on its nodes, Kazoo nothing.
@test "Curator's mutex and read-write lock" {
  take a InterProcessMutex /l
  stand b /l
  expect_status 0 zklock show /l
  assert_equal "$(column STATE) $(column KIND)" "holding waiting exclusive exclusive"
  assert_equal "$(column PID)" "- ${pid[b]}"
  assert_regex "${lines[1]}" ' 0x[0-9a-f]+  [0-9.]+$'
  take c InterProcessReadWriteLock.read /rw
  peer take d InterProcessReadWriteLock.write /rw
  wait_until "the writer waits" shows /rw STATE "holding waiting"
  assert_equal "$(column KIND)" "shared exclusive"
  leave a
  let_all_go b
  leave c
  await held d
  leave d
}

@test "Curator's semaphore, all in one session" {
  local semaphore=InterProcessSemaphoreV2.2
  take a "$semaphore" /s
  take b "$semaphore" /s
  assert shows /s STATE "holding holding"
  peer take c "$semaphore" /s
  wait_until "c waits for a lease" shows /s STATE "holding holding waiting"
  peer take d "$semaphore" /s
  wait_until "d waits at the gate" shows /s STATE "holding holding waiting waiting"
  assert_equal "$(column KIND)" "slot slot slot slot"
  leave a
  await held c
  wait_until "d waits for a lease" shows /s STATE "holding holding waiting"
  leave b
  await held d
  leave c
  leave d
  assert shows /s STATE free
}

@test "Kazoo's locks" {
  export driver=kazoo
  take a ReadLock /k
  peer take b WriteLock /k
  wait_until "the writer waits" shows /k STATE "holding waiting"
  assert_equal "$(column KIND)" "shared exclusive"
  expect_status 0 zklock show -r /
  assert_equal "$(column LOCK)" "/k /k"
  leave a
  await held b
  leave b
}
