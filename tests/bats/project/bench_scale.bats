#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tests that scripts/bench finds something about values and great numbers.

load ../helpers
load ../bench

@test "values are read, written, listed and watched beside other programs" {
  bench least value children watch
  found '[.comparisons[].name] == ["value", "children", "watch"]'
  found '.comparisons[0].claims[] | select(.name == "CPU of get, zklock to floor") | .value > 0'
  found '.comparisons[2].claims[] | select(.name == "written to seen, zklock to floor") | .value > 0'
}

@test "great numbers have a file of their own, and tell the server's share" {
  bench least scale-held scale-idle
  expect_status 1 test -e "$BATS_TEST_TMPDIR/bench.json"
  mv "$BATS_TEST_TMPDIR/scale.json" "$BATS_TEST_TMPDIR/bench.json"
  found '[.comparisons[].name] == ["scale-held", "scale-idle"]'
  found '.comparisons[0].series[] | select(.name == "3 locks held: taken" and .unit == "requests") | .median >= 3'
  found '.comparisons[1].series[] | select(.name == "3 idle consumers: one push" and .unit == "wakes") | .median > 0'
}
