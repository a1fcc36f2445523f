#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# scripts/bench: not what it finds, but that it finds something.

load ../helpers

setup() {
  setup_place
  export ZKLOCK_HELPERS=${ZKLOCK_HELPERS:-$repo/build/test/tests}
}

teardown() { end_all; }

bench() { "$repo/scripts/bench" "$@" --out "$BATS_TEST_TMPDIR"; }

# found FILTER: of jq, on what bench has left.
found() { jq -e "$1" "$BATS_TEST_TMPDIR/bench.json" >/dev/null || { cat "$BATS_TEST_TMPDIR/bench.json" && false; }; }

# All but what the report replaces.
marked_off() { sed '/^<!-- made by/,/^<!-- to here/d' "$1"; }

@test "figures and their ratios are what they should be" {
  expect_status 0 env PYTHONDONTWRITEBYTECODE=1 python3 -m unittest discover -s "$repo/tests/bench" -p '*_test.py'
}

@test "queues and locks are measured beside bare programs" {
  bench least lock drain
  found '[.comparisons[].name] == ["lock", "drain"]'
  found '[.comparisons[].series[] | .median > 0] | all'
  found '.comparisons[0].claims[] | select(.name == "wall, zklock to floor") | .value > 0'
}

@test "who is killed is missed, and what each thing costs is counted" {
  bench least killed cost
  found '.comparisons[0].series[] | select(.name == "zklock, a holder") | .median > 0'
  found '[.comparisons[1].series[] | select(.name == "one run, zklock") | .median > 0] == [true, true, true, true]'
}

@test "TLS is measured beside none" {
  bench least tls
  found '[.comparisons[0].claims[] | select(.name | startswith("CPU of a ")) | .value > 0] == [true, true]'
}

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
