#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests zklock run with a command that forks as fast as it can, in chains of processes that each fork the next one and
# exit. CTest runs this file alone.

load ../helpers

setup() {
  setup_zk
  export ZKLOCK_SESSION_TIMEOUT=4s
}

teardown() { end_all; }

# cut_off CMD…: CMD starts zklock a, which has chains under /l and then loses its server; b follows.
cut_off() {
  start_relay "${ZKLOCK_SERVERS%/*}"
  background "$@" "$ZKLOCK_BIN" run -S "$(relayed_ports)/${ZKLOCK_SERVERS#*/}" /l -- fork_chains last 2>a.err
  pid[a]=$!
  wait_until "the chains run" test -s last
  enter b /l
  wait_until "b stands in line" has_nodes /l 2
  began=$(now_us)
  kill -STOP "${pid[relay]}"
  wait_until "b has begun" lives b
}

assert_dead_in_time() {
  local died
  died=$(fork_chains -l last)
  assert_order "cut, end of a, begin of b" "$began" "$died" "$(first_of b)"
  note "dead $((($(first_of b) - died) / 1000)) ms before the next holder began"
  expect_end 76 "${pid[a]}"
  touch b.go
  expect_end 0 "${pid[b]}"
}

@test "chains that fork as fast as they can are dead when the next holder starts" {
  cut_off env
  assert_dead_in_time
}

@test "where there is no control group they are too" {
  unshare --mount true 2>/dev/null || skip "no mount namespace can be made here"
  # shellcheck disable=SC2016
  cut_off unshare --mount sh -c 'mount -t tmpfs none /sys/fs/cgroup; exec "$@"' sh
  assert_dead_in_time
}
