#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests that scripts/bench finds something, whatever that is, and its report.

load ../helpers
load ../bench

# Prints all but what the report replaces.
marked_off() { sed '/^<!-- made by/,/^<!-- to here/d' "$1"; }

@test "queues and locks are measured beside bare programs" {
  bench least lock drain
  found '[.comparisons[].name] == ["lock", "drain"]'
  found '[.comparisons[].series[] | .median > 0] | all'
  found '.comparisons[0].claims[] | select(.name == "wall, zklock to floor") | .value > 0'
}

@test "the report is made of what was found, README's part of it between its marks" {
  bench least probe
  cp "$repo/README.md" "$BATS_TEST_TMPDIR"
  bench --report --into "$BATS_TEST_TMPDIR"
  expect_status 0 grep '^| zklock wall |' "$BATS_TEST_TMPDIR/BENCHMARKS.md"
  expect_status 0 diff <(marked_off "$repo/README.md") <(marked_off "$BATS_TEST_TMPDIR/README.md")
}

@test "a report of nothing is refused" {
  expect_status 1 bench --report --into "$BATS_TEST_TMPDIR"
}

@test "a comparison that does not exist is a usage error" {
  expect_status 64 bench nonsense
}
