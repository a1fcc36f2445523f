#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests what holding a lock costs, on a server of this file's own, whose counters nothing else changes.

load ../helpers
load ../counters

setup_file() { counted_server; }

teardown_file() { stop_ensemble; }

setup() {
  setup_zk
  export ZKLOCK_SESSION_TIMEOUT=3s # a heartbeat every 500 ms, and 375 ms after it a read, to be heard
}

teardown() { end_all; }

# Runs an idle command under the lock.
start_idle() {
  background zklock run /l -- tail -f /dev/null
  pid[a]=$!
  wait_until "it holds the lock" has_nodes /l 1
  guard=$(guard_of "${pid[a]}")
  wait_until "its command runs" pgrep -P "$guard" tail
  # When the first heartbeat is sent, the reads that begin a hold are over.
  local before
  before=$(requests)
  wait_until "the first heartbeat is sent" has_sent_more "$before"
}

has_sent_more() { (($(requests) > $1)); }

# idle_for HEARTBEATS
idle_for() { wait_until "$1 heartbeats" is_past $(($(now_us) + $1 * 500000)); }

# at_most WHAT COUNT RATIO: COUNT is at most RATIO a heartbeat, with one for the ends of the time.
at_most() {
  local beats=$((($(now_us) - began) / 500000 + 1))
  note "$1: $2 in $beats heartbeats"
  (($2 <= beats * $3)) || fail "$1: $2 in $beats heartbeats are more than $3 each"
}

@test "holding costs a transaction and a read a heartbeat, and changes nothing" {
  start_idle
  local began before written node
  node=/l/$(znode ls /l)
  znode stat "$node" >stat.before
  znode get "$node" >data.before
  began=$(now_us)
  before=$(requests)
  written=$(writes)
  idle_for 8
  written=$(($(writes) - written))
  local sent=$(($(requests) - before))
  at_most "transactions" "$written" 1
  at_most "requests" "$sent" 2
  assert [ "$written" -ge 4 ]
  assert_equal "$(znode stat "$node")" "$(<stat.before)"
  assert_equal "$(znode get "$node")" "$(<data.before)"
}

@test "holding wakes zklock five times a heartbeat at most, and its guard too" {
  start_idle
  local began zklock_before guard_before
  began=$(now_us)
  zklock_before=$(switches "${pid[a]}")
  guard_before=$(switches "$guard")
  idle_for 10
  local of_zklock=$(($(switches "${pid[a]}") - zklock_before))
  local of_guard=$(($(switches "$guard") - guard_before))
  at_most "zklock wakes" "$of_zklock" 5
  at_most "guard wakes" "$of_guard" 2
}

@test "a busy command does not make zklock or its guard wake more often" {
  background zklock run /l -- sh -c 'while :; do /bin/true; done'
  pid[a]=$!
  wait_until "it holds the lock" has_nodes /l 1
  guard=$(guard_of "${pid[a]}")
  wait_until "its command runs" pgrep -P "$guard" sh
  local began zklock_before guard_before
  idle_for 1
  began=$(now_us)
  zklock_before=$(switches "${pid[a]}")
  guard_before=$(switches "$guard")
  idle_for 6
  local of_zklock=$(($(switches "${pid[a]}") - zklock_before))
  local of_guard=$(($(switches "$guard") - guard_before))
  at_most "zklock wakes" "$of_zklock" 5
  at_most "guard wakes" "$of_guard" 2
}
