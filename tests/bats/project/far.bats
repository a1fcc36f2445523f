#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests that a command far away takes as long as the round trips that it waits for (scripts/bench far).

load ../helpers

setup() { setup_place; }

@test "a run, a requeue and a list wait for as many round trips as tests/bench/far.targets says" {
  expect_status 0 python3 -B "$repo/tests/bench/far.py" --count --rtt 200 --times 1 --check "$repo/tests/bench/far.targets" \
    "$ZKLOCK_BIN" "${ZKLOCK_SERVERS##*:}" run requeue-20 queue-list-1000
  assert_equal "$(awk '$2 >= 4 && $3 >= 4' <<<"$output" | wc -l)" 3
}

@test "a path is completed from far away" {
  expect_status 0 python3 -B "$repo/tests/bench/far.py" --count --rtt 150 --times 1 --check "$repo/tests/bench/far.targets" \
    "$ZKLOCK_BIN" "${ZKLOCK_SERVERS##*:}" complete-path
  # A completion that has given up does not wait for the list, and is a round trip shorter.
  assert_equal "$(awk '$2 >= 3 && $3 >= 3' <<<"$output" | wc -l)" 1
}
